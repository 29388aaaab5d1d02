package invariant

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
	"github.com/folkmoot/moot/room/kinds"
)

// limited is what the events have said about what is limited.
type limited struct {
	failures int                        // in a row
	pairs    map[string][]time.Duration // of an agent's messages to another, newest last
	duty     duty
}

func (l *limited) init() { *l = limited{pairs: map[string][]time.Duration{}} }

// A duty is what the events of a command still owe: an event of another command must
// not come before it.
type duty struct {
	id, detail string
	met        func(room.Body) bool // nil for no duty
}

// begins reports whether an event is the first one of a command.
func begins(b room.Body) bool {
	switch b.(type) {
	case room.TurnGranted, room.RoundDeclined, room.MessagePosted, room.SeatReady, room.Claimed, room.Resumed, room.BidPosted, room.TurnDrafted, room.PermissionAsked:
		return true
	}
	return false
}

// owed reports the duty with id if e comes before it was met.
func (c *Checker) owed(id string, e step) string {
	if d := c.duty; d.id == id && d.met != nil && !d.met(e.Body) && begins(e.Body) {
		return d.detail
	}
	return ""
}

func (c *Checker) withinTurns(e step) string {
	if b, ok := e.Body.(room.TurnGranted); ok && c.turns >= c.was.limits.MaxTurns {
		return fmt.Sprintf("turn %d is granted, and the limit is %d", b.Turn, c.was.limits.MaxTurns)
	}
	return ""
}

func (c *Checker) withinDuration(e step) string {
	if _, ok := e.Body.(room.TurnGranted); ok && e.Clock >= c.was.limits.MaxDuration {
		return fmt.Sprintf("a turn is granted at %v, and the limit is %v", e.Clock, c.was.limits.MaxDuration)
	}
	return ""
}

func (c *Checker) withinFailures(e step) string {
	if _, ok := e.Body.(room.TurnGranted); ok && c.failures >= c.was.limits.MaxFailures {
		return fmt.Sprintf("a turn is granted after %d failures in a row", c.failures)
	}
	return ""
}

func (c *Checker) countsFailures(e step) string {
	if want := c.failuresAfter(e.Body); e.s.Tally.Failures != want {
		return fmt.Sprintf("the state counts %d failures in a row, and the events %d", e.s.Tally.Failures, want)
	}
	return ""
}

// failuresAfter returns the failures in a row after b: only an answer or a person's
// resumption ends a row.
func (c *Checker) failuresAfter(b room.Body) int {
	n, ends := ending(b)
	switch b.(type) {
	case room.TurnFailed:
		return c.failures + 1
	case room.Resumed:
		return 0
	case room.MessagePosted, room.TurnPassed:
		if ends && c.turn != nil && c.turn.Turn == n {
			return 0
		}
	}
	return c.failures
}

// withinTokens checks that what is used, reserved for calls, and needed for the next
// prompt fits the limits.
func (c *Checker) withinTokens(e step) string {
	b, ok := e.Body.(room.TurnGranted)
	if !ok {
		return ""
	}
	l, reserved := c.was.limits, e.s.Reserved()
	switch {
	case l.MaxTokens > 0 && c.was.tally.Tokens+reserved.Tokens+b.Tokens > l.MaxTokens:
		return fmt.Sprintf("%d tokens are used, %d reserved, the prompt has %d, and the limit is %d", c.was.tally.Tokens, reserved.Tokens, b.Tokens, l.MaxTokens)
	case l.MaxCost > 0 && c.was.tally.Cost+reserved.Cost > l.MaxCost:
		return fmt.Sprintf("a cost of %d is used or reserved, and the limit is %d", c.was.tally.Cost+reserved.Cost, l.MaxCost)
	}
	return ""
}

