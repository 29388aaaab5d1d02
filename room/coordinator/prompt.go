package coordinator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// prompt builds what the participant with id is handed: the texts of its
// window, and what the room is about. The same state, window, turn and
// request always give the same prompt.
func prompt(ctx context.Context, s *room.State, t *texts, id string, w room.Window, turn int, request string, hints policy.JSON) (endpoint.Prompt, error) {
	t.line = s.Bounds.LineChars
	x, ok := s.Seat(id)
	if !ok {
		return endpoint.Prompt{}, fmt.Errorf("no participant %q", id)
	}
	p := endpoint.Prompt{
		Kind: endpoint.Turn, Request: request, Room: s.Spec.Room, Session: s.Spec.Room, Profile: x.Profile,
		Epoch: s.Epoch, Turn: turn, Mode: string(x.Mode), Boundary: boundary(s.Spec.Secret, request),
		Objective: s.Spec.Objective, Constraints: s.Spec.Constraints, Hints: hints,
		MaxOutputChars: s.Limits.MaxOutput, MaxHistoryTurns: s.Bounds.HistoryTurns, MaxHistoryChars: s.Bounds.HistoryChars,
		MaxToolRounds: s.Limits.MaxToolRounds, AllowToolUse: x.Tools, Timeout: s.Timeout(id),
	}
	for _, y := range s.Seats {
		if y.Standing == room.Removed {
			continue
		}
		seat := endpoint.Seat{ID: y.ID, Name: y.Name, Kind: y.Kind, Role: y.Role, Domains: y.Domains, SameOwner: y.Participant.Owner == x.Participant.Owner}
		p.Seats = append(p.Seats, seat)
		if y.ID == id {
			p.You = seat
		}
	}
	if err := fill(ctx, &p, s, t, x, w); err != nil {
		return endpoint.Prompt{}, err
	}
	p.Omitted = omitted(w)
	return p, nil
}

// boundary cannot be guessed by who does not know the room's secret, and is
// another one in every prompt.
func boundary(secret, request string) string {
	sum := sha256.Sum256([]byte(secret + "\x00" + request))
	return hex.EncodeToString(sum[:12])
}

// fill puts the messages of w into p.
func fill(ctx context.Context, p *endpoint.Prompt, s *room.State, t *texts, x room.Seat, w room.Window) error {
	for _, span := range w.Verbatim {
		msgs, err := t.span(ctx, span.From, span.To)
		if err != nil {
			return err
		}
		for i := range msgs {
			l, ok := msgs[i].as(x.ID)
			switch {
			case !ok || l.Own && !w.Full:
			case l.Seq > w.After && !l.Own:
				p.CatchUp = append(p.CatchUp, l)
			case len(p.CatchUp) > 0:
				p.CatchUp = append(p.CatchUp, l)
			default:
				p.History = append(p.History, l)
			}
		}
	}
	var b strings.Builder
	b.Grow(4*s.Bounds.SummaryTokens + 1024)
	for _, span := range w.Lines {
		msgs, err := t.span(ctx, span.From, span.To)
		if err != nil {
			return err
		}
		for i := range msgs {
			l, ok := msgs[i].as(x.ID)
			if !ok {
				continue
			}
			first := msgs[i].line
			if l.Text != msgs[i].m.Text {
				first = room.FirstSentence(l.Text, s.Bounds.LineChars)
			}
			for _, part := range [...]string{"#", strconv.FormatInt(l.Seq, 10), " ", l.From, ": ", first, "\n"} {
				b.WriteString(part)
			}
		}
	}
	p.Summary = strings.TrimSuffix(b.String(), "\n")
	return nil
}

// as is what the participant with id sees of a message.
func (s *said) as(id string) (endpoint.Line, bool) {
	m := &s.m
	if m.Visibility != room.UserVisible {
		seen, ok := s.m.For(id)
		if !ok {
			return endpoint.Line{}, false
		}
		m = &seen
	}
	l := endpoint.Line{Seq: s.seq, From: m.From, Own: m.From == id, Kind: m.Kind, Text: m.Text}
	if m.To != room.Broadcast {
		l.To = m.To
	}
	return l, true
}

// omitted says in a sentence what a window leaves out.
func omitted(w room.Window) string {
	var parts []string
	for _, o := range w.Omitted {
		s := "messages up to #" + strconv.FormatInt(o.To, 10) + " are left out: " + strconv.Itoa(o.Messages)
		for i, c := range o.By {
			if i == 0 {
				s += " ("
			} else {
				s += ", "
			}
			s += c.From + " " + strconv.Itoa(c.Messages)
		}
		if len(o.By) > 0 {
			s += ")"
		}
		parts = append(parts, s)
	}
	if len(w.Lines) > 0 && w.Lines[0].To > w.After {
		parts = append(parts, "new messages up to #"+strconv.FormatInt(w.Lines[0].To, 10)+" did not fit and are given as one line each")
	}
	return strings.Join(parts, "; ")
}
