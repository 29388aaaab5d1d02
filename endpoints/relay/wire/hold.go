package wire

import (
	"errors"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

// Bounds of the messages about a seat that a session on another device holds.
const (
	// MaxAwait bounds one await, so that its answer shows in time that the host is
	// there.
	MaxAwait   = 20 * time.Second
	maxSeatID  = 64
	maxRequest = 128
)

// A SeatAwait is the body of a seat.await: it asks for the turn of a seat of the
// envelope's room, and renews the lease of the seat.
type SeatAwait struct {
	Seat   string `json:"seat"`
	WaitMS int64  `json:"wait_ms,omitempty"`
	Fresh  bool   `json:"fresh,omitempty"` // the session remembers nothing of the room
}

// Check returns an error if a field of a is out of its bounds.
func (a SeatAwait) Check() error {
	if a.Seat == "" || len(a.Seat) > maxSeatID || a.WaitMS < 0 || a.WaitMS > MaxAwait.Milliseconds() {
		return errors.New("its seat or its time is out of bounds")
	}
	return nil
}

// States of a SeatTurn.
const (
	SeatHasTurn = "turn"  // the other fields describe it
	SeatAgain   = "again" // not yet: await again
	SeatOver    = "over"  // the room has ended
)

// A SeatTurn is the body that answers a SeatAwait. The envelope has the number of the
// turn and the epoch of the request.
type SeatTurn struct {
	State   string     `json:"state"`
	Phase   room.Phase `json:"phase,omitempty"` // of a room that is over
	Request string     `json:"request,omitempty"`
	LeftMS  int64      `json:"left_ms,omitempty"` // until the answer is due
	Prompt  *Request   `json:"prompt,omitempty"`
}

// Check returns an error if a field of t is out of its bounds.
func (t SeatTurn) Check() error {
	switch {
	case t.State == SeatAgain:
		return nil
	case t.State == SeatOver && slices.Contains([]room.Phase{room.PhaseCompleted, room.PhaseStopped, room.PhaseError}, t.Phase):
		return nil
	case t.State != SeatHasTurn:
		return errors.New("its state is unknown")
	case t.Request == "" || len(t.Request) > maxRequest || t.Prompt == nil || t.LeftMS < 0 || t.LeftMS > maxTimeoutMS:
		return errors.New("its request is out of bounds")
	}
	return t.Prompt.Check()
}

// A SeatAnswer is the body of a seat.answer. The envelope has the epoch of the
// request; without a request it is the newest one that the seat was given.
type SeatAnswer struct {
	Seat       string   `json:"seat"`
	Request    string   `json:"request,omitempty"`
	Outcome    string   `json:"outcome"` // endpoint.Said or endpoint.Passed
	Text       string   `json:"text,omitempty"`
	Reason     string   `json:"reason,omitempty"` // of a pass
	Confidence *float64 `json:"confidence,omitempty"`
}

// Check returns an error if a field of a is out of its bounds. The room bounds the
// text.
func (a SeatAnswer) Check() error {
	said := a.Outcome == endpoint.Said && a.Text != ""
	switch {
	case a.Seat == "" || len(a.Seat) > maxSeatID || len(a.Request) > maxRequest:
		return errors.New("its seat or its request is out of bounds")
	case !said && (a.Outcome != endpoint.Passed || a.Text != ""):
		return errors.New("it neither says something nor passes")
	case a.Confidence != nil && (*a.Confidence < 0 || *a.Confidence > 1):
		return errors.New("its confidence is out of bounds")
	}
	return nil
}

// A SeatAnswered is the body that answers a SeatAnswer: how the room has recorded it.
// The envelope has the number of the turn.
type SeatAnswered struct {
	Outcome string `json:"outcome"` // OutcomePosted, OutcomeDrafted or OutcomePassed
	Seq     int64  `json:"seq"`     // of the event
}

// Outcomes of a SeatAnswered.
const (
	OutcomePosted  = "posted"
	OutcomeDrafted = "drafted" // a person reviews it first
	OutcomePassed  = "passed"
)

// Check returns an error if a field of a is out of its bounds.
func (a SeatAnswered) Check() error {
	if !slices.Contains([]string{OutcomePosted, OutcomeDrafted, OutcomePassed}, a.Outcome) || a.Seq < 0 {
		return errors.New("its outcome is unknown")
	}
	return nil
}

// Codes of a Reply that refuses a message about a seat, besides those of spectators.
const (
	ReplyAnswered = "answered" // the request was answered
	ReplyClosed   = "closed"   // the request is not open
	ReplyTaken    = "taken"    // another await has taken the seat over
)
