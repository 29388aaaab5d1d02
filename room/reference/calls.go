package reference

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// The rules of calls, as the model states them.

// A Call is a call. Its State is that of the newest event.
type Call struct {
	room.Call
	late, posted bool // its time was over; a message has its result
	output       string
}

func (m *Model) call(id string) *Call {
	if i := slices.IndexFunc(m.Calls, func(c *Call) bool { return c.ID == id }); i >= 0 {
		return m.Calls[i]
	}
	return nil
}

// open returns the calls without a result.
func (m *Model) OpenCalls() (list []*Call) {
	for _, c := range m.Calls {
		if c.State.Open() {
			list = append(list, c)
		}
	}
	return list
}

// reserved returns what the open calls may still use.
func (m *Model) reserved() (sum calls.Budget) {
	for _, c := range m.OpenCalls() {
		sum.Tokens, sum.Cost, sum.Calls = sum.Tokens+c.Reserved.Tokens, sum.Cost+c.Reserved.Cost, sum.Calls+c.Reserved.Calls
	}
	return sum
}

// waiting reports whether the agent that has the turn waits for a call.
func (m *Model) waiting(t *Turn) bool {
	return slices.ContainsFunc(m.OpenCalls(), func(c *Call) bool { return c.WaitUntil > 0 && c.Turn == t.Turn })
}

// mayCall states who may call agents: an agent of this device with that right, in its
// turn, or at any time if it is a running session.
func (m *Model) mayCall(x *Seat) bool {
	if x == nil || x.Kind != policy.Local || x.Calls == "" || x.standing != room.Active || x.takenBy != "" || m.Phase != room.PhaseLive {
		return false
	}
	return x.Session || m.Turn != nil && m.Turn.Seat == x && m.Turn.Draft == nil
}

func (m *Model) callAgents(do room.CallAgents) bool {
	x, t := m.seat(m.actor), m.Turn
	if !m.mayCall(x) {
		return false
	}
	list := m.callsOf(x, do.Calls, "")
	switch {
	case list == nil:
		return false
	case x.Calls == room.CallsAllow:
		return m.startCalls(list)
	case t == nil || t.Seat != x || t.Draft != nil || len(t.Requests) == 8: // nobody can be asked
		return false
	}
	return m.askForCalls(do)
}

// askForCalls asks a person once for all calls of a request.
func (m *Model) askForCalls(do room.CallAgents) bool {
	t := m.Turn
	t.asked++
	e := room.PermissionAsked{Turn: t.Turn, Participant: t.Seat.ID, ID: fmt.Sprintf("%d.%d", t.Turn, t.asked), Timeout: m.Limits.PermissionTimeout, Calls: do.Calls}
	e.Permission.Kind = room.ActionCall
	m.holding(func() { t.Requests, t.since = append(t.Requests, e), append(t.since, max(m.clock, m.now)) })
	m.note(e)
	if do.Absent {
		m.settle(e.ID, room.PermissionAnswered{By: "room"})
	}
	return true
}

// callsOf returns the calls of a request, all or none.
func (m *Model) callsOf(x *Seat, list []calls.Args, permit string) (out []*Call) {
	tokens, cost, count := m.rest(x)
	for i, a := range list {
		y, timeout := m.callable(a.Agent), 300*time.Second
		if a.TimeoutMS > 0 {
			timeout = time.Duration(a.TimeoutMS) * time.Millisecond
		}
		timeout = min(timeout, m.Limits.MaxDuration-m.now)
		if y == nil || a.Task == "" || y.ID == x.ID || x.Profile != "" && y.Profile == x.Profile || timeout < time.Second || count < 1 {
			return nil
		}
		c := &Call{Call: room.Call{ID: fmt.Sprintf("c%d", m.called+len(m.OpenCalls())+i+1), Caller: x.ID, Agent: y.ID, Depth: 1, Started: m.now, Timeout: timeout, State: calls.Submitted, Permit: permit}}
		if m.Turn != nil && m.Turn.Draft == nil && m.Turn.Seat == x {
			c.Turn = m.Turn.Turn
		}
		if a.WaitMS == nil {
			c.WaitUntil = m.now + timeout
		} else if *a.WaitMS > 0 {
			c.WaitUntil = m.now + min(timeout, time.Duration(*a.WaitMS)*time.Millisecond)
		}
		if c.Reserved = share(tokens, cost, count, a); c.Reserved.Tokens == 0 || cost >= 0 && c.Reserved.Cost == 0 {
			return nil
		}
		c.Nested = a.AllowNested && c.Reserved.Calls > 1 && y.Calls != ""
		if count -= c.Reserved.Calls; tokens >= 0 {
			tokens -= c.Reserved.Tokens
		}
		if cost >= 0 {
			cost -= c.Reserved.Cost
		}
		out = append(out, c)
	}
	return out
}

