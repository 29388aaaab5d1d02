package invariant

import (
	"fmt"
	"slices"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/rights"
)

// called is what the events have said about calls.
type called struct {
	open map[string]*calls.Call
	over map[string]bool
}

func (c *called) init() { *c = called{open: map[string]*calls.Call{}, over: map[string]bool{}} }

// narrows checks that a called agent gets no right that its caller may not delegate or
// that it does not have itself.
func (c *Checker) narrows(e step) string {
	b, ok := e.Body.(room.CallStarted)
	if !ok {
		return ""
	}
	_, most := c.seatOf(b.Caller).Rights()
	if of := e.s.Spec.Call; of != nil {
		most &= rights.Of(of.Delegate)
	}
	if x, known := c.target(e, b.Agent); known {
		use, _ := x.Rights()
		most &= use
	}
	if got := rights.Of(b.Rights); got&^most != 0 {
		return fmt.Sprintf("call %s gives %s the rights %s, and may give %s", b.ID, b.Agent, got, most)
	}
	return ""
}

// target returns the participant that a call is for.
func (c *Checker) target(e step, id string) (room.Participant, bool) {
	if x := c.seat[id]; x != nil {
		return x.Participant, true
	}
	i := slices.IndexFunc(e.s.Spec.Agents, func(p room.Participant) bool { return p.ID == id })
	if i < 0 {
		return room.Participant{}, false
	}
	return e.s.Spec.Agents[i], true
}

// callFits checks that the budget and the time of a call are within what is left of the
// limits of its room.
func (c *Checker) callFits(e step) string {
	b, ok := e.Body.(room.CallStarted)
	if !ok {
		return ""
	}
	l, sum := c.was.limits, e.s.Reserved()
	switch {
	case l.MaxTokens > 0 && c.was.tally.Tokens+sum.Tokens > l.MaxTokens, l.MaxCost > 0 && c.was.tally.Cost+sum.Cost > l.MaxCost:
		return fmt.Sprintf("call %s: %+v is reserved, and %d tokens are used", b.ID, sum, c.was.tally.Tokens)
	case b.Started+b.Timeout > l.MaxDuration:
		return fmt.Sprintf("call %s may last until %v, and the room until %v", b.ID, b.Started+b.Timeout, l.MaxDuration)
	case e.s.Called+sum.Calls > l.MaxCalls:
		return fmt.Sprintf("call %s: %d calls are made or reserved, and the limit is %d", b.ID, e.s.Called+sum.Calls, l.MaxCalls)
	}
	return ""
}

func (c *Checker) nestedAllowed(e step) string {
	if b, ok := e.Body.(room.CallStarted); ok && e.s.Spec.Call != nil && !e.s.Spec.Call.Nested {
		return "call " + b.ID + " is nested, and its caller has not allowed it"
	}
	return ""
}

// noCycle checks that a call path ends with the caller, does not come back to an agent,
// and is not deeper than allowed.
func (c *Checker) noCycle(e step) string {
	b, ok := e.Body.(room.CallStarted)
	if !ok {
		return ""
	}
	n := len(b.Chain)
	if n == 0 || b.Chain[n-1].Agent != b.Caller || n != b.Depth || n > calls.MaxDepth {
		return fmt.Sprintf("call %s of %s has the path %+v", b.ID, b.Caller, b.Chain)
	}
	for _, l := range b.Chain {
		if l.Agent == b.Agent {
			return "call " + b.ID + " comes back to " + b.Agent
		}
	}
	return ""
}

// mayCall checks that a call is by a seat that may call, or that a person has allowed.
func (c *Checker) mayCall(e step) string {
	b, ok := e.Body.(room.CallStarted)
	if !ok {
		return ""
	}
	x := c.seatOf(b.Caller)
	if x.standing != room.Active || x.Calls != room.CallsAllow && !(x.Calls == room.CallsAsk && c.permits[b.Permit]) {
		return fmt.Sprintf("%s, which is %s, has called %s; its right to call is %q", b.Caller, x.standing, b.Agent, x.Calls)
	}
	return ""
}

// callOnce checks that a call starts once, ends once, and changes only in between.
func (c *Checker) callOnce(e step) string {
	id, starts := "", false
	switch b := e.Body.(type) {
	case room.CallStarted:
		id, starts = b.ID, true
	case room.CallChanged:
		id = b.Call
	case room.CallEnded:
		id = b.Call
		if b.State.Open() {
			return "call " + id + " has ended, and is " + string(b.State)
		}
	default:
		return ""
	}
	if starts && (c.open[id] != nil || c.over[id]) || !starts && c.open[id] == nil {
		return fmt.Sprintf("%s of call %s, which is open: %t, over: %t", e.Body.Type(), id, c.open[id] != nil, c.over[id])
	}
	return ""
}

// reserves checks that the budgets of exactly the open calls are reserved.
func (c *Checker) reserves(e step) string {
	switch e.Body.(type) {
	case room.CallStarted, room.CallEnded:
	default:
		return ""
	}
	var want calls.Budget
	for _, o := range c.open {
		want = want.Plus(o.Reserved)
	}
	switch b := e.Body.(type) {
	case room.CallStarted:
		want = want.Plus(b.Reserved)
	case room.CallEnded:
		if o := c.open[b.Call]; o != nil {
			want.Tokens, want.Cost, want.Calls = want.Tokens-o.Reserved.Tokens, want.Cost-o.Reserved.Cost, want.Calls-o.Reserved.Calls
		}
	}
	if got := e.s.Reserved(); got != want {
		return fmt.Sprintf("%+v is reserved, and the open calls have %+v", got, want)
	}
	return ""
}

// learnCalls notes what the checks of calls need to know.
func (c *Checker) learnCalls(e step) {
	switch b := e.Body.(type) {
	case room.CallStarted:
		call := b.Call
		c.open[b.ID] = &call
	case room.CallChanged:
		if o := c.open[b.Call]; o != nil {
			o.Canceling = b.Canceling
		}
	case room.CallEnded:
		delete(c.open, b.Call)
		c.over[b.Call] = true
	}
}
