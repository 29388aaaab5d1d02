// Package budget measures what agents use against the budgets of their seats. It is
// pure: the caller gives it the charges and the time.
//
// The hour and the day are sliding windows: a charge counts for that long after it was
// made. A charge from a time to come counts too, so that a clock that is set back frees
// nothing.
package budget

import (
	"slices"
	"strconv"
	"time"

	"github.com/folkmoot/moot/internal/human"
)

// A Budget limits what one seat may use. The hour and the day are sliding windows
// of wall time, in which the agent of the seat is counted over all rooms. The room
// is the time since the room was opened.
type Budget struct {
	Hour Amounts `json:"hour,omitzero"`
	Day  Amounts `json:"day,omitzero"`
	Room Amounts `json:"room,omitzero"`
}

// Amounts are what an agent has used or, in a [Budget], may use. In a budget 0 is no
// limit.
type Amounts struct {
	Tokens    int64 `json:"tokens,omitempty"`
	Cost      int64 `json:"cost,omitempty"` // in millionths, see room.Price
	Turns     int64 `json:"turns,omitempty"`
	Calls     int64 `json:"calls,omitempty"` // of other agents
	ToolCalls int64 `json:"tool_calls,omitempty"`
}

// Windows of a Budget.
const (
	Hour = "hour"
	Day  = "day"
	Room = "room"
)

// Levels of a budget.
const (
	Near = "near" // nearShare percent are used
	Used = "used" // the seat gets no turn
	Free = "free" // neither, after one of them
)

// nearShare is the percentage of a budget from which people are told.
const nearShare = 80

// A Window is a window of wall time with its limits.
type Window struct {
	Name   string // Hour or Day
	Length time.Duration
	Limits Amounts
}

// Longest is the length of the longest window of wall time.
const Longest = 24 * time.Hour

// Windows returns the windows of wall time in which b has a limit.
func (b Budget) Windows() (windows []Window) {
	for _, w := range []Window{{Hour, time.Hour, b.Hour}, {Day, Longest, b.Day}} {
		if w.Limits != (Amounts{}) {
			windows = append(windows, w)
		}
	}
	return windows
}

// A figure is one number of Amounts, by its name in room.yaml.
type figure struct {
	name string
	of   func(*Amounts) *int64
}

// figures are the numbers of Amounts.
var figures = []figure{
	{"tokens", func(a *Amounts) *int64 { return &a.Tokens }},
	{"cost", func(a *Amounts) *int64 { return &a.Cost }},
	{"turns", func(a *Amounts) *int64 { return &a.Turns }},
	{"calls", func(a *Amounts) *int64 { return &a.Calls }},
	{"toolCalls", func(a *Amounts) *int64 { return &a.ToolCalls }},
}

// maxSum is the largest amount. Sums stop there instead of overflowing.
const maxSum = 1 << 52

// Plus returns the sums of a and b.
func (a Amounts) Plus(b Amounts) Amounts {
	for _, f := range figures {
		sum := f.of(&a)
		*sum = min(*sum+min(max(0, *f.of(&b)), maxSum), maxSum)
	}
	return a
}

// A Charge is what one request to an agent has used, or one call by it. One
// that is Open is under way: its amounts are estimates.
type Charge struct {
	ID    string // of the request; what has the same id is charged once
	Agent string // the same in all rooms
	Room  string
	Turn  int
	At    time.Time
	Amounts
	Estimated bool // part of Tokens or Cost is an estimate
	Open      bool
}

// A Mark says how far a seat has used a budget. Each window has at most one:
// that of the figure which keeps the seat from a turn for the longest time or, if none
// does, of which the largest share is used.
type Mark struct {
	Window    string    `json:"window"` // Hour, Day or Room
	Level     string    `json:"level"`  // Near, Used or Free
	What      string    `json:"what"`   // tokens, cost, turns, calls or toolCalls
	Used      int64     `json:"used"`
	Limit     int64     `json:"limit"`
	Share     int64     `json:"share"`               // percent
	Next      int64     `json:"next,omitempty"`      // estimate of the prompt that would pass Limit
	Estimated bool      `json:"estimated,omitempty"` // part of Used is an estimate
	Until     time.Time `json:"until,omitzero"`      // when the seat may speak again; zero is unknown or never
}

