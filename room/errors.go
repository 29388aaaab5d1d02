package room

import (
	"errors"

	"github.com/folkmoot/moot/problem"
)

// Errors that callers of Decide branch on.
var (
	// ErrStale: the room has changed since the policy was asked; ask it again.
	ErrStale = errors.New("room: decision is stale")
	// ErrLate: the request that the reply answers has ended.
	ErrLate = errors.New("room: reply is late")
	// ErrOver: the room has ended for good.
	ErrOver = errors.New("room: has ended")
	// ErrTaken: the id belongs to another message or command.
	ErrTaken = errors.New("room: id is taken")
	// ErrDenied: the actor may not do that.
	ErrDenied = errors.New("room: denied")
)

func deniedError(actor, what string) error {
	return &problem.Error{
		Code: "ROOM-DENIED", What: quote(actor) + " may not " + what,
		Fix: "act as a person of the room or as its host", Kind: ErrDenied,
	}
}

func endedError(s *State) error {
	return &problem.Error{
		Code: "ROOM-OVER", What: "the room is " + string(s.Phase) + ": " + s.Ending.Reason,
		Fix: "start another room; `moot transcript export` has what was said", Kind: ErrOver,
	}
}

func takenError(id string) error {
	return &problem.Error{
		Code: "ROOM-ID-TAKEN", What: "id " + quote(id) + " belongs to another message or command",
		Fix: "give every message an id of its own; repeat one only with the same text", Kind: ErrTaken,
	}
}

func invalidError(code, what, fix string) error {
	return &problem.Error{Code: code, What: what, Fix: fix}
}

func quote(s string) string { return "\"" + s + "\"" }
