package mcp

import (
	"context"
	"errors"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/kinds"
)

// A caller is who a credential belongs to.
type caller struct {
	Scope   string `json:"scope"`
	Room    string `json:"room"` // the only one that the credential is for
	Seat    string `json:"seat"`
	Session string `json:"session"` // the id of the seat as a session

	parked bool // turns of the seat wait for a session that takes them
	person bool // the seat is a person's
	driven bool // the room asks the seat's agent itself
	calls  bool // the seat's agent may call others
	worker bool // the seat has the role of a worker or a specialist
}

// callerOf returns who uses a.
func callerOf(ctx context.Context, a API) (c caller, err error) {
	return c, a.Call(ctx, "GET", "/api/caller", nil, &c)
}

// findSeat finds out what kind of seat the caller has. Nothing is known of a seat whose
// room does not run.
func (c *caller) findSeat(ctx context.Context, a API) error {
	if c.Seat == "" {
		return nil
	}
	path, err := join("/api/rooms/", c.Room)
	if err != nil {
		return err
	}
	var state roomState
	if err := a.Call(ctx, "GET", path, nil, &state); err != nil {
		if p, ok := errors.AsType[*problem.Error](err); ok && p.Code != "API-UNREACHABLE" {
			return nil
		}
		return err
	}
	for _, p := range state.Participants {
		if p.ID == c.Seat {
			c.parked, c.person = p.Presence != "", p.Kind == "human"
			c.driven, c.calls = !c.parked && !c.person, p.MayCall
			c.worker = kinds.PartyOf(c.person, p.Role)&kinds.Worker != 0
		}
	}
	return nil
}

// mayTalk reports whether the caller may send messages to sessions.
func (c caller) mayTalk() bool { return c.Scope != "read" }

// mayPost reports whether the caller may post in a room outside its turns.
func (c caller) mayPost() bool {
	if c.Seat == "" {
		return c.Scope == "control" || c.Scope == "admin" // as the host
	}
	return c.mayTalk() && (c.parked || c.person || c.driven)
}

// mayPull reports whether the caller is an agent with an inbox.
func (c caller) mayPull() bool { return c.Seat != "" && c.mayTalk() && !c.person }

// mayClaim reports whether the caller may claim tasks.
func (c caller) mayClaim() bool { return c.mayTalk() && c.worker && !c.person }

// mayTakeTurns reports whether the caller may take turns: of its seat, or of any.
func (c caller) mayTakeTurns() bool { return c.parked || c.Seat == "" && c.Scope == "admin" }

// mayHandOff reports whether the caller may hand off during its turn: an agent that has
// a seat, or who may take turns of any.
func (c caller) mayHandOff() bool {
	return c.mayTakeTurns() || c.Seat != "" && c.mayTalk() && !c.person
}

// always shows a tool to all callers.
func (c caller) always() bool { return true }