// Measure returns the mark of a window that ends at now; Level is Free if
// less than nearShare is used. charges are those of the agent, in any order. Those
// from before the window are left out; those after now count, so that a clock that
// was set back frees nothing. next is the estimate of the next prompt, zero if it is
// not known.
func (w Window) Measure(charges []Charge, now time.Time, next Amounts) Mark {
	within := w.Within(charges, now)
	slices.SortStableFunc(within, func(a, b Charge) int { return a.At.Compare(b.At) })
	var used Amounts
	estimated := false
	for _, c := range within {
		used = used.Plus(c.Amounts)
		estimated = estimated || c.Estimated
	}
	return w.Limits.mark(w.Name, used, next, estimated, func(f figure, passes func(int64) bool) time.Time {
		left := *f.of(&used)
		for _, c := range within {
			if left -= *f.of(&c.Amounts); !passes(left) {
				return c.At.Add(w.Length).UTC()
			}
		}
		return time.Time{}
	})
}

// Within returns the charges that count at now.
func (w Window) Within(charges []Charge, now time.Time) []Charge {
	return slices.DeleteFunc(slices.Clone(charges), func(c Charge) bool { return !c.At.After(now.Add(-w.Length)) })
}

// mark compares used with the limits a. until returns when what is used of a figure
// does not pass its limit any more.
func (a Amounts) mark(window string, used, next Amounts, estimated bool, until func(figure, func(int64) bool) time.Time) Mark {
	worst := Mark{Level: Free}
	for _, f := range figures {
		limit, n, more := *f.of(&a), *f.of(&used), min(*f.of(&next), maxSum)
		if limit <= 0 {
			continue
		}
		m := Mark{Window: window, Level: Free, What: f.name, Used: n, Limit: limit, Share: n * 100 / limit}
		m.Estimated = estimated && (f.name == "tokens" || f.name == "cost")
		passes := func(used int64) bool { return used >= limit || used+more > limit }
		switch {
		case passes(n):
			m.Level, m.Until = Used, until(f, passes)
			if n < limit {
				m.Next = more
			}
		case m.Share >= nearShare:
			m.Level = Near
		}
		if worst.What == "" || m.Over(worst) {
			worst = m
		}
	}
	return worst
}

// Over reports whether m says more about the seat than other.
func (m Mark) Over(other Mark) bool {
	rank := map[string]int{Near: 1, Used: 2}
	switch {
	case rank[m.Level] != rank[other.Level]:
		return rank[m.Level] > rank[other.Level]
	case m.Level == Used && !m.Until.Equal(other.Until):
		return m.Until.IsZero() || !other.Until.IsZero() && m.Until.After(other.Until)
	}
	return m.Share > other.Share
}

// Same reports whether m tells people nothing that other has not told.
func (m Mark) Same(other Mark) bool {
	return m.Level == other.Level && m.What == other.What && m.Limit == other.Limit && m.Until.Equal(other.Until)
}

// Text describes the mark: 82 % of the tokens of an hour (~82000 of 100000).
func (m Mark) Text() string {
	amount := func(n int64) string {
		if m.What == "cost" {
			return human.Money(n)
		}
		return strconv.FormatInt(n, 10)
	}
	what := map[string]string{"toolCalls": "tool calls"}[m.What]
	if what == "" {
		what = m.What
	}
	of := map[string]string{Hour: "an hour", Day: "a day", Room: "the room"}[m.Window]
	text := strconv.FormatInt(m.Share, 10) + " % of the " + what + " of " + of + " (" + human.Rough(amount(m.Used), m.Estimated) + " of " + amount(m.Limit) + ")"
	if m.Next > 0 {
		text += ", and the next prompt needs about " + amount(m.Next)
	}
	return text
}

// Against compares what was used in a room with the limits a. It is never free again.
func (a Amounts) Against(used, next Amounts, estimated bool) Mark {
	return a.mark(Room, used, next, estimated, func(figure, func(int64) bool) time.Time { return time.Time{} })
}

// Need returns the estimate of the prompt for which a seat got the mark, as amounts.
func (m Mark) Need() (need Amounts) {
	for _, f := range figures {
		if f.name == m.What {
			*f.of(&need) = m.Next
		}
	}
	return need
}

// Less returns what is left of a when b is used too. Figures of a that are negative have
// no limit, and stay.
func (a Amounts) Less(b Amounts) Amounts {
	for _, f := range figures {
		if left := f.of(&a); *left >= 0 {
			*left = max(0, *left-*f.of(&b))
		}
	}
	return a
}

// Left returns what is left of the windows when next is used too; -1 is no limit.
func Left(windows []Window, charges []Charge, now time.Time, next Amounts) Amounts {
	var least Amounts
	for i, f := range figures {
		left := f.of(&least)
		*left = -1
		for _, w := range windows {
			limit := *f.of(&w.Limits)
			if limit <= 0 {
				continue
			}
			used := next
			for _, c := range w.Within(charges, now) {
				used = used.Plus(c.Amounts)
			}
			if rest := max(0, limit-*figures[i].of(&used)); *left < 0 || rest < *left {
				*left = rest
			}
		}
	}
	return least
}
