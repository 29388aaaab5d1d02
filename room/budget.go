package room

import (
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room/budget"
	"github.com/folkmoot/moot/room/calls"
)

// Budgets of seats; see package budget.
type (
	// A Budget limits what one seat may use.
	Budget = budget.Budget
	// Amounts are what an agent has used or may use.
	Amounts = budget.Amounts
	// A BudgetMark says how far a seat has used a budget.
	BudgetMark = budget.Mark
	// A BudgetCharge is what one request to an agent has used.
	BudgetCharge = budget.Charge
)

// BudgetChanged records that a seat has used a large share of a budget or all of it, or
// may speak again.
type BudgetChanged struct {
	Participant string `json:"participant"`
	BudgetMark
}

// Type returns the name of the event.
func (BudgetChanged) Type() string { return "budget.changed" }

// Measure returns the marks of the windows of wall time of x. next is the estimate of
// the next prompt; zero is the one that the seat was refused for before, if any.
func (x *Seat) Measure(charges []BudgetCharge, now time.Time, next Amounts) (marks []BudgetChanged) {
	for _, w := range x.Budget.Windows() {
		more := next
		if was, ok := x.budgetMark(w.Name); ok && more == (Amounts{}) {
			more = was.Need()
		}
		marks = append(marks, BudgetChanged{Participant: x.ID, BudgetMark: w.Measure(charges, now, more)})
	}
	return marks
}

// overBudget returns the mark that keeps the agent of x from a turn, or nil.
func (x *Seat) overBudget() *BudgetMark {
	var worst *BudgetMark
	for _, m := range x.budgetMarks() {
		if m.Level == budget.Used && (worst == nil || m.Over(*worst)) {
			worst = &m
		}
	}
	return worst
}

// budgetMarks returns the marks of the seat's budgets that are near their limit or
// used. That of the room is computed from what the seat has used.
func (x *Seat) budgetMarks() []BudgetMark {
	if x.Budget == (Budget{}) {
		return nil
	}
	marks := slices.Clone(x.Budgets)
	room := x.roomMark(Amounts{})
	i := slices.IndexFunc(marks, func(m BudgetMark) bool { return m.Window == budget.Room })
	switch {
	case i >= 0 && marks[i].Next > 0: // the estimate of the prompt that was refused holds
	case i >= 0:
		marks[i] = room
	default:
		marks = append(marks, room)
	}
	return slices.DeleteFunc(marks, func(m BudgetMark) bool { return m.Level == budget.Free })
}

// roomMark measures what x has used in the room. It never gets less.
func (x *Seat) roomMark(next Amounts) BudgetMark {
	used := Amounts{Tokens: x.Spent, Cost: x.Cost, Turns: int64(x.Turns), Calls: int64(x.CallsMade), ToolCalls: int64(x.ToolCalls)}
	return x.Budget.Room.Against(used, next, x.Estimated || x.CostEstimated)
}

// Estimate returns what the next turn of the seat uses at least, if its prompt has
// that many tokens.
func (x *Seat) Estimate(tokens int64) Amounts {
	return Amounts{Tokens: tokens, Cost: x.Price.of(Usage{Input: tokens}), Turns: 1}
}

// passesBudget returns the event that ends the turns of x if the next prompt would
// pass its budget of the room, or nil. A person who has taken the seat over has no
// budget.
func (s *State) passesBudget(x *Seat, g Grant) *BudgetChanged {
	if x.Budget.Room == (Amounts{}) || x.TakenBy != "" {
		return nil
	}
	if m := x.roomMark(x.Estimate(g.Tokens)); m.Level == budget.Used {
		return &BudgetChanged{Participant: x.ID, BudgetMark: m}
	}
	return nil
}

// budgetError refuses a turn that a person gives to x.
func budgetError(x *Seat, m BudgetMark) error {
	fix := "give the floor to another seat, take this one over, or raise its budget in room.yaml for the next room"
	if m.Window != budget.Room {
		fix = "wait"
		if !m.Until.IsZero() {
			fix += " until " + m.Until.UTC().Format(time.DateTime) + " UTC"
		}
		fix += ", take the seat over, or reset the count with `moot budget --reset`"
	}
	return invalidError("ROOM-BUDGET", x.ID+" has used its budget: "+m.Text(), fix)
}

