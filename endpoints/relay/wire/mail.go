package wire

import (
	"encoding/json"
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Devices of earlier releases refuse bodies with fields that they do not know. So a
// device asks another one first whether it knows typed messages, by an [OffersQuery],
// and uses the fields below only if it does: those of a Request, a SideMessage with a
// Number, and the envelope message.answer.

// An OffersQuery is the body of an offers message. Devices of earlier releases do not
// read it.
type OffersQuery struct {
	Messages bool `json:"messages,omitempty"` // the answer may say whether the device knows typed messages
}

// A Post is a typed message; see [endpoint.Post]. Its payload is JSON in a string, so
// that its depth does not count as that of the envelope.
type Post struct {
	ID          string `json:"message_id,omitempty"`
	To          string `json:"to,omitempty"`
	Kind        string `json:"kind,omitempty"`
	Text        string `json:"text,omitempty"`
	Summary     string `json:"summary,omitempty"`
	Payload     string `json:"payload,omitempty"`
	Priority    string `json:"priority,omitempty"`
	RequiresAck bool   `json:"requires_ack,omitempty"`
	Correlation string `json:"correlation_id,omitempty"`
	Parent      string `json:"parent_id,omitempty"`
	Thread      string `json:"thread_id,omitempty"`
	Visibility  string `json:"visibility,omitempty"`
	Notify      string `json:"notify,omitempty"`
}

// A Mail is a message that waits for the agent that is asked; see [endpoint.Mail].
type Mail struct {
	From string `json:"from"`
	For  string `json:"for_agent,omitempty"`
	Post
}

// A MessageAnswer is the body of a message.answer: the room's answer to the SideMessage
// with the same number, of the request with the id of its envelope.
type MessageAnswer struct {
	Number  int      `json:"number"`
	Allowed bool     `json:"allowed,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Reasons []string `json:"reasons,omitempty"` // of each acknowledgement, "" if it is not refused
	Receipt string   `json:"receipt,omitempty"` // of a message: JSON
}

// Bounds of typed messages.
const (
	maxMail      = 512
	maxAcks      = 100
	maxMessageID = 128 // bytes
	maxReceipt   = 4_000
)

// PostOf returns the wire form of a message.
func PostOf(p endpoint.Post) Post {
	return Post{
		p.ID, p.To, p.Kind, p.Text, p.Summary, string(p.Payload), p.Priority, p.RequiresAck,
		p.Correlation, p.Parent, p.Thread, p.Visibility, p.Notify,
	}
}

// Post returns the message of p.
func (p Post) Post() endpoint.Post {
	m := endpoint.Post{
		ID: p.ID, To: p.To, Kind: p.Kind, Text: p.Text, Summary: p.Summary, Priority: p.Priority, RequiresAck: p.RequiresAck,
		Correlation: p.Correlation, Parent: p.Parent, Thread: p.Thread, Visibility: p.Visibility, Notify: p.Notify,
	}
	if p.Payload != "" {
		m.Payload = json.RawMessage(p.Payload)
	}
	return m
}

// AddMessages adds to the request for p what only devices read that know typed messages.
func (q *Request) AddMessages(p endpoint.Prompt) {
	q.Messages, q.Duty = true, p.Duty
	q.Inbox, q.History, q.CatchUp = typedLines(p.Inbox), typedLines(p.History), typedLines(p.CatchUp)
	for _, m := range p.Mail {
		w := Mail{From: ID(m.From), For: ID(m.For), Post: PostOf(m.Post)}
		w.To, w.Kind = ID(m.To), ID(m.Kind)
		q.Mail = append(q.Mail, w)
	}
}

func typedLines(ls []endpoint.Line) (all []Line) {
	for _, l := range ls {
		w := LineOf(l)
		w.ID, w.Ack, w.For = l.ID, l.Ack, ID(l.For)
		all = append(all, w)
	}
	return all
}

// mail returns the messages that wait for the agent.
func (q Request) mail() (all []endpoint.Mail) {
	for _, m := range q.Mail {
		from, _ := q.seatID(m.From)
		all = append(all, endpoint.Mail{From: from, For: m.For, Post: m.Post.Post()})
	}
	return all
}

// checkMail returns an error if a field about typed messages is out of its bounds. Ids
// of messages stand in quotes, outside the blocks of a prompt.
func (q Request) checkMail() error {
	if len(q.Mail) > maxMail || !slices.Contains([]string{"", endpoint.DutyManager, endpoint.DutyWorker}, q.Duty) {
		return errors.New("it holds too many messages that wait, or an unknown duty")
	}
	for _, l := range slices.Concat(q.Inbox, q.History, q.CatchUp) {
		if !validMessageID(l.ID) || l.For != "" && !endpoint.ValidID(l.For) {
			return errors.New("a message has an invalid id, or was for an invalid one")
		}
	}
	for _, m := range q.Mail {
		_, known := q.seatID(m.From)
		_, addressed := q.seatID(m.To)
		ids := []string{m.ID, m.Correlation, m.Parent, m.Thread, m.Priority}
		switch {
		case !known || m.To != "" && !addressed || m.Kind != "" && !endpoint.ValidID(m.Kind) || m.For != "" && !endpoint.ValidID(m.For),
			m.ID == "", slices.ContainsFunc(ids, func(id string) bool { return !validMessageID(id) }), m.Payload != "" && !json.Valid([]byte(m.Payload)):
			return errors.New("a message that waits has an invalid sender, addressee, kind, id or payload")
		}
	}
	return nil
}

// validMessageID reports whether a room can have a message with that id, or none.
func validMessageID(id string) bool {
	return len(id) <= maxMessageID && utf8.ValidString(id) && !slices.ContainsFunc([]rune(id), func(r rune) bool { return !unicode.IsPrint(r) })
}

// Check returns an error if m, which has a number, is not one typed message, a list of
// acknowledgements or a claim. limit bounds its text, in runes.
func (m SideMessage) Check(limit int) error {
	given := 0
	for _, has := range []bool{m.Post != nil, len(m.Ack) > 0, m.Claim != ""} {
		if has {
			given++
		}
	}
	bad := func(id string) bool { return id == "" || !validMessageID(id) }
	switch {
	case m.Number < 0 || given != 1 || m.Text != "" || m.To != "":
		return errors.New("it is not one message, a list of acknowledgements or a claim")
	case len(m.Ack) > maxAcks || slices.ContainsFunc(m.Ack, bad) || m.Claim != "" && bad(m.Claim):
		return errors.New("an id is out of its bounds")
	case m.Post != nil && m.Post.Payload != "" && !json.Valid([]byte(m.Post.Payload)):
		return errors.New("its payload is no JSON")
	case m.Post != nil && utf8.RuneCountInString(m.Post.Text) > limit:
		return errors.New("its text is over the limit of an answer")
	}
	return nil
}

// AnswerOf returns the answer of a room to the message with that number.
func AnswerOf(number int, a endpoint.Answer) MessageAnswer {
	m := MessageAnswer{Number: number, Allowed: a.Allowed, Reason: endpoint.CleanLine(a.Reason, maxReason)}
	if len(a.Body) <= maxReceipt {
		m.Receipt = string(a.Body)
	}
	for _, why := range a.Reasons {
		m.Reasons = append(m.Reasons, endpoint.CleanLine(why, maxReason))
	}
	return m
}

// Answer returns the answer to n acknowledgements, or to another message.
func (m MessageAnswer) Answer(n int) endpoint.Answer {
	a := endpoint.Answer{Allowed: m.Allowed, Reason: endpoint.CleanLine(m.Reason, maxReason)}
	if m.Receipt != "" && len(m.Receipt) <= maxReceipt && json.Valid([]byte(m.Receipt)) {
		a.Body = []byte(m.Receipt)
	}
	if len(m.Reasons) == n {
		for _, why := range m.Reasons {
			a.Reasons = append(a.Reasons, endpoint.CleanLine(why, maxReason))
		}
	}
	return a
}
