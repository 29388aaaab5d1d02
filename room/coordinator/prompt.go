package coordinator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/log"
)

// prompt renders the prompt of the participant with id. The same state, window,
// turn, request and hints always give the same text.
func prompt(ctx context.Context, s *room.State, t *messageCache, id string, w room.Window, turn int, request string, hints policy.JSON) (endpoint.Prompt, error) {
	p, err := promptParts(ctx, s, t, id, w, turn, request, hints)
	if err != nil {
		return endpoint.Prompt{}, err
	}
	return endpoint.Rendered(p), nil
}

// promptParts returns the parts of a prompt: the texts of its window, the roster
// and what the room is about.
func promptParts(ctx context.Context, s *room.State, t *messageCache, id string, w room.Window, turn int, request string, hints policy.JSON) (endpoint.Prompt, error) {
	t.line = s.Bounds.LineChars
	x, ok := s.Seat(id)
	if !ok {
		return endpoint.Prompt{}, fmt.Errorf("no participant %q", id)
	}
	p := endpoint.Prompt{
		Kind: endpoint.Turn, Request: request, Room: s.Spec.Room, Session: s.Spec.Room, Profile: x.Profile,
		Epoch: s.Epoch, Turn: turn, Mode: string(x.ModeNow()), Boundary: boundary(s.Spec.Secret, request),
		Objective: s.Spec.Objective, Constraints: s.Spec.Constraints, Hints: hints,
		MaxOutputChars: s.Limits.MaxOutput, MaxHistoryTurns: s.Bounds.HistoryTurns, MaxHistoryChars: s.Bounds.HistoryChars,
		MaxToolRounds: s.Limits.MaxToolRounds, AllowToolUse: x.Tools, Timeout: s.Timeout(id),
	}
	if x.Kind == policy.Local && x.Device == "" { // the owner of another agent instructs it on the agent's device
		p.Instructions = x.Instructions
	}
	p.Seats = make([]endpoint.Seat, 0, len(s.Seats))
	for _, y := range s.Seats {
		if y.Standing == room.Removed {
			continue
		}
		seat := endpoint.Seat{ID: y.ID, Name: y.Name, Kind: y.Kind, Role: y.Role, Domains: y.Domains, SameOwner: y.Participant.Owner == x.Participant.Owner && y.Device == x.Device, Owner: y.Participant.Owner, Device: y.Device}
		p.Seats = append(p.Seats, seat)
		if y.ID == id {
			p.You = seat
		}
	}
	p.Duty = w.Duty
	setCall(&p, s, w)
	if err := fill(ctx, &p, s, t, x, w); err != nil {
		return endpoint.Prompt{}, err
	}
	p.Omitted = omitted(w)
	return p, nil
}

// boundary returns the marker around quoted messages of one prompt. An author
// of a message cannot guess it without the room's secret.
func boundary(secret, request string) string {
	sum := sha256.Sum256([]byte(secret + "\x00" + request))
	return hex.EncodeToString(sum[:12])
}

// fill adds the messages of w to p.
func fill(ctx context.Context, p *endpoint.Prompt, s *room.State, t *messageCache, x room.Seat, w room.Window) error {
	if err := deliver(ctx, p, s, t, x, w); err != nil {
		return err
	}
	var summary strings.Builder
	for _, span := range w.Lines {
		msgs, err := t.span(ctx, span.From, span.To)
		if err != nil {
			return err
		}
		summary.Grow(lengthOfLines(msgs))
		for i := range msgs {
			if msgs[i].open {
				summary.WriteString(msgs[i].line)
			} else if l, ok := msgs[i].as(x.ID); ok {
				summary.WriteString(summaryLine(l.Seq, l.From, l.Text, s.Bounds.LineChars))
			}
		}
	}
	p.Summary = strings.TrimSuffix(summary.String(), "\n")
	return nil
}

// deliver adds the messages of which w has the whole text: the history, and the
// catch-up, which begins at the first message that is new to x.
func deliver(ctx context.Context, p *endpoint.Prompt, s *room.State, t *messageCache, x room.Seat, w room.Window) error {
	var lines []endpoint.Line
	mail := mailOf(s, x.ID)
	known := 0
	for _, seq := range w.First {
		msgs, err := t.span(ctx, seq, seq)
		if err != nil {
			return err
		}
		for i := range msgs {
			if l, ok := msgs[i].as(x.ID); ok && !takeTask(p, msgs[i].m) {
				p.Inbox = append(p.Inbox, msgs[i].forDuty(l, w.Duty))
				mail.add(p, &msgs[i])
			}
		}
	}
	for _, span := range w.Verbatim {
		msgs, err := t.span(ctx, span.From, span.To)
		if err != nil {
			return err
		}
		lines = slices.Grow(lines, len(msgs))
		for i := range msgs {
			l, ok := msgs[i].as(x.ID)
			if !ok || l.Own && !w.Full || slices.Contains(w.First, l.Seq) || takeTask(p, msgs[i].m) {
				continue
			}
			lines = append(lines, msgs[i].forDuty(l, w.Duty))
			mail.add(p, &msgs[i])
			if known == len(lines)-1 && (l.Seq <= w.After || l.Own) {
				known++
			}
		}
	}
	if known > 0 {
		p.History = lines[:known:known]
	}
	if known < len(lines) {
		p.CatchUp = lines[known:]
	}
	return nil
}

