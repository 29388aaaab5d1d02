package transcripts

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Decision is a recorded decision to speak or to be silent, between the turns of a
// conversation. Its clock is that of the turns.
type Decision struct {
	Before   int      `json:"before"`          // index of the turn that comes next
	Agent    string   `json:"agent,omitempty"` // who could speak; "" for all participants
	Decision string   `json:"decision"`        // Declines or Speaks
	Seconds  *float64 `json:"t_s,omitempty"`   // seconds from the start
}

// Decisions to speak or to be silent.
const (
	Declines = "decline" // could speak and did not
	Speaks   = "speak"   // began a turn, which may appear later
)

// MaxDecisions bounds the decisions of one conversation.
const MaxDecisions = 1 << 20

func (d *Decision) check(after, turns int, ids map[string]bool) error {
	switch {
	case d.Decision != Declines && d.Decision != Speaks:
		return fmt.Errorf("decision %.40q is not speak or decline", d.Decision)
	case d.Agent == "" && d.Decision == Speaks:
		return errors.New(`"agent" is missing`)
	case d.Agent != "" && !ids[d.Agent]:
		return fmt.Errorf("agent %q is not a participant", d.Agent)
	case d.Before < after || d.Before > turns:
		return fmt.Errorf("before is %d", d.Before)
	case d.Seconds != nil && math.Abs(*d.Seconds) > MaxSeconds:
		return fmt.Errorf("t_s %g is out of range", *d.Seconds)
	}
	return nil
}

// checkDecisions validates the decisions of c, whose participants have these ids.
func (c *Conversation) checkDecisions(ids map[string]bool) error {
	if len(c.Decisions) > MaxDecisions {
		return fmt.Errorf("has %d decisions, more than %d", len(c.Decisions), MaxDecisions)
	}
	after := 0
	for i := range c.Decisions {
		d := &c.Decisions[i]
		if err := d.check(after, len(c.Turns), ids); err != nil {
			return fmt.Errorf("decisions[%d]: %w", i, err)
		}
		after = d.Before
	}
	return nil
}

// decisionClocks returns the room clock at each decision: its own time, or else that
// of the turn that comes next. It stays between the clocks of the turns around it.
func (c *Conversation) decisionClocks(turns []turnTime) []turnTime {
	all := make([]turnTime, len(c.Decisions))
	var last turnTime
	for i := range c.Decisions {
		d := &c.Decisions[i]
		if d.Before > 0 {
			last.clock = max(last.clock, turns[d.Before-1].clock)
		}
		at := last.clock
		if d.Seconds != nil {
			at = max(at, time.Duration(*d.Seconds*float64(time.Second))+c.clockOffset())
		} else if d.Before < len(turns) {
			at = max(at, turns[d.Before].clock)
		}
		if d.Before < len(turns) {
			at = min(at, turns[d.Before].clock)
		}
		last.clock = at
		all[i] = last
	}
	return all
}

// DecisionClocks returns the room clock at each decision.
func (c *Conversation) DecisionClocks() []time.Duration {
	clocks := make([]time.Duration, len(c.Decisions))
	for i, t := range c.decisionClocks(c.times()) {
		clocks[i] = t.clock
	}
	return clocks
}

// declined returns the silence as an event of a room, false for a decision to speak,
// which is no event: the turn follows.
func (d *Decision) declined() (room.RoundDeclined, bool) {
	if d.Decision != Declines {
		return room.RoundDeclined{}, false
	}
	if d.Agent == "" {
		return room.RoundDeclined{Reason: "nobody spoke"}, true
	}
	return room.RoundDeclined{Reason: d.Agent + " could speak and did not", Silent: []string{d.Agent}}, true
}

// A DecisionList is a line of a file of decisions: those of one agent, or of several,
// in a conversation that another file holds.
type DecisionList struct {
	ID        string          `json:"id"` // of the conversation
	Agent     string          `json:"agent,omitempty"`
	Source    string          `json:"source,omitempty"`
	License   string          `json:"license,omitempty"`
	Decisions []TimedDecision `json:"decisions"`
}

// A TimedDecision is a decision at a time from the start of its conversation.
type TimedDecision struct {
	Agent    string  `json:"agent,omitempty"` // "" for that of the list
	Decision string  `json:"decision"`
	Seconds  float64 `json:"t_s"`
}

// Decisions returns the lists of a file of decisions. The sequence ends after an error.
func (t *Reader) Decisions() iter.Seq2[*DecisionList, error] {
	return func(yield func(*DecisionList, error) bool) {
		for {
			line, err := t.lines.next()
			if errors.Is(err, io.EOF) {
				return
			}
			l := &DecisionList{}
			if err == nil {
				if err = l.decode(line); err != nil {
					err = t.lines.readError(err.Error(), nil)
				}
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// isDecisionList reports whether a line is a list of decisions without turns.
func isDecisionList(line []byte) bool {
	var keys struct {
		Participants policy.JSON `json:"participants"`
		Turns        policy.JSON `json:"turns"`
		Decisions    policy.JSON `json:"decisions"`
	}
	return strict.Known(line, maxDepth, &keys) == nil && keys.Decisions != nil && keys.Turns == nil && keys.Participants == nil
}

func (l *DecisionList) decode(line []byte) error {
	if err := strict.Decode(line, maxDepth, l); err != nil {
		return err
	}
	switch {
	case l.ID == "":
		return errors.New(`"id" is missing`)
	case l.Decisions == nil:
		return errors.New(`"decisions" is missing`)
	case len(l.Decisions) > MaxDecisions:
		return fmt.Errorf("has %d decisions, more than %d", len(l.Decisions), MaxDecisions)
	}
	return nil
}

// Join adds the decisions of a list to the conversation with its id, at their times. A
// decision comes before the turns of the same time, which cannot have caused it. c
// must have the time of each turn.
func (c *Conversation) Join(l *DecisionList) error {
	seconds := make([]float64, len(c.Turns))
	for i := range c.Turns {
		if c.Turns[i].Seconds == nil {
			return fmt.Errorf("turns[%d] has no t_s, so decisions cannot be put between the turns", i)
		}
		seconds[i] = *c.Turns[i].Seconds
		if i > 0 {
			seconds[i] = max(seconds[i], seconds[i-1]) // as the room clock
		}
	}
	all := slices.Clone(c.Decisions)
	for i := range l.Decisions {
		d := &l.Decisions[i]
		before, _ := slices.BinarySearch(seconds, d.Seconds)
		agent := d.Agent
		if agent == "" {
			agent = l.Agent
		}
		all = append(all, Decision{Before: before, Agent: agent, Decision: d.Decision, Seconds: &d.Seconds})
	}
	slices.SortStableFunc(all, func(a, b Decision) int { return a.Before - b.Before })
	joined := *c
	joined.Decisions = all
	if err := joined.check(); err != nil {
		return err
	}
	c.Decisions = all
	return nil
}
