package api

import (
	"cmp"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/secrets"
)

// Messages are messages of a room, in the order of its log.
type Messages struct {
	Messages []Posted `json:"messages"`
	Next     int64    `json:"next" doc:"Sequence number to continue after"`
	More     bool     `json:"more,omitempty" doc:"There are further messages now"`
}

// A Posted is one message of a room as a reader sees it.
type Posted struct {
	Seq         int64  `json:"seq" doc:"Sequence number in the room's log"`
	Turn        int    `json:"turn,omitempty" doc:"The turn that it is the answer of"`
	From        string `json:"from"`
	To          string `json:"to,omitempty" doc:"The receiver; without it everybody"`
	Text        string `json:"text"`
	Time        string `json:"time" format:"date-time"`
	Source      string `json:"source,omitempty" doc:"user, applet or agent, if it was not posted in a turn"`
	FromSession string `json:"fromSession,omitempty" doc:"The session that sent it"`
	Cut         bool   `json:"cut,omitempty" doc:"The text is only the beginning"`
}

// A Post is a message of a seat apart from its answers, in the fields of the envelope.
// The sender is the seat of the credential. Package room checks the values, so that
// a message that is refused becomes a dead letter.
type Post struct {
	ID          string          `json:"message_id,omitempty" doc:"The same id again posts nothing and gets the same answer; without it the room names the message"`
	To          string          `json:"to,omitempty" doc:"The id of a participant, or a role that one participant has; without it everybody"`
	Kind        string          `json:"kind,omitempty" doc:"One of the kinds of docs/messages.md; without it utterance"`
	Text        string          `json:"text,omitempty"`
	Summary     string          `json:"summary,omitempty" doc:"One sentence"`
	Payload     policy.JSON     `json:"payload,omitempty" doc:"A JSON object, up to 256 KiB"`
	Priority    string          `json:"priority,omitempty" doc:"low, normal, high or urgent"`
	RequiresAck bool            `json:"requires_ack,omitempty" doc:"The receiver must acknowledge the message; it is delivered again until then"`
	Correlation string          `json:"correlation_id,omitempty" doc:"The id of what it answers or belongs to"`
	Parent      string          `json:"parent_id,omitempty"`
	Thread      string          `json:"thread_id,omitempty"`
	Visibility  room.Visibility `json:"visibility,omitempty" doc:"user_visible, user_redacted or internal: at most that of the kind"`
	Notify      string          `json:"notify,omitempty" doc:"idle: tell the sender once when the receiver has nothing left to do"`
}

// Message returns the message of p.
func (p Post) Message() room.Message {
	return room.Message{
		ID: p.ID, To: p.To, Kind: p.Kind, Text: p.Text, Summary: p.Summary, Payload: p.Payload, Priority: p.Priority, RequiresAck: p.RequiresAck,
		Correlation: p.Correlation, Parent: p.Parent, Thread: p.Thread, Visibility: p.Visibility, Notify: p.Notify,
	}
}

// An Ack acknowledges a message of the seat's inbox.
type Ack struct {
	ID string `json:"message_id" minLength:"1" maxLength:"128"`
}

// A Receipt says what has become of a message, now.
type Receipt struct {
	ID         string         `json:"message_id"`
	Seq        int64          `json:"seq,omitempty" doc:"Its number in the room's log"`
	State      delivery.State `json:"state" enum:"posted,queued,held,delivered,acked,refused,expired" doc:"posted: it is in the room, and was handed to no agent. queued: the next prompt of its receiver will have it. held: it waits before it is queued. delivered: it was in a prompt that its receiver has answered. acked: its receiver has acknowledged it"`
	Reason     string         `json:"reason,omitempty"`
	Deliveries []Delivery     `json:"deliveries,omitempty" doc:"One for each receiver"`
}

// ReceiptOf returns the form of r.
func ReceiptOf(r room.Receipt) Receipt {
	out := Receipt{ID: r.Message, Seq: r.Seq, State: r.State, Reason: r.Reason}
	for _, d := range r.Deliveries {
		out.Deliveries = append(out.Deliveries, DeliveryOf(d))
	}
	return out
}