// decideMeasured records which budgets are near their limit, used or free again, as
// far as this is not in the log. The amounts in the room need no message of the
// coordinator, but a person is told of them in the same way.
func (s *State) decideMeasured(do Measured) []Body {
	if s.Phase != PhaseLive {
		return nil
	}
	var bodies []Body
	changed := func(x *Seat, m BudgetMark) {
		was, ok := x.budgetMark(m.Window)
		if !ok && m.Level == budget.Free || ok && m.Same(was) || ok && was.Level == budget.Used && m.Window == budget.Room {
			return
		}
		bodies = append(bodies, BudgetChanged{Participant: x.ID, BudgetMark: m})
	}
	for _, b := range do.Budgets {
		if x := s.seat(b.Participant); x != nil && slices.ContainsFunc(x.Budget.Windows(), func(w budget.Window) bool { return w.Name == b.Window }) {
			changed(x, b.BudgetMark)
		}
	}
	for _, x := range s.Seats {
		if x.Budget.Room != (Amounts{}) && x.Standing != Removed {
			changed(x, x.roomMark(Amounts{}))
		}
	}
	return append(bodies, s.childOver(bodies)...)
}

// childOver ends a child room whose agent has no budget left: it has no other agent, and
// its caller waits.
func (s *State) childOver(bodies []Body) []Body {
	if s.Spec.Call == nil || s.Turn != nil {
		return nil
	}
	for _, b := range bodies {
		if b := b.(BudgetChanged); b.Level == budget.Used {
			return []Body{*limitStopped("budget", b.Participant+" has used "+b.Text())}
		}
	}
	return nil
}

// budgetMark returns the recorded mark of a window.
func (x *Seat) budgetMark(window string) (BudgetMark, bool) {
	for _, m := range x.Budgets {
		if m.Window == window {
			return m, true
		}
	}
	return BudgetMark{}, false
}

// applyBudget has the policy asked at once when a seat may speak again, or may not
// any more. The declines before it may do not settle the room.
func (s *State) applyBudget(e Event, b BudgetChanged) {
	x := s.seat(b.Participant)
	if x == nil || b.Window != budget.Hour && b.Window != budget.Day && b.Window != budget.Room {
		return
	}
	was := x.overBudget() != nil
	x.Budgets = slices.DeleteFunc(slices.Clone(x.Budgets), func(m BudgetMark) bool { return m.Window == b.Window })
	if b.Level != budget.Free {
		x.Budgets = append(x.Budgets, b.BudgetMark)
	}
	is := x.overBudget() != nil
	if was != is {
		s.LastNews = e.Seq
	}
	if was && !is {
		s.Tally.Declines = 0
	}
}

// ChargeOf returns what e charges to the budgets of a seat, and the seat: the end of the
// work of its agent on the open turn, or a call by it, which is open until it has ended.
// ok is false if e charges nothing or the seat has no budget of an hour or a day. s is
// the state before e.
func (s *State) ChargeOf(e Event) (seat string, c BudgetCharge, ok bool) {
	switch b := e.Body.(type) {
	case CallStarted:
		return s.chargeOfCall(e, b.Call, Amounts{Tokens: b.Reserved.Tokens, Cost: b.Reserved.Cost}, true)
	case CallEnded:
		if old := s.call(b.Call); old != nil && old.State.Open() {
			r := b.Result
			seat, c, ok = s.chargeOfCall(e, *old, Amounts{Tokens: r.Tokens, Cost: r.Cost}, false)
			c.Estimated = r.Estimated || r.CostEstimated
			return seat, c, ok
		}
	}
	t := s.Turn
	if !s.inFlight() || !s.agentHas(t) {
		return "", c, false
	}
	x := s.seat(t.Participant)
	used, tools, ends := turnCharge(e.Body, x.Price, t)
	return x.ID, BudgetCharge{
		ID: t.Request, Room: s.Spec.Room, Turn: t.Number, At: e.At, Estimated: used.estimated || used.costEstimated,
		Amounts: Amounts{Tokens: used.tokens, Cost: used.cost, Turns: 1, ToolCalls: int64(tools)},
	}, ends && len(x.Budget.Windows()) > 0
}

// turnCharge returns what the end of the work on t charges.
func turnCharge(body Body, p Price, t *Turn) (c charge, tools int, ends bool) {
	switch b := body.(type) {
	case TurnDrafted:
		return chargeOf(p, b.Usage, t.Tokens, b.Message.Text), b.Message.toolCalls(), true
	case MessagePosted:
		return chargeOf(p, b.Usage, t.Tokens, b.Message.Text), b.Message.toolCalls(), b.Turn == t.Number
	case TurnPassed:
		return chargeOf(p, b.Usage, t.Tokens, ""), b.ToolCalls, true
	case TurnFailed:
		return chargeOf(p, b.Usage, t.Tokens, ""), b.ToolCalls, true
	case TurnInterrupted:
		return chargeOf(p, Usage{}, t.Tokens, ""), 0, true
	}
	return charge{}, 0, false
}