// lengthOfLines returns the length of the summary lines of msgs, if x may read
// all of them whole.
func lengthOfLines(msgs []cachedMessage) (n int) {
	for i := range msgs {
		n += len(msgs[i].line)
	}
	return n
}

// as returns what the participant with id may read of a message.
func (s *cachedMessage) as(id string) (endpoint.Line, bool) {
	m := &s.m
	if m.Visibility != room.UserVisible {
		seen, ok := s.m.VisibleTo(id)
		if !ok {
			return endpoint.Line{}, false
		}
		m = &seen
	}
	l := endpoint.Line{Seq: s.seq, From: m.From, Own: m.From == id, Kind: m.Kind, Text: m.Text, FromSession: m.FromSession}
	if l.Text == "" {
		l.Text = m.Summary
	}
	if m.To != room.Broadcast {
		l.To = m.To
	}
	if kinds.Typed(m.Kind) || m.RequiresAck {
		l.ID, l.Ack = m.ID, m.RequiresAck && !l.Own
		l.Text = withPayload(l.Text, m.Payload)
	}
	return l, true
}

// forDuty adds to the message of a person what the manager needs for its answer.
func (s *cachedMessage) forDuty(l endpoint.Line, duty string) endpoint.Line {
	if duty == endpoint.DutyManager && s.m.OfPerson() {
		l.ID, l.For = s.m.ID, s.m.For
	}
	return l
}

// mail are the places of the messages that wait for the agent of a prompt.
type mail struct {
	to      string
	waiting map[int64]bool
}

func mailOf(s *room.State, to string) mail {
	m := mail{to: to}
	for _, d := range s.Mail.Deliveries.Queued(to) {
		if m.waiting == nil {
			m.waiting = map[int64]bool{}
		}
		m.waiting[d.Seq] = true
	}
	return m
}

// add adds a message to the mail of p if it waits for the agent.
func (l mail) add(p *endpoint.Prompt, said *cachedMessage) {
	if !l.waiting[said.seq] {
		return
	}
	m, ok := said.m.VisibleTo(l.to)
	if !ok {
		return
	}
	x := endpoint.Mail{From: m.From, Post: endpoint.Post{
		ID: m.ID, To: m.To, Kind: m.Kind, Text: m.Text, Summary: m.Summary, Payload: json.RawMessage(m.Payload), Priority: m.Priority, RequiresAck: m.RequiresAck,
		Correlation: m.Correlation, Parent: m.Parent, Thread: m.Thread,
	}, For: m.For}
	if m.To == room.Broadcast {
		x.To = ""
	}
	p.Mail = append(p.Mail, x)
}

// withPayload returns the text of a typed message with its payload, as an agent gets it.
func withPayload(text string, payload policy.JSON) string {
	switch {
	case len(payload) == 0:
		return text
	case text == "":
		return "payload: " + string(payload)
	}
	return text + "\npayload: " + string(payload)
}

// omitted counts the messages that a window does not give whole.
func omitted(w room.Window) (o endpoint.Omitted) {
	for _, x := range w.Omitted {
		left := endpoint.Omission{To: x.To, Messages: x.Messages}
		for _, c := range x.By {
			left.By = append(left.By, endpoint.Count(c))
		}
		o.Spans = append(o.Spans, left)
	}
	if len(w.Lines) > 0 && w.Lines[0].To > w.After {
		o.LinesTo = w.Lines[0].To
	}
	return o
}

// GrantedPrompt returns the prompt of a turn, made from the log alone, the event that
// granted the turn, and the state of the room before it. The digest of its text equals the recorded one
// unless a message has been redacted since, or an earlier version of moot granted
// the turn, which recorded none.
func GrantedPrompt(ctx context.Context, l Log, id string, turn int) (endpoint.Prompt, room.TurnGranted, *room.State, error) {
	var s room.State
	t := &messageCache{log: l, room: id}
	for e, err := range log.Scan(ctx, l, id, log.Pos{}) {
		if err != nil {
			return endpoint.Prompt{}, room.TurnGranted{}, nil, err
		}
		if b, ok := e.Event.Body.(room.TurnGranted); ok && b.Turn == turn {
			p, err := prompt(ctx, &s, t, b.Participant, b.Window, turn, b.Request, b.Hints)
			return p, b, &s, err
		}
		s.Apply(e.Event)
	}
	return endpoint.Prompt{}, room.TurnGranted{}, nil, &problem.Error{
		Code: "ROOM-UNKNOWN", What: fmt.Sprintf("room %s has no turn %d", id, turn),
		Fix: "`moot show " + id + "` lists its turns", Kind: log.ErrNotFound,
	}
}
