package roomcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A summary says how a room has ended, with the figures of the room and of each
// seat. Counts are those of the room's whole life, not of one run.
type summary struct {
	Room       string        `json:"room"`
	Ended      string        `json:"ended"` // completed, settled, "settled, degraded", stopped, paused, error; live if the host ended
	Cause      string        `json:"cause,omitempty"`
	Name       string        `json:"name,omitempty"` // of the limit, the loop guard, the error or the person
	Reason     string        `json:"reason"`
	Exit       int           `json:"exit"`
	Turns      int           `json:"turns"`
	Messages   int           `json:"messages"`
	Declined   int           `json:"declined"` // rounds
	Passed     int           `json:"passed"`   // turns
	Failures   int           `json:"failures"` // failed turns and starts
	Suspended  int           `json:"suspended"`
	Tokens     int64         `json:"tokens"`
	Estimated  bool          `json:"estimated"` // part of the tokens is an estimate
	Cached     int64         `json:"cached_input_tokens"`
	Reasoning  int64         `json:"reasoning_tokens"`
	Cost       float64       `json:"cost"` // in the currency of the prices, US dollars if an agent states its cost
	CostRough  bool          `json:"cost_estimated"`
	Seconds    float64       `json:"seconds"` // of the room's clock
	Seats      []seatSummary `json:"participants"`
	Conditions []string      `json:"fail_if,omitempty"` // those that hold
	Next       string        `json:"next,omitempty"`    // the command that goes on
	Transcript string        `json:"transcript"`        // the command that prints it

	cost int64 // in millionths
	took time.Duration
}

// A seatSummary has the figures of one agent.
type seatSummary struct {
	ID        string  `json:"id"`
	Standing  string  `json:"standing"` // active, muted, suspended or removed
	Why       string  `json:"why,omitempty"`
	Turns     int     `json:"turns"`
	Passed    int     `json:"passed"`
	Failures  int     `json:"failures"`
	Tokens    int64   `json:"tokens"`
	Estimated bool    `json:"estimated"`
	Cached    int64   `json:"cached_input_tokens"`
	Reasoning int64   `json:"reasoning_tokens"`
	Cost      float64 `json:"cost"`
	CostRough bool    `json:"cost_estimated"`

	cost int64 // in millionths
}

// summarize collects the figures of a room.
func summarize(v room.View) summary {
	s := summary{
		Room: v.Room, Ended: string(v.Phase), Cause: v.Ending.Cause, Name: v.Ending.Name, Reason: v.Ending.Reason, Exit: codeOf(v),
		Turns: v.Turn, Messages: v.Tally.Messages, Declined: v.Tally.Declined, Passed: v.Tally.Passed,
		Tokens: v.Tally.Tokens, Estimated: v.Tally.Estimated, Cached: v.Tally.CachedInput, Reasoning: v.Tally.Reasoning,
		Cost: units(v.Tally.Cost), CostRough: v.Tally.CostEstimated, Seconds: v.Clock.Seconds(), cost: v.Tally.Cost, took: v.Clock,
	}
	switch {
	case v.Ending.Degraded:
		s.Ended = "settled, degraded"
	case v.Ending.Cause == room.CauseSettled:
		s.Ended = room.CauseSettled
	}
	for _, x := range v.Seats {
		if x.Kind == policy.Human {
			continue
		}
		seat := seatSummary{
			ID: x.ID, Standing: standingOf(x), Why: x.Why, Turns: x.Turns, Passed: x.Passed, Failures: x.Failed,
			Tokens: x.Tokens, Estimated: x.Estimated, Cached: x.CachedInput, Reasoning: x.Reasoning,
			Cost: units(x.Cost), CostRough: x.CostEstimated, cost: x.Cost,
		}
		if seat.Standing == string(room.Active) {
			seat.Why = ""
		}
		if seat.Standing == string(room.Suspended) {
			s.Suspended++
		}
		s.Failures += seat.Failures
		s.Seats = append(s.Seats, seat)
	}
	return s
}

// units converts millionths of the currency to its unit.
func units(millionths int64) float64 { return float64(millionths) / 1e6 }

// standingOf returns the standing of a seat. A seat that may speak has another
// phase, such as idle.
func standingOf(x room.SeatView) string {
	switch p := room.Standing(x.Phase); p {
	case room.Muted, room.Suspended, room.Removed:
		return string(p)
	}
	return string(room.Active)
}

// text writes the summary for people.
func (s summary) text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ended   %s\n", term.Line(s.why()))
	fmt.Fprintf(&b, "counts  %s; %s", app.Count(s.Turns, "turn"), app.Count(s.Declined, "declined round"))
	fmt.Fprintf(&b, ", %d passed, %s, %d suspended\n", s.Passed, app.Count(s.Failures, "failure"), s.Suspended)
	fmt.Fprintf(&b, "used    %s", human.Tokens(s.Tokens, s.Cached, s.Reasoning, s.Estimated, nil))
	if s.cost > 0 {
		fmt.Fprintf(&b, ", cost %s", human.Rough(human.Money(s.cost), s.CostRough))
	}
	fmt.Fprintf(&b, ", %s\n", human.Duration(s.took))
	head := []string{"SEAT", "TURNS", "PASSED", "FAILURES", "TOKENS", "STANDING"}
	if s.cost > 0 {
		head = slices.Insert(head, 5, "COST")
	}
	rows := app.Rows(s.Seats, func(x seatSummary) []string {
		standing := x.Standing
		if x.Why != "" {
			standing += ": " + x.Why
		}
		row := []string{x.ID, fmt.Sprint(x.Turns), fmt.Sprint(x.Passed), fmt.Sprint(x.Failures), human.Rough(fmt.Sprint(x.Tokens), x.Estimated), standing}
		if s.cost > 0 {
			row = slices.Insert(row, 5, human.Rough(human.Money(x.cost), x.CostRough))
		}
		return row
	})
	if err := app.Table(&b, head, rows); err != nil {
		return err
	}
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, "fail-if %s\n", term.Line(c))
	}
	if s.Next != "" {
		fmt.Fprintf(&b, "go on with: %s\n", s.Next)
	}
	fmt.Fprintf(&b, "transcript: %s\n", s.Transcript)
	_, err := io.WriteString(w, b.String())
	return err
}

// why says in words how the room has ended.
func (s summary) why() string {
	switch {
	case s.Reason == "":
		return s.Ended
	case strings.HasPrefix(s.Reason, s.Ended):
		return s.Reason
	}
	return s.Ended + ": " + s.Reason
}