// chargeOfCall returns the charge of a call to its caller.
func (s *State) chargeOfCall(e Event, c Call, used Amounts, open bool) (string, BudgetCharge, bool) {
	x := s.seat(c.Caller)
	if x == nil || len(x.Budget.Windows()) == 0 {
		return "", BudgetCharge{}, false
	}
	used.Calls = 1
	return x.ID, BudgetCharge{ID: c.Room, Room: s.Spec.Room, Turn: c.Turn, At: e.At, Amounts: used, Estimated: open, Open: open}, true
}

// OpenCharges returns the ids of the charges that are open in s: of the turn and of the
// calls under way.
func (s *State) OpenCharges() (ids []string) {
	if s.inFlight() {
		ids = append(ids, s.Turn.Request)
	}
	for _, c := range s.openCalls() {
		ids = append(ids, c.Room)
	}
	return ids
}

// boundByBudget lowers r, what is left for calls of x, to what is left of its budgets: of
// the room, and of the hour and the day when it was given the floor.
func (s *State) boundByBudget(x *Seat, r *calls.Rest) {
	var reserved, turn Amounts
	for _, c := range s.openCalls() {
		if c.Caller == x.ID {
			reserved = reserved.Plus(Amounts{Tokens: c.Reserved.Tokens, Cost: c.Reserved.Cost})
		}
	}
	own := s.inFlight() && s.Turn.Participant == x.ID
	if own {
		turn = x.Estimate(s.Turn.Tokens)
	}
	bound := func(left *int64, to int64) {
		if to = max(0, to); *left < 0 || to < *left {
			*left = to
		}
	}
	count := int64(max(0, r.Calls)) // a limit that was lowered leaves none, and not any number
	if l := x.Budget.Room; l.Tokens > 0 {
		bound(&r.Tokens, l.Tokens-x.Spent-reserved.Tokens-turn.Tokens)
	}
	if l := x.Budget.Room; l.Cost > 0 {
		bound(&r.Cost, l.Cost-x.Cost-reserved.Cost-turn.Cost)
	}
	if l := x.Budget.Room; l.Calls > 0 {
		bound(&count, l.Calls-int64(x.CallsMade))
	}
	if own && s.Turn.Left != nil {
		l := *s.Turn.Left
		if l.Tokens >= 0 {
			bound(&r.Tokens, l.Tokens-reserved.Tokens)
		}
		if l.Cost >= 0 {
			bound(&r.Cost, l.Cost-reserved.Cost)
		}
		if l.Calls >= 0 {
			bound(&count, l.Calls)
		}
	}
	r.Calls = int(count)
}

// noteCallMade counts a call that was started.
func (s *State) noteCallMade(c Call) {
	if x := s.seat(c.Caller); x != nil && x.Budget != (Budget{}) {
		x.CallsMade++
	}
	s.lessLeft(c, Amounts{Calls: 1})
}

// noteCallPaid takes what a call has used from what is left for calls of its turn.
func (s *State) noteCallPaid(c Call) {
	s.lessLeft(c, Amounts{Tokens: c.Result.Tokens, Cost: c.Result.Cost})
}

func (s *State) lessLeft(c Call, used Amounts) {
	t := s.Turn
	if t == nil || t.Left == nil || t.Participant != c.Caller {
		return
	}
	left := t.Left.Less(used)
	next := *t
	next.Left = &left
	s.Turn = &next
}

// toolCalls returns how many tool calls the turn of m had, as far as its agent told.
func (m Message) toolCalls() int { return max(len(m.Tools)+m.ToolsMore, m.ToolRounds) }

// interruptedTokens returns the estimate that an interruption of the open turn charges:
// that of the prompt, if its seat has a budget. The agent may have worked on it.
func (s *State) interruptedTokens() int64 {
	if !s.inFlight() || !s.agentHas(s.Turn) || s.seat(s.Turn.Participant).Budget == (Budget{}) {
		return 0
	}
	return s.Turn.Tokens
}

// budgetReason adds to the reason why the room settles the seats that had no budget
// left.
func (s *State) budgetReason() string {
	why := ""
	for _, x := range s.Seats {
		if m := x.overBudget(); m != nil && x.Standing == Active && x.TakenBy == "" {
			why += "; " + x.ID + " has used " + m.Text()
		}
	}
	return why
}

// Measured is an act of the coordinator: what the agents of seats have used in the
// windows of wall time.
type Measured struct{ Budgets []BudgetChanged }

func (Measured) act() {}

// countTools returns the tool calls of a reply, of a seat with a Budget.
func (x *Seat) countTools(r endpoint.Reply) int {
	if x.Budget == (Budget{}) {
		return 0
	}
	return max(len(r.Tools), r.ToolRounds, 0)
}