// share states what a call gets of what is left. Without a limit, tokens and cost are
// negative.
func share(tokens, cost int64, count int, a calls.Args) calls.Budget {
	b := calls.Budget{Tokens: a.MaxTokens, Calls: 1}
	if a.AllowNested {
		b.Calls += (count - 1) / 4
	}
	switch {
	case a.MaxTokens == 0 && tokens < 0:
		b.Tokens = 200_000
	case a.MaxTokens == 0 && tokens >= 2000:
		b.Tokens = tokens / 4
	case tokens >= 0 && a.MaxTokens > tokens:
		b.Tokens = 0
	}
	if cost >= 0 && tokens > 0 {
		b.Cost = cost * b.Tokens / tokens
	} else if cost >= 0 {
		b.Cost = cost / 4
	}
	return b
}

// rest states what is left for calls of a seat: nothing that is spent, that is reserved
// for other calls, or that the prompt of the open turn costs.
func (m *Model) rest(x *Seat) (tokens, cost int64, count int) {
	sum, prompt, price := m.reserved(), int64(0), int64(0)
	if t := m.Turn; t != nil && t.Draft == nil {
		prompt, price = t.Tokens, t.Tokens*t.Seat.Price.Input/1_000_000
	}
	tokens, cost, count = -1, -1, m.Limits.MaxCalls-m.called-sum.Calls
	if m.Limits.MaxTokens > 0 {
		tokens = max(0, m.Limits.MaxTokens-m.Tally.Tokens-sum.Tokens-prompt)
	}
	if m.Limits.MaxCost > 0 {
		cost = max(0, m.Limits.MaxCost-m.Tally.Cost-sum.Cost-price)
	}
	if x.MaxTokens > 0 {
		own := x.MaxTokens - x.spent - prompt
		for _, c := range m.OpenCalls() {
			if c.Caller == x.ID {
				own -= c.Reserved.Tokens
			}
		}
		if own = max(0, own); tokens < 0 || own < tokens {
			tokens = own
		}
	}
	tokens, count = m.bounded(x, tokens, count)
	return tokens, cost, count
}

// callable returns the agent with that id that can be called.
func (m *Model) callable(id string) *room.Participant {
	if y := m.seat(id); y != nil {
		if y.Kind == policy.Local && !y.Session && y.standing == room.Active && y.takenBy == "" && !y.over() {
			return &y.Participant
		}
		return nil
	}
	if i := slices.IndexFunc(m.Agents, func(p room.Participant) bool { return p.ID == id }); i >= 0 {
		return &m.Agents[i]
	}
	return nil
}

// startCalls starts calls. Each is a step of the loop guards.
func (m *Model) startCalls(list []*Call) bool {
	for _, c := range list {
		m.note(room.CallStarted{Call: c.Call})
		m.holding(func() { m.Calls = append(m.Calls, c) })
		if x := m.seat(c.Caller); x.Budget != (room.Budget{}) {
			x.made++
		}
		m.step(c.Caller, c.Agent)
	}
	return true
}

// permitCalls starts the calls that a person has allowed, if they can still be made.
func (m *Model) permitCalls(r room.PermissionAsked) bool {
	x := m.Turn.Seat
	var list []*Call
	if m.mayCall(x) {
		list = m.callsOf(x, r.Calls, r.ID)
	}
	if list == nil {
		return m.settle(r.ID, room.PermissionAnswered{By: endpoint.Unasked})
	}
	return m.settle(r.ID, room.PermissionAnswered{Allowed: true, By: m.actor}) && m.startCalls(list)
}

