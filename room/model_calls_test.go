package room_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// The rules of calls, as the model states them.

// A modelCall is a call. Its State is that of the newest event.
type modelCall struct {
	room.Call
	late, posted bool // its time was over; a message has its result
	output       string
}

func (m *model) call(id string) *modelCall {
	if i := slices.IndexFunc(m.calls, func(c *modelCall) bool { return c.ID == id }); i >= 0 {
		return m.calls[i]
	}
	return nil
}

// open returns the calls without a result.
func (m *model) open() (list []*modelCall) {
	for _, c := range m.calls {
		if c.State.Open() {
			list = append(list, c)
		}
	}
	return list
}

// reserved returns what the open calls may still use.
func (m *model) reserved() (sum calls.Budget) {
	for _, c := range m.open() {
		sum.Tokens, sum.Cost, sum.Calls = sum.Tokens+c.Reserved.Tokens, sum.Cost+c.Reserved.Cost, sum.Calls+c.Reserved.Calls
	}
	return sum
}

// waiting reports whether the agent that has the turn waits for a call.
func (m *model) waiting(t *modelTurn) bool {
	return slices.ContainsFunc(m.open(), func(c *modelCall) bool { return c.WaitUntil > 0 && c.Turn == t.Turn })
}

// mayCall states who may call agents: an agent of this device with that right, in its
// turn, or at any time if it is a running session.
func (m *model) mayCall(x *modelSeat) bool {
	if x == nil || x.Kind != policy.Local || x.Calls == "" || x.standing != room.Active || x.takenBy != "" || m.phase != room.PhaseLive {
		return false
	}
	return x.Session || m.turn != nil && m.turn.seat == x && m.turn.draft == nil
}

func (m *model) callAgents(do room.CallAgents) bool {
	x, t := m.seat(m.actor), m.turn
	if !m.mayCall(x) {
		return false
	}
	list := m.callsOf(x, do.Calls, "")
	switch {
	case list == nil:
		return false
	case x.Calls == room.CallsAllow:
		return m.startCalls(list)
	case t == nil || t.seat != x || t.draft != nil || len(t.open) == 8: // nobody can be asked
		return false
	}
	return m.askForCalls(do)
}

// askForCalls asks a person once for all calls of a request.
func (m *model) askForCalls(do room.CallAgents) bool {
	t := m.turn
	t.asked++
	e := room.PermissionAsked{Turn: t.Turn, Participant: t.seat.ID, ID: fmt.Sprintf("%d.%d", t.Turn, t.asked), Timeout: permissionTimeout, Calls: do.Calls}
	e.Permission.Kind = room.ActionCall
	m.holding(func() { t.open, t.since = append(t.open, e), append(t.since, max(m.clock, m.now)) })
	m.note(e)
	if do.Absent {
		m.settle(e.ID, room.PermissionAnswered{By: "room"})
	}
	return true
}