// charged checks that the end of the work on a turn is charged: what the agent states
// or, where it states nothing possible, at least the estimate of the prompt.
func (c *Checker) charged(e step) string {
	if !c.inFlight() {
		return ""
	}
	var u room.Usage
	switch b := e.Body.(type) {
	case room.MessagePosted:
		if u = b.Usage; b.Turn != c.turn.Turn {
			return ""
		}
	case room.TurnDrafted:
		u = b.Usage
	case room.TurnPassed:
		u = b.Usage
	case room.TurnFailed:
		u = b.Usage
	default:
		return ""
	}
	got := e.s.Tally.Tokens - c.was.tally.Tokens
	least := max(0, c.turn.Tokens)
	if u.Known && u.OutOfRange() == "" {
		least = u.Input + u.Output
	}
	if got < least && e.s.Tally.Tokens < 1<<52 {
		return fmt.Sprintf("%s charges %d tokens, and at least %d are due", e.Body.Type(), got, least)
	}
	return ""
}

// grows checks that no count of what is used ever falls.
func (c *Checker) grows(e step) string {
	was, is := c.was.tally, e.s.Tally
	if is.Tokens < was.Tokens || is.Cost < was.Cost || is.Turns < was.Turns || is.Messages < was.Messages || is.Errors < was.Errors || is.Declined < was.Declined || is.Tokens < 0 || is.Cost < 0 {
		return fmt.Sprintf("%s lowers a count: %+v after %+v", e.Body.Type(), is, was)
	}
	return ""
}

func (c *Checker) cooled(e step) string {
	b, ok := e.Body.(room.TurnGranted)
	if !ok || b.Record == nil {
		return ""
	}
	x := c.seatOf(b.Participant)
	if x.Cooldown > 0 && x.last > 0 && b.Turn-x.last <= x.Cooldown && !urgent(e.s, b.Participant) && b.Exploration == nil {
		return fmt.Sprintf("%s gets turn %d after turn %d, and its cooldown is %d", b.Participant, b.Turn, x.last, x.Cooldown)
	}
	return ""
}

// urgent reports whether an urgent message waits for a seat.
func urgent(s *room.State, id string) bool {
	x, _ := s.Seat(id)
	for _, m := range x.Inbox {
		if m.Urgent {
			return true
		}
	}
	return false
}

// pausesBetweenDeclines checks that a policy that declines is not asked without an end.
func (c *Checker) pausesBetweenDeclines(e step) string {
	b, ok := e.Body.(room.RoundDeclined)
	if ok && b.Record.Decision > 0 && (b.Retry < 100*time.Millisecond || e.s.RetryAt < e.Clock+100*time.Millisecond) {
		return fmt.Sprintf("the policy is asked again after %v", b.Retry)
	}
	return ""
}

func (c *Checker) settles(e step) string { return c.owed("L6", e) }

// withinBudget checks that no agent gets a turn that has used its own budget.
func (c *Checker) withinBudget(e step) string {
	b, ok := e.Body.(room.TurnGranted)
	x := c.seatOf(b.Participant)
	if !ok || x.takenBy != "" {
		return ""
	}
	after, _ := e.s.Seat(b.Participant)
	for _, m := range after.Budgets {
		if m.Level == budget.Used && m.Window != budget.Room {
			return b.Participant + " gets a turn, and has used its budget of a " + m.Window
		}
	}
	switch l := x.Budget.Room; {
	case b.Record != nil && x.MaxTokens > 0 && after.Spent >= x.MaxTokens:
		return fmt.Sprintf("%s gets a turn, and has used %d of %d tokens", x.ID, after.Spent, x.MaxTokens)
	case l.Tokens > 0 && after.Spent+b.Tokens > l.Tokens, l.Turns > 0 && int64(after.Turns) > l.Turns, l.Cost > 0 && after.Cost > l.Cost:
		return b.Participant + " gets a turn, and has used its budget of the room"
	}
	return ""
}

// paired checks that an agent's messages to another are held beyond the rate. Of
// PairBurst messages within the time of one, the next must wait.
func (c *Checker) paired(e step) string {
	b, ok := e.Body.(room.MessagePosted)
	if !ok || !c.side(b) || b.HeldUntil > 0 {
		return ""
	}
	l := c.was.limits
	every := time.Minute / time.Duration(max(1, l.PairRate))
	for _, to := range c.receivers(b.Message) {
		sent := c.pairs[b.Message.From+" "+to]
		if n := len(sent) - l.PairBurst; c.seatOf(to).driven() && n >= 0 && sent[n]+every > e.Clock {
			return fmt.Sprintf("%s sends %s more than %d messages at once", b.Message.From, to, l.PairBurst)
		}
	}
	return ""
}