// change notes how an open call stands now.
func (m *Model) change(c *Call, do func()) bool {
	before := c.Call
	m.holding(do)
	return before.State == c.State && before.Asked == c.Asked && before.Text == c.Text && before.Canceling == c.Canceling && before.WaitUntil == c.WaitUntil ||
		m.note(room.CallChanged{Call: c.ID, State: c.State, Asked: c.Asked, Text: c.Text, Canceling: c.Canceling, WaitUntil: c.WaitUntil})
}

func (m *Model) progressed(do room.CallProgressed) bool {
	c := m.call(do.Call)
	if c == nil || !c.State.Open() {
		return false
	}
	if !do.State.Open() || c.State == do.State && c.Asked == do.Asked && c.Text == do.Text {
		return true
	}
	asks := do.Asked == c.Caller // its caller cannot wait for its own answer, nor for others in that turn
	m.change(c, func() {
		if c.State, c.Asked, c.Text = do.State, do.Asked, do.Text; asks {
			c.WaitUntil = 0
		}
	})
	for _, o := range m.OpenCalls() {
		if asks && o.Caller == c.Caller && o.Turn == c.Turn {
			m.change(o, func() { o.WaitUntil = 0 })
		}
	}
	return true
}

// returned ends a call: its budget is free again, and what it used is spent.
func (m *Model) returned(do room.CallReturned) bool {
	c := m.call(do.Call)
	if c == nil || !c.State.Open() {
		return false
	}
	state := do.State
	switch {
	case state.Open(), c.late && state != calls.Completed:
		state = calls.Failed
	case c.Canceling != "" && state != calls.Completed:
		state = calls.Canceled
	}
	r := do.Result
	r.Agent, r.Success = c.Agent, state == calls.Completed
	c.posted, c.output = c.WaitUntil == 0 && (m.Phase == room.PhaseLive || m.Phase == room.PhasePaused), do.Result.Output
	m.note(room.CallEnded{Call: c.ID, State: state, Posted: c.posted, Result: r})
	m.news = m.Seq
	m.holding(func() { c.State = state })
	m.step(c.Agent, c.Caller)
	x := m.seat(c.Caller)
	x.spent, m.Tally.Tokens, m.Tally.Cost = x.spent+r.Tokens, m.Tally.Tokens+r.Tokens, m.Tally.Cost+r.Cost
	m.Tally.Estimated = m.Tally.Estimated || r.Estimated
	m.called += 1 + r.Calls
	return !c.posted || m.postResult(c)
}

// postResult posts the result of a call as a message to its caller. It counts as a
// message, and is neither a word of the agent nor of a person.
func (m *Model) postResult(c *Call) bool {
	text := c.output
	if text == "" {
		text = "the call " + c.ID + " of " + c.Agent + " has " + string(c.State)
	}
	m.note(room.MessagePosted{Message: room.Message{From: c.Agent, Text: text, Source: "agent"}, Auto: true})
	c.posted, m.news, m.Tally.Messages = true, m.Seq, m.Tally.Messages+1
	return true
}

func (m *Model) await(do room.AwaitCall) bool {
	c := m.call(do.Call)
	switch {
	case c == nil || c.Caller != m.actor:
		return false
	case c.State.Open():
		return m.change(c, func() {
			if c.WaitUntil = 0; do.Wait > 0 {
				c.WaitUntil = min(m.now+do.Wait, c.Started+c.Timeout)
			}
		})
	}
	return !do.Lost || c.posted || m.Phase != room.PhaseLive && m.Phase != room.PhasePaused || m.postResult(c)
}

func (m *Model) cancelCall(do room.CancelCall, control bool) bool {
	c := m.call(do.Call)
	if c == nil || c.Caller != m.actor && !control {
		return false
	}
	return !c.State.Open() || c.Canceling != "" || m.change(c, func() { c.Canceling = "yes" })
}