// A Delivery is a message on its way to one receiver.
type Delivery struct {
	ID          string         `json:"message_id"`
	Seq         int64          `json:"seq" doc:"The number of the message in the room's log"`
	From        string         `json:"from_agent"`
	To          string         `json:"to_agent"`
	Kind        string         `json:"kind"`
	Priority    string         `json:"priority,omitempty"`
	RequiresAck bool           `json:"requires_ack,omitempty"`
	State       delivery.State `json:"state" enum:"posted,queued,held,delivered,acked,refused,expired"`
	Reason      string         `json:"reason,omitempty"`
	At          time.Time      `json:"at" doc:"Since when it has this state"`
	PostedAt    time.Time      `json:"posted_at"`
	Turn        int            `json:"turn,omitempty" doc:"The turn in whose prompt it was delivered"`
	Attempts    int            `json:"attempts,omitempty" doc:"How often its acknowledgement was missed"`
	Preview     string         `json:"preview,omitempty" doc:"The beginning of its summary or text"`
}

// DeliveryOf returns the form of d.
func DeliveryOf(d delivery.Delivery) Delivery {
	return Delivery{
		ID: d.Message, Seq: d.Seq, From: d.From, To: d.To, Kind: d.Kind, Priority: d.Priority, RequiresAck: d.RequiresAck,
		State: d.State, Reason: d.Reason, At: d.At.UTC(), PostedAt: d.PostedAt.UTC(), Turn: d.Turn, Attempts: d.Attempts,
	}
}

// Deliveries are those of a room, in the order of its log.
type Deliveries struct {
	Deliveries []Delivery `json:"deliveries"`
	More       bool       `json:"more,omitempty" doc:"There are older ones than those of this answer"`
	Dropped    int        `json:"dropped,omitempty" doc:"Older ones that the room does not list any more"`
}

// An Inbox has the messages to a seat that are not settled, in the order of the log.
type Inbox struct {
	Messages []Mailed `json:"messages"`
	Waiting  int      `json:"waiting" doc:"How many there are, with those that this answer leaves out"`
}

// A Mailed is a message in an inbox.
type Mailed struct {
	Delivery
	Text        string      `json:"text,omitempty"`
	Summary     string      `json:"summary,omitempty"`
	Payload     policy.JSON `json:"payload,omitempty"`
	Correlation string      `json:"correlation_id,omitempty"`
	Parent      string      `json:"parent_id,omitempty"`
	Thread      string      `json:"thread_id,omitempty"`
	Redacted    bool        `json:"redacted,omitempty" doc:"Its text was removed from the room"`
}

// A DeadLetter is a message that was refused, or that its receiver never acknowledged.
type DeadLetter struct {
	ID      string         `json:"message_id,omitempty"`
	Seq     int64          `json:"seq" doc:"The number of the dead letter in the room's log"`
	Target  int64          `json:"target,omitempty" doc:"The number of the message, if it was posted"`
	From    string         `json:"from_agent"`
	To      string         `json:"to_agent"`
	Kind    string         `json:"kind"`
	State   delivery.State `json:"state" enum:"refused,expired"`
	Code    string         `json:"code" doc:"Stable name of the reason; moot help CODE explains it"`
	Reason  string         `json:"reason"`
	Fix     string         `json:"fix,omitempty"`
	At      time.Time      `json:"at"`
	Preview string         `json:"preview,omitempty" doc:"The beginning of its summary or text"`
}

// DeadLetterOf returns the form of d.
func DeadLetterOf(d room.DeadLetter) DeadLetter {
	m := d.Message
	return DeadLetter{
		ID: m.ID, Seq: d.Seq, Target: d.Target, From: m.From, To: cmp.Or(d.Participant, m.To), Kind: m.Kind, State: d.State,
		Code: d.Code, Reason: d.Reason, Fix: d.Fix, At: d.At.UTC(), Preview: PreviewOf(m),
	}
}

// DeadLetters are those of a room, oldest first.
type DeadLetters struct {
	DeadLetters []DeadLetter `json:"dead_letters" doc:"The newest 100 that the caller may see"`
	Total       int          `json:"total,omitempty" doc:"How many the room has; only callers with control are told"`
}

// maxPreview is the length of a preview in bytes.
const maxPreview = 100

// PreviewOf returns the beginning of the summary or the text of m, on one line and
// without secrets.
func PreviewOf(m room.Message) string {
	return room.FirstSentence(secrets.Preview(cmp.Or(m.Summary, m.Text)), maxPreview)
}
