package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
)

// Budgets of an hour and a day count an agent over all rooms. The host keeps what agents
// have used in a ledger, as package coordinator does: it reserves the estimate of a prompt
// before the grant of its turn is stored, and settles what was used before the end of the
// turn is stored. A ledger keeps what it takes through every crash.

// A ledger holds the charges of all agents, in the order in which they were made.
type ledger []room.BudgetCharge

func (l ledger) find(id string) int {
	return slices.IndexFunc(l, func(c room.BudgetCharge) bool { return c.ID == id })
}

// of returns the charges of an agent.
func (l ledger) of(agent string) (all ledger) {
	for _, c := range l {
		if c.Agent == agent {
			all = append(all, c)
		}
	}
	return all
}

// settle puts what a request has used in the place of its estimate, once.
func (l *ledger) settle(c room.BudgetCharge) {
	i := l.find(c.ID)
	switch {
	case i < 0:
		*l = append(*l, c)
	case (*l)[i].Open:
		old := (*l)[i]
		c.Agent, c.Room, c.Turn = old.Agent, old.Room, old.Turn
		if old.At.After(c.At) {
			c.At = old.At
		}
		(*l)[i] = c
	}
}

// windowed reports whether a seat has a budget of an hour or a day that counts now.
func windowed(x *room.Seat) bool {
	return len(x.Budget.Windows()) > 0 && x.Driven() && x.Standing != room.Removed
}

// measured begins to record which seats have used a budget, or may speak again. It
// reports whether there is something to store, after which the room goes on.
func (h *hosted) measured() bool {
	if h.state.Phase != room.PhaseLive || h.state.Turn != nil || h.ended || h.batch != nil || !h.claimed {
		return false
	}
	var do room.Measured
	for i := range h.state.Seats {
		if x := h.state.Seats[i]; windowed(x) {
			do.Budgets = append(do.Budgets, x.Measure(h.s.disk.ledger.of(x.ID), h.s.wall(), room.Amounts{})...)
		}
	}
	return len(do.Budgets) > 0 && h.note(do, request{})
}

// note stores the events of an act of the host itself, and then ends r. It reports false
// if there are none.
func (h *hosted) note(do room.Act, r request) bool {
	cmd := room.Command{Actor: room.ActorRoom, Do: do}
	r.cmd = cmd
	events, err := h.state.Decide(cmd, h.timeNow())
	h.facts.decided(h.s, h, cmd, events, err)
	b := &batch{room: h, id: h.id, req: r, after: h.state.Seq, parts: []part{{cmd, events}}, events: events, since: h.s.now}
	h.facts.model.decided(h.s, h, b, err)
	if len(events) > 0 {
		h.append(b)
	}
	return len(events) > 0
}

// reserve charges the estimate of the prompt that is about to be granted. It reports
// false if that would pass the budget.
func (h *hosted) reserve(events []room.Event) (over room.Measured, ok bool) {
	if len(events) == 0 {
		return over, true
	}
	last := &events[len(events)-1]
	b, grants := last.Body.(room.TurnGranted)
	if !grants {
		return over, true
	}
	x, _ := h.state.Seat(b.Participant)
	if !windowed(&x) || x.TakenBy != "" {
		return over, true
	}
	next, now, l := x.Estimate(b.Tokens), h.s.wall(), &h.s.disk.ledger
	others := slices.DeleteFunc(l.of(x.ID), func(c room.BudgetCharge) bool { return c.ID == b.Request })
	left := budget.Left(x.Budget.Windows(), others, now, next)
	b.Left = &left
	for _, m := range x.Measure(others, now, next) {
		if m.Level == budget.Used {
			over.Budgets = append(over.Budgets, m)
		}
	}
	if len(over.Budgets) > 0 && !h.s.cfg.flaws.overBudget {
		if slices.ContainsFunc(others, func(c room.BudgetCharge) bool { return c.Room != h.id }) {
			h.s.at(moment{kind: onBudgetShared, room: h})
		}
		return over, false
	}
	h.withinWindows(&x, others, next, now)
	if l.find(b.Request) < 0 {
		*l = append(*l, room.BudgetCharge{ID: b.Request, Agent: x.ID, Room: h.id, Turn: b.Turn, At: now, Amounts: next, Estimated: true, Open: true})
	}
	last.Body = b
	return over, true
}

// withinWindows checks that a prompt fits the budgets of its agent over all rooms.
func (h *hosted) withinWindows(x *room.Seat, others ledger, next room.Amounts, now time.Time) {
	for _, w := range x.Budget.Windows() {
		tokens, turns := next.Tokens, int64(1)
		for _, c := range others {
			if c.At.After(now.Add(-w.Length)) { // those from a time to come too
				tokens, turns = tokens+c.Tokens, turns+c.Turns
			}
		}
		if l := w.Limits; l.Tokens > 0 && tokens > l.Tokens || l.Turns > 0 && turns > l.Turns {
			h.s.violate("L12", h.id, fmt.Sprintf("%s gets a turn, and has used %d tokens and %d turns in the %s with it", x.ID, tokens, turns, w.Name))
		}
	}
}

// settle charges what events say that agents have used.
func (h *hosted) settle(events []room.Event) {
	for _, e := range events {
		if id, c, ok := h.state.ChargeOf(e); ok {
			if c.Agent = id; !c.Open || h.s.disk.ledger.find(c.ID) < 0 {
				h.s.disk.ledger.settle(c)
			}
		}
	}
}

// release drops the reservations of what an earlier process did not come to store, and
// checks that the others are still there.
func (h *hosted) release() {
	keep := h.state.OpenCharges()
	if h.s.cfg.flaws.dropReserved {
		keep = nil
	}
	l := &h.s.disk.ledger
	*l = slices.DeleteFunc(*l, func(c room.BudgetCharge) bool {
		dropped := c.Open && c.Room == h.id && !slices.Contains(keep, c.ID)
		if dropped {
			h.s.at(moment{kind: onReleased, room: h})
		}
		return dropped
	})
	t := h.state.Turn
	if t == nil || t.Draft != nil {
		return
	}
	if x, ok := h.state.Seat(t.Participant); !ok || !windowed(&x) || x.TakenBy != "" {
		return
	}
	if l.find(t.Request) < 0 {
		h.s.violate("L12", h.id, "the turn "+t.Request+" is open, and its reservation is gone")
	}
	h.s.at(moment{kind: onReserved, room: h})
}

// untilBudget returns in how long the first seat that has used its budget may speak
// again; a negative time is never.
func (h *hosted) untilBudget() (first time.Duration) {
	first = -1
	if h.state.Phase != room.PhaseLive || h.state.Turn != nil {
		return first
	}
	for _, x := range h.state.Seats {
		for _, m := range x.Budgets {
			if d := max(0, m.Until.Sub(h.s.wall())); m.Level == budget.Used && !m.Until.IsZero() && (first < 0 || d < first) {
				first = d
			}
		}
	}
	return first
}