// callsDue ends waits and calls whose time is over.
func (m *Model) callsDue() (due bool) {
	for _, c := range m.OpenCalls() {
		end, n := c.Started+c.Timeout, len(m.out)
		m.change(c, func() {
			if m.now >= c.WaitUntil && c.WaitUntil < end {
				c.WaitUntil = 0
			}
			if m.now >= end+time.Second && c.Canceling == "" {
				c.Canceling, c.late = "yes", true
			}
		})
		due = due || len(m.out) > n
	}
	return due
}

// callsUntil returns when callsDue has something to do.
func (m *Model) callsUntil(until time.Duration) time.Duration {
	for _, c := range m.OpenCalls() {
		if c.WaitUntil > 0 && c.WaitUntil < c.Started+c.Timeout {
			until = min(until, c.WaitUntil)
		}
		if c.Canceling == "" {
			until = min(until, c.Started+c.Timeout+time.Second)
		}
	}
	return until
}

// cancelCalls cancels the calls that nobody has use for after the events of a command:
// all when the room has ended, those of a seat that may not speak any more, and those
// for which the caller waited in a turn that failed or that a person interrupted. waited
// are the turns in which callers waited before the command.
func (m *Model) cancelCalls(waited map[*Call]int) {
	has := func(types ...string) bool {
		return slices.ContainsFunc(m.out, func(b room.Body) bool { return slices.Contains(types, b.Type()) })
	}
	ended, pauses := has("room.stopped", "room.completed", "room.error"), has("room.paused", "room.claimed")
	for _, b := range slices.Clone(m.out) {
		for _, c := range m.OpenCalls() {
			lost := ended
			switch b := b.(type) {
			case room.TurnInterrupted:
				lost = lost || !pauses && waited[c] == b.Turn
			case room.TurnFailed:
				lost = lost || waited[c] == b.Turn
			}
			if lost && c.Canceling == "" {
				m.change(c, func() { c.Canceling, c.WaitUntil = "yes", 0 })
			}
		}
	}
	for _, c := range m.OpenCalls() {
		if x := m.seat(c.Caller); x.standing != room.Active && c.Canceling == "" {
			m.change(c, func() { c.Canceling, c.WaitUntil = "yes", 0 })
		}
	}
}

// callsHold reports whether the open calls leave too little for the next prompt.
func (m *Model) callsHold() bool {
	sum, price, prompt := m.reserved(), int64(0), int64(cmp.Or(m.Context.Tokens, 8000))
	for _, x := range m.Seats {
		price = max(price, prompt*x.Price.Input/1_000_000)
	}
	l := m.Limits
	return l.MaxTokens > 0 && m.Tally.Tokens+sum.Tokens+prompt > l.MaxTokens || l.MaxCost > 0 && m.Tally.Cost+sum.Cost+price > l.MaxCost
}

// callEffects lists the calls in progress.
func (m *Model) callEffects() string {
	out := ""
	for _, c := range m.OpenCalls() {
		if c.Canceling != "" {
			out += ", cancel " + c.ID
		} else if m.Phase == room.PhaseLive {
			out += ", call " + c.ID
		}
	}
	return out
}

// statedCall returns an event about a call with the fields that the model states.
func statedCall(b room.Body) room.Body {
	switch b := b.(type) {
	case room.CallStarted:
		c := b.Call
		return room.CallStarted{Call: room.Call{
			ID: c.ID, Caller: c.Caller, Agent: c.Agent, Turn: c.Turn, Depth: c.Depth, Nested: c.Nested, Permit: c.Permit,
			Started: c.Started, Timeout: c.Timeout, Reserved: c.Reserved, State: c.State, WaitUntil: c.WaitUntil,
		}}
	case room.CallChanged:
		if b.Canceling != "" {
			b.Canceling = "yes"
		}
		return b
	case room.CallEnded:
		r := b.Result
		b.Result = calls.Result{Agent: r.Agent, Success: r.Success, Output: r.Output, Tokens: r.Tokens, Cost: r.Cost, Calls: r.Calls, Estimated: r.Estimated}
		return b
	}
	return b
}
