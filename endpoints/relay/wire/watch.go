package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/room"
)

// Bounds of the messages between a spectator server and its clients.
const (
	MaxEvents    = 64     // events of one Snapshot
	MaxOpening   = 64     // events of its opening
	MaxLast      = 10_000 // past events that a Subscribe may ask for
	MaxSayChars  = 12_000 // characters of a Say
	maxEventDeep = 12     // JSON depth of an event, within an envelope
)

// A Subscribe is the body of a watch message. It asks for the events after
// one, or for the last of the past.
type Subscribe struct {
	After *int64 `json:"after,omitempty"` // the last event that the client has; nil: none
	Last  int    `json:"last,omitempty"`  // with no After: how many past events, hidden ones counted
}

// Check returns an error if a field of s is out of its bounds.
func (s Subscribe) Check() error {
	switch {
	case s.After != nil && (*s.After < 0 || s.Last != 0):
		return errors.New("its event is out of bounds, or it asks for two things")
	case s.Last < 0 || s.Last > MaxLast:
		return errors.New("it asks for too many events")
	}
	return nil
}

// A Snapshot is the body of an event message: the events after one.
type Snapshot struct {
	After   int64             `json:"after"`
	Through int64             `json:"through"` // the After of the next Subscribe
	Opening []json.RawMessage `json:"head,omitempty"`
	Events  []json.RawMessage `json:"events,omitempty"`
	State   string            `json:"state,omitempty"` // empty while the room runs
	Phase   room.Phase        `json:"phase,omitempty"` // with a state
	Reason  string            `json:"reason,omitempty"`
}

// States of a Snapshot.
const (
	RoomOver = "over" // the room has ended
	RoomAway = "away" // the room's host has ended and may resume the room
)

// Read decodes the events of s for a client that has seen the events up to
// after. known is false before the client's first snapshot.
func (s Snapshot) Read(after int64, known bool) (opening, events []room.Event, err error) {
	switch {
	case s.After < 0 || s.Through < s.After || known && s.After != after:
		return nil, nil, fmt.Errorf("it goes on from event %d, and %d was the last", s.After, after)
	case len(s.Opening) > MaxOpening || len(s.Events) > MaxEvents:
		return nil, nil, errors.New("it holds too many events")
	case s.State != "" && s.State != RoomOver && s.State != RoomAway:
		return nil, nil, errors.New("the room is in an unknown state")
	}
	if opening, err = readEvents(s.Opening, 0, s.After); err != nil {
		return nil, nil, err
	}
	events, err = readEvents(s.Events, s.After, s.Through)
	return opening, events, err
}

// readEvents decodes events whose numbers increase, from after+1 to through.
func readEvents(raw []json.RawMessage, after, through int64) (all []room.Event, err error) {
	for _, b := range raw {
		var v json.RawMessage
		if err := strict.Decode(b, maxEventDeep, &v); err != nil {
			return nil, err
		}
		e, err := room.UnmarshalEvent(b)
		switch {
		case err != nil:
			return nil, err
		case e.V != room.FormatVersion:
			return nil, fmt.Errorf("event %d is of version %d", e.Seq, e.V)
		case e.Seq <= after || e.Seq > through:
			return nil, fmt.Errorf("event %d is out of order", e.Seq)
		}
		after = e.Seq
		all = append(all, e)
	}
	return all, nil
}

// A Say is the body of a message of a spectator.
type Say struct {
	Text string `json:"text"`
}

// Check returns the code of the reply that refuses s, or "".
func (s Say) Check() (code string) {
	switch {
	case strings.TrimSpace(s.Text) == "":
		return ReplyFailed
	case utf8.RuneCountInString(s.Text) > MaxSayChars:
		return ReplySize
	}
	return ""
}

// A Reply is the body that answers a Say, or refuses a Subscribe.
type Reply struct {
	Status  string `json:"status"`             // StatusOK or StatusError
	Code    string `json:"code,omitempty"`     // of an error
	RetryMS int64  `json:"retry_ms,omitempty"` // with ReplyLimit: when the client may try again
}

// Codes of a Reply.
const (
	ReplyDenied = "denied" // no such room, or not for this device
	ReplyAbsent = "absent" // no room runs on this device
	ReplyWhich  = "which"  // several rooms: the client must name one
	ReplyLimit  = "limit"
	ReplySize   = "size"
	ReplyOver   = "over" // the room has ended
	ReplyMuted  = "muted"
	ReplyFailed = "failed"
)

// ErrorReply returns the Reply with an error.
func ErrorReply(code string) Reply { return Reply{Status: StatusError, Code: code} }

// Check returns an error if a field of r is out of its bounds.
func (r Reply) Check() error {
	if r.Status != StatusOK && r.Status != StatusError || r.RetryMS < 0 {
		return errors.New("its status is unknown")
	}
	return nil
}

// ReplyTo returns the envelope that answers q of a spectator.
func ReplyTo(q envelope.Envelope, r Reply) envelope.Envelope {
	t := envelope.Error
	if r.Status == StatusOK {
		t = envelope.Status
	}
	return envelope.Envelope{ID: q.ID, Type: t, Room: q.Room, Body: Body(r)}
}
