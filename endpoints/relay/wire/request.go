package wire

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// A Request is the body of turn.request and bid.request: a prompt without the
// fields that the envelope or the receiving device supplies.
type Request struct {
	Session     string   `json:"session,omitempty"`
	Mode        string   `json:"mode,omitempty"`
	You         string   `json:"you"`
	Seats       []Seat   `json:"seats"`
	Objective   string   `json:"objective"`
	Constraints []string `json:"constraints,omitempty"`
	Summary     string   `json:"summary,omitempty"`
	History     []Line   `json:"history,omitempty"`
	CatchUp     []Line   `json:"catch_up,omitempty"`
	// Omitted is a sentence of earlier versions. It is never shown: the device that
	// is asked words its own from Omissions.
	Omitted   string          `json:"omitted,omitempty"`
	Omissions *Omissions      `json:"omissions,omitempty"`
	Hints     json.RawMessage `json:"hints,omitempty"`
	// Knows is the agent session id that the request builds on. Empty means that
	// the request holds the whole context.
	Knows string `json:"knows,omitempty"`

	// Messages says that the room takes typed messages, acknowledgements and claims.
	// It and the next fields are left out for devices of earlier releases; see
	// [OffersQuery].
	Messages bool   `json:"messages,omitempty"`
	Duty     string `json:"duty,omitempty"`
	Inbox    []Line `json:"inbox,omitempty"`
	Mail     []Mail `json:"mail,omitempty"`

	MaxOutputChars  int   `json:"max_output_chars"`
	MaxHistoryTurns int   `json:"max_history_turns"`
	MaxHistoryChars int   `json:"max_history_chars"`
	MaxToolRounds   int   `json:"max_tool_rounds"`
	AllowToolUse    bool  `json:"allow_tool_use"`
	TimeoutMS       int64 `json:"timeout_ms"`
}

// A Seat is a participant of the room.
type Seat struct {
	ID      string   `json:"id"`
	Name    string   `json:"name,omitempty"`
	Kind    string   `json:"kind,omitempty"`
	Role    string   `json:"role,omitempty"`
	Domains []string `json:"domains,omitempty"`
	Owner   string   `json:"owner,omitempty"`
	Device  string   `json:"device,omitempty"`
}

// A Line is one message of the room.
type Line struct {
	Seq  int64  `json:"seq,omitempty"`
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	Own  bool   `json:"own,omitempty"`
	Kind string `json:"kind,omitempty"`
	Text string `json:"text"`
	ID   string `json:"message_id,omitempty"` // of a typed message
	Ack  bool   `json:"ack,omitempty"`        // its sender asks for an acknowledgement
	For  string `json:"for_agent,omitempty"`
}

// Omissions count the messages that a request does not give whole; see
// endpoint.Omitted.
type Omissions struct {
	Spans   []Omission `json:"spans,omitempty"`
	LinesTo int64      `json:"lines_to,omitempty"`
	Unsent  int        `json:"unsent,omitempty"`
	NoLines bool       `json:"no_lines,omitempty"`
}

// An Omission is a run of messages that are left out.
type Omission struct {
	To       int64   `json:"to"`
	Messages int     `json:"messages"`
	By       []Count `json:"by,omitempty"`
}

// A Count counts the messages of one participant.
type Count struct {
	From     string `json:"from"`
	Messages int    `json:"messages"`
}

// RequestOf returns the body of a request for p, without the fields of typed messages:
// those of the inbox are the first of the new ones. Hints that are not valid JSON
// are left out. Ids and kinds take their wire form; see [ID].
func RequestOf(p endpoint.Prompt) Request {
	q := Request{
		Session: p.Session, Mode: p.Mode, You: ID(p.You.ID), Seats: []Seat{}, Objective: p.Objective, Constraints: p.Constraints,
		Summary: p.Summary, History: linesOf(p.History), CatchUp: linesOf(slices.Concat(p.Inbox, p.CatchUp)), Omissions: omissionsOf(p.Omitted),
		MaxOutputChars: p.MaxOutputChars, MaxHistoryTurns: p.MaxHistoryTurns, MaxHistoryChars: p.MaxHistoryChars,
		MaxToolRounds: p.MaxToolRounds, AllowToolUse: p.AllowToolUse, TimeoutMS: p.Timeout.Milliseconds(),
	}
	if json.Valid(p.Hints) {
		q.Hints = p.Hints
	}
	seats := p.Seats
	if !slices.ContainsFunc(seats, func(s endpoint.Seat) bool { return s.ID == p.You.ID }) {
		seats = append(slices.Clone(seats), p.You)
	}
	for _, s := range seats {
		w := Seat{ID: ID(s.ID), Name: s.Name, Kind: ID(s.Kind), Role: s.Role, Domains: s.Domains, Owner: s.Owner, Device: s.Device}
		if w.ID != s.ID && w.Name == "" {
			w.Name = s.ID
		}
		q.Seats = append(q.Seats, w)
	}
	return q
}