// callsOf returns the calls of a request, all or none.
func (m *model) callsOf(x *modelSeat, list []calls.Args, permit string) (out []*modelCall) {
	tokens, cost, count := m.rest(x)
	for i, a := range list {
		y, timeout := m.callable(a.Agent), 300*time.Second
		if a.TimeoutMS > 0 {
			timeout = time.Duration(a.TimeoutMS) * time.Millisecond
		}
		timeout = min(timeout, m.limits.MaxDuration-m.now)
		if y == nil || a.Task == "" || y.ID == x.ID || x.Profile != "" && y.Profile == x.Profile || timeout < time.Second || count < 1 {
			return nil
		}
		c := &modelCall{Call: room.Call{ID: fmt.Sprintf("c%d", m.called+len(m.open())+i+1), Caller: x.ID, Agent: y.ID, Depth: 1, Started: m.now, Timeout: timeout, State: calls.Submitted, Permit: permit}}
		if m.turn != nil && m.turn.draft == nil && m.turn.seat == x {
			c.Turn = m.turn.Turn
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
func (m *model) rest(x *modelSeat) (tokens, cost int64, count int) {
	sum, prompt, price := m.reserved(), int64(0), int64(0)
	if t := m.turn; t != nil && t.draft == nil {
		prompt, price = t.Tokens, t.Tokens*t.seat.Price.Input/1_000_000
	}
	tokens, cost, count = -1, -1, m.limits.MaxCalls-m.called-sum.Calls
	if m.limits.MaxTokens > 0 {
		tokens = max(0, m.limits.MaxTokens-m.tally.Tokens-sum.Tokens-prompt)
	}
	if m.limits.MaxCost > 0 {
		cost = max(0, m.limits.MaxCost-m.tally.Cost-sum.Cost-price)
	}
	if x.MaxTokens > 0 {
		own := x.MaxTokens - x.spent - prompt
		for _, c := range m.open() {
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
func (m *model) callable(id string) *room.Participant {
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
func (m *model) startCalls(list []*modelCall) bool {
	for _, c := range list {
		m.note(room.CallStarted{Call: c.Call})
		m.holding(func() { m.calls = append(m.calls, c) })
		if x := m.seat(c.Caller); x.Budget != (room.Budget{}) {
			x.made++
		}
		m.step(c.Caller, c.Agent)
	}
	return true
}

// permitCalls starts the calls that a person has allowed, if they can still be made.
func (m *model) permitCalls(r room.PermissionAsked) bool {
	x := m.turn.seat
	var list []*modelCall
	if m.mayCall(x) {
		list = m.callsOf(x, r.Calls, r.ID)
	}
	if list == nil {
		return m.settle(r.ID, room.PermissionAnswered{By: endpoint.Unasked})
	}
	return m.settle(r.ID, room.PermissionAnswered{Allowed: true, By: m.actor}) && m.startCalls(list)
}

// change notes how an open call stands now.
func (m *model) change(c *modelCall, do func()) bool {
	before := c.Call
	m.holding(do)
	return before.State == c.State && before.Asked == c.Asked && before.Text == c.Text && before.Canceling == c.Canceling && before.WaitUntil == c.WaitUntil ||
		m.note(room.CallChanged{Call: c.ID, State: c.State, Asked: c.Asked, Text: c.Text, Canceling: c.Canceling, WaitUntil: c.WaitUntil})
}

func (m *model) progressed(do room.CallProgressed) bool {
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
	for _, o := range m.open() {
		if asks && o.Caller == c.Caller && o.Turn == c.Turn {
			m.change(o, func() { o.WaitUntil = 0 })
		}
	}
	return true
}

// returned ends a call: its budget is free again, and what it used is spent.
func (m *model) returned(do room.CallReturned) bool {
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
	c.posted, c.output = c.WaitUntil == 0 && (m.phase == room.PhaseLive || m.phase == room.PhasePaused), do.Result.Output
	m.note(room.CallEnded{Call: c.ID, State: state, Posted: c.posted, Result: r})
	m.news = m.seq
	m.holding(func() { c.State = state })
	m.step(c.Agent, c.Caller)
	x := m.seat(c.Caller)
	x.spent, m.tally.Tokens, m.tally.Cost = x.spent+r.Tokens, m.tally.Tokens+r.Tokens, m.tally.Cost+r.Cost
	m.tally.Estimated = m.tally.Estimated || r.Estimated
	m.called += 1 + r.Calls
	return !c.posted || m.postResult(c)
}

// postResult posts the result of a call as a message to its caller. It counts as a
// message, and is neither a word of the agent nor of a person.
func (m *model) postResult(c *modelCall) bool {
	text := c.output
	if text == "" {
		text = "the call " + c.ID + " of " + c.Agent + " has " + string(c.State)
	}
	m.note(room.MessagePosted{Message: room.Message{From: c.Agent, Text: text, Source: "agent"}, Auto: true})
	c.posted, m.news, m.tally.Messages = true, m.seq, m.tally.Messages+1
	return true
}

func (m *model) await(do room.AwaitCall) bool {
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
	return !do.Lost || c.posted || m.phase != room.PhaseLive && m.phase != room.PhasePaused || m.postResult(c)
}

func (m *model) cancelCall(do room.CancelCall, control bool) bool {
	c := m.call(do.Call)
	if c == nil || c.Caller != m.actor && !control {
		return false
	}
	return !c.State.Open() || c.Canceling != "" || m.change(c, func() { c.Canceling = "yes" })
}

// callsDue ends waits and calls whose time is over.
func (m *model) callsDue() (due bool) {
	for _, c := range m.open() {
		end, n := c.Started+c.Timeout, len(m.out)
		m.change(c, func() {
			if m.now >= c.WaitUntil && c.WaitUntil < end {
				c.WaitUntil = 0
			}
			if m.now > end && c.Canceling == "" {
				c.Canceling, c.late = "yes", true
			}
		})
		due = due || len(m.out) > n
	}
	return due
}

// callsUntil returns when callsDue has something to do.
func (m *model) callsUntil(until time.Duration) time.Duration {
	for _, c := range m.open() {
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
func (m *model) cancelCalls(waited map[*modelCall]int) {
	has := func(types ...string) bool {
		return slices.ContainsFunc(m.out, func(b room.Body) bool { return slices.Contains(types, b.Type()) })
	}
	ended, pauses := has("room.stopped", "room.completed", "room.error"), has("room.paused", "room.claimed")
	for _, b := range slices.Clone(m.out) {
		for _, c := range m.open() {
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
	for _, c := range m.open() {
		if x := m.seat(c.Caller); x.standing != room.Active && c.Canceling == "" {
			m.change(c, func() { c.Canceling, c.WaitUntil = "yes", 0 })
		}
	}
}

// callsHold reports whether the open calls leave too little for the next prompt.
func (m *model) callsHold() bool {
	sum, price := m.reserved(), int64(0)
	for _, x := range m.seats {
		price = max(price, 8000*x.Price.Input/1_000_000)
	}
	l := m.limits
	return l.MaxTokens > 0 && m.tally.Tokens+sum.Tokens+8000 > l.MaxTokens || l.MaxCost > 0 && m.tally.Cost+sum.Cost+price > l.MaxCost
}

// callEffects lists the calls in progress.
func (m *model) callEffects() string {
	out := ""
	for _, c := range m.open() {
		if c.Canceling != "" {
			out += ", cancel " + c.ID
		} else if m.phase == room.PhaseLive {
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

// withCalls lets the agents of a room call each other.
func withCalls(rt *rapid.T, o *room.Open) {
	for i := range o.Participants {
		p := &o.Participants[i]
		if rapid.IntRange(0, 3).Draw(rt, "local") > 0 {
			p.Kind, p.Device, p.Starts = policy.Local, "", false
		}
		p.Calls = rapid.SampledFrom([]string{room.CallsAllow, room.CallsAllow, room.CallsAllow, room.CallsAsk, room.CallsAsk, ""}).Draw(rt, "calls")
		p.MaxTokens *= rapid.SampledFrom([]int64{0, 1, 100}).Draw(rt, "own")
	}
	o.Participants[0].Profile = rapid.SampledFrom([]string{"", "", "", "p"}).Draw(rt, "profile")
	o.Spec.Agents = []room.Participant{{ID: "coder", Kind: policy.Local, Profile: "p", Calls: room.CallsAllow}}
	l := &o.Spec.Limits
	l.MaxTurns, l.MaxCalls = 20, rapid.IntRange(1, 9).Draw(rt, "maxCalls")
	l.MaxTokens = rapid.SampledFrom([]int64{0, 0, 33, 2050, 30_000, 1_000_000}).Draw(rt, "maxTokens")
	l.MaxCost = rapid.SampledFrom([]int64{0, 0, 0, 100, 200_000}).Draw(rt, "maxCost")
}

// drawCall draws a command about calls, or false if the room has none.
func drawCall(rt *rapid.T, m *model) (c room.Command, ok bool) {
	if m.Agents == nil || m.phase != room.PhaseLive && len(m.open()) == 0 || rapid.IntRange(0, 2).Draw(rt, "call") == 0 {
		return c, false
	}
	draw := func(list ...string) string { return rapid.SampledFrom(list).Draw(rt, "x") }
	seldom := func() bool { return rapid.IntRange(0, 9).Draw(rt, "seldom") == 0 }
	if m.turn == nil && m.phase == room.PhaseLive && draw("speak", "speak", "other") == "speak" {
		return speak(m, draw("a", "b")), true
	}
	if draw("call", "other") == "call" && (m.turn != nil || seldom()) {
		by := draw("a", "b", "c", "me")
		if m.turn != nil && !seldom() {
			by = m.turn.Participant
		}
		do := room.CallAgents{Absent: seldom()}
		for range rapid.SampledFrom([]int{1, 1, 1, 1, 2, 2, 0}).Draw(rt, "how many") {
			a := calls.Args{Agent: draw(cmp.Or(map[string]string{"a": "b"}[by], "a"), "coder"), Task: "look"}
			switch rapid.IntRange(0, 15).Draw(rt, "odd") {
			case 0:
				a.Agent = draw("a", "c", "me", "ghost")
			case 1:
				a.Task = ""
			case 2:
				a.TimeoutMS = 500
			case 3:
				a.MaxTokens = 100_000
			}
			a.MaxTokens = max(a.MaxTokens, rapid.SampledFrom([]int64{0, 0, 3, 600}).Draw(rt, "tokens"))
			a.TimeoutMS = max(a.TimeoutMS, rapid.SampledFrom([]int64{0, 20_000, 45_000, 700_000}).Draw(rt, "timeout"))
			a.WaitMS = rapid.SampledFrom([]*int64{nil, ptr(int64(0)), ptr(int64(0)), ptr(int64(30_000))}).Draw(rt, "wait")
			a.AllowNested = rapid.Bool().Draw(rt, "nested")
			do.Calls = append(do.Calls, a)
		}
		return room.Command{Actor: by, Do: do}, true
	}
	if len(m.calls) == 0 {
		return c, false
	}
	of := rapid.SampledFrom(m.calls).Draw(rt, "of")
	if open := m.open(); len(open) > 0 && !seldom() {
		of = rapid.SampledFrom(open).Draw(rt, "of")
	}
	id, by := of.ID, of.Caller
	if seldom() {
		id, by = draw(id, "c99"), draw("a", "b", "me", "host")
	}
	state := rapid.SampledFrom([]calls.State{calls.Working, calls.InputRequired, calls.Completed, calls.Completed, calls.Failed, calls.Rejected}).Draw(rt, "state")
	switch draw("progress", "return", "await", "cancel") {
	case "progress":
		return room.Command{Actor: room.ActorRoom, Do: room.CallProgressed{Call: id, State: state, Asked: draw("", "owner", of.Caller), Text: draw("", "why?")}}, true
	case "return":
		r := calls.Result{Output: draw("done", "done", ""), Tokens: rapid.SampledFrom([]int64{0, of.Reserved.Tokens / 2, of.Reserved.Tokens}).Draw(rt, "tokens"), Cost: of.Reserved.Cost / 3, Estimated: seldom()}
		r.Calls = rapid.SampledFrom([]int{0, of.Reserved.Calls - 1}).Draw(rt, "below")
		return room.Command{Actor: room.ActorRoom, Do: room.CallReturned{Call: id, State: state, Result: r}}, true
	case "await":
		wait := rapid.SampledFrom([]time.Duration{0, 10 * time.Second, time.Hour}).Draw(rt, "wait")
		return room.Command{Actor: by, Do: room.AwaitCall{Call: id, Wait: wait, Lost: rapid.Bool().Draw(rt, "lost")}}, true
	}
	return room.Command{Actor: by, Do: room.CancelCall{Call: id, Reason: strings.Repeat("x", rapid.IntRange(0, 1).Draw(rt, "reason"))}}, true
}