// side reports whether an agent has posted a message outside its replies.
func (c *Checker) side(b room.MessagePosted) bool {
	m := b.Message
	return b.Turn == 0 && m.By == "" && m.Kind != kinds.CallResult && c.seatOf(m.From).driven()
}

// receivers returns the seats to which a message is delivered.
func (c *Checker) receivers(m room.Message) (ids []string) {
	if c.seat[m.To] != nil {
		ids = append(ids, m.To)
	}
	for _, id := range m.Receivers {
		if c.seat[id] != nil && id != m.To {
			ids = append(ids, id)
		}
	}
	return ids
}

func (c *Checker) granted(e step) string {
	b, ok := e.Body.(room.TurnGranted)
	if !ok {
		return ""
	}
	l, x := c.was.limits, c.seatOf(b.Participant)
	want := l.TurnTimeout
	switch {
	case x.Participant.Timeout > 0:
		want = x.Participant.Timeout
	case x.Kind == policy.Remote, x.Session:
		want = l.RemoteTimeout
	case x.Tools:
		want = l.ToolTurnTimeout
	}
	if b.Timeout != want {
		return fmt.Sprintf("turn %d of %s may take %v, and its limit is %v", b.Turn, x.ID, b.Timeout, want)
	}
	return ""
}

func (c *Checker) withinOutput(e step) string {
	var m room.Message
	switch b := e.Body.(type) {
	case room.MessagePosted:
		if m = b.Message; b.Turn != 0 && c.turn != nil && c.turn.edited || m.Kind == kinds.CallResult {
			return "" // a person wrote it, or it was bounded in its own room
		}
	case room.TurnDrafted:
		m = b.Message
	default:
		return ""
	}
	if most := c.was.limits.MaxOutput; m.By == "" && c.seatOf(m.From).driven() && utf8.RuneCountInString(m.Text) > most {
		return fmt.Sprintf("%s has written more than %d characters", m.From, most)
	}
	return ""
}

// violates checks that a seat is suspended when it has broken its protocol too often.
func (c *Checker) violates(e step) string {
	b, ok := e.Body.(room.Violation)
	if !ok {
		return ""
	}
	if x := c.seatOf(b.Participant); x.standing != room.Active || x.violations > c.was.limits.MaxViolations {
		return fmt.Sprintf("%s, which is %s, has broken its protocol %d times before", x.ID, x.standing, x.violations)
	}
	return ""
}

// learnLimits notes what the checks of limits need to know.
func (c *Checker) learnLimits(e step) {
	c.failures = c.failuresAfter(e.Body)
	if c.duty.met != nil && (c.duty.met(e.Body) || begins(e.Body)) {
		c.duty = duty{}
	}
	switch b := e.Body.(type) {
	case room.LimitsChanged:
		clear(c.pairs)
	case room.RoundDeclined:
		if e.s.Tally.Declines >= e.s.Limits.MaxDeclines && b.Record.Decision > 0 && !e.s.CallsOpen() && !e.s.Mail.Deliveries.Holding() {
			c.duty = duty{"L6", fmt.Sprintf("%d rounds were declined in a row, and the room goes on", e.s.Tally.Declines), settled}
		}
	case room.MessagePosted:
		if c.side(b) {
			c.learnPair(e, b)
		}
	}
}

// settled reports whether b follows the last decline: the end, or the first message.
func settled(b room.Body) bool {
	m, posted := b.(room.MessagePosted)
	_, completed := b.(room.Completed)
	return completed || posted && m.Opening
}

func (c *Checker) learnPair(e step, b room.MessagePosted) {
	if c.turn == nil || c.turn.drafted || c.turn.Participant != b.Message.From {
		c.seatOf(b.Message.From).sides++
	}
	for _, to := range c.receivers(b.Message) {
		key := b.Message.From + " " + to
		sent := append(c.pairs[key], e.Clock)
		c.pairs[key] = slices.Clone(sent[max(0, len(sent)-c.was.limits.PairBurst):])
	}
}