// LineOf returns a message as a request has it.
func LineOf(l endpoint.Line) Line {
	return Line{Seq: l.Seq, From: ID(l.From), To: ID(l.To), Own: l.Own, Kind: ID(l.Kind), Text: l.Text}
}

// Shorten leaves out the oldest part of a prompt whose body has size bytes, so that
// a message has room for it. It reports false when nothing is left to leave out.
func Shorten(p *endpoint.Prompt, size int) bool {
	if len(p.Mail) > 0 { // the lines have the same texts
		p.Mail = nil
		return true
	}
	excess := size - session.MaxMessage + 4<<10
	n := 0
	for n < len(p.History) && excess > 0 {
		excess -= len(Body(LineOf(p.History[n])))
		n++
	}
	switch {
	case n > 0:
		p.History = p.History[n:]
		p.Omitted.Unsent += n
	case p.Summary != "":
		p.Summary = ""
		p.Omitted.NoLines = true
	default:
		return false
	}
	return true
}

func linesOf(ls []endpoint.Line) (all []Line) {
	for _, l := range ls {
		all = append(all, LineOf(l))
	}
	return all
}

func omissionsOf(o endpoint.Omitted) *Omissions {
	if o.Sentence() == "" {
		return nil
	}
	w := &Omissions{LinesTo: o.LinesTo, Unsent: o.Unsent, NoLines: o.NoLines}
	for _, s := range o.Spans {
		span := Omission{To: s.To, Messages: s.Messages}
		for _, c := range s.By {
			span.By = append(span.By, Count{ID(c.From), c.Messages})
		}
		w.Spans = append(w.Spans, span)
	}
	return w
}

// Prompt returns the parts of the prompt for the agent of this device; the caller
// renders it. The profile says who the agent is: its name is that of the
// prompted seat, and only that seat is of the same owner. A message that the host
// says is the agent's own is marked as claimed unless said, the record of this
// device, has its text.
func (q Request) Prompt(profile string, said func(text string) bool) endpoint.Prompt {
	p := endpoint.Prompt{
		You: endpoint.Seat{ID: q.You, Name: profile, SameOwner: true}, Session: q.Session, Mode: q.Mode,
		Objective: q.Objective, Constraints: q.Constraints, Summary: q.Summary,
		Duty: q.Duty, Inbox: q.prompted(q.Inbox, said), History: q.prompted(q.History, said), CatchUp: q.prompted(q.CatchUp, said), Mail: q.mail(),
		Omitted: q.omitted(), Hints: q.Hints, MaxOutputChars: q.MaxOutputChars, MaxHistoryTurns: q.MaxHistoryTurns,
		MaxHistoryChars: q.MaxHistoryChars, MaxToolRounds: q.MaxToolRounds, AllowToolUse: q.AllowToolUse,
		Timeout: time.Duration(q.TimeoutMS) * time.Millisecond,
	}
	for _, c := range q.Seats {
		s := endpoint.Seat{ID: c.ID, Name: c.Name, Kind: c.Kind, Role: c.Role, Domains: c.Domains, Owner: c.Owner, Device: c.Device}
		if c.ID == q.You {
			p.You.Kind = c.Kind
			s = p.You
		}
		p.Seats = append(p.Seats, s)
	}
	return p
}

// prompted returns messages as the agent is given them.
func (q Request) prompted(ls []Line, said func(string) bool) (all []endpoint.Line) {
	for _, l := range ls {
		from, _ := q.seatID(l.From)
		to, _ := q.seatID(l.To)
		all = append(all, endpoint.Line{Seq: l.Seq, From: from, To: to, Own: l.Own, Kind: l.Kind, Text: l.Text, ID: l.ID, Ack: l.Ack, For: l.For, Claimed: l.Own && !said(l.Text)})
	}
	return all
}

func (q Request) omitted() endpoint.Omitted {
	w := q.Omissions
	if w == nil {
		return endpoint.Omitted{Unnumbered: q.Omitted != ""}
	}
	o := endpoint.Omitted{LinesTo: w.LinesTo, Unsent: w.Unsent, NoLines: w.NoLines}
	for _, s := range w.Spans {
		span := endpoint.Omission{To: s.To, Messages: s.Messages}
		for _, c := range s.By {
			span.By = append(span.By, endpoint.Count(c))
		}
		o.Spans = append(o.Spans, span)
	}
	return o
}
