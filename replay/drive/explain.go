package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
)

// An Explanation is one decision point in full: the events before it, the
// recorded choice and the decision of each policy.
type Explanation struct {
	Transcript string              `json:"transcript"`
	Point      int                 `json:"point"`
	Seq        int64               `json:"seq,omitempty"` // of the event that holds the recorded decision, in a room of moot
	Turn       int                 `json:"turn"`
	Events     []ExplainedEvent    `json:"events"` // the last ones before it
	Recorded   string              `json:"recorded"`
	Policies   []ExplainedDecision `json:"policies"`
}

// An ExplainedEvent is an event before the decision point.
type ExplainedEvent struct {
	From      string   `json:"from,omitempty"`
	Kind      string   `json:"kind"`
	Text      string   `json:"text"`
	Addressed []string `json:"addressed,omitempty"`
	Mentions  []string `json:"mentions,omitempty"`
}

// An ExplainedDecision is the decision of a policy at the decision point.
type ExplainedDecision struct {
	Policy     string         `json:"policy"`
	Answer     string         `json:"answer"` // a participant, decline, finish or error
	Reason     string         `json:"reason,omitempty"`
	Confidence *float64       `json:"confidence,omitempty"`
	Scores     []policy.Score `json:"scores,omitempty"`
	Rank       int            `json:"rank,omitempty"` // that it gives to the recorded choice, from 1
	Log        string         `json:"log,omitempty"`
	Fuel       uint64         `json:"fuel,omitempty"`
	Input      policy.JSON    `json:"input,omitempty"` // what the policy got; none for a baseline
}

// ErrNoPoint reports that a transcript has no such decision point.
var ErrNoPoint = errors.New("replay: no such decision point")

// explainedEvents is how many events before the decision point are kept.
const explainedEvents = 5

// errFound ends a walk at the decision point.
var errFound = errors.New("found")

// Explain asks the policies at every decision point up to one, and returns what
// they decide there. In a conversation, where is the number of the decision
// point, from 1. In a room of moot it is the sequence number of the event that
// holds the decision. The error is [ErrNoPoint] if there is none.
func Explain(ctx context.Context, policies []Policy, t history.Transcript, where int) (*Explanation, error) {
	h, err := history.Open(t)
	if err != nil {
		return nil, err
	}
	if h == nil {
		return nil, fmt.Errorf("explaining %s: %w", t.Name, ErrNoPoint)
	}
	stats := newStatistics(policies)
	evaluators := newSequences(policies, stats, func(v *policyEvaluator) { v.keepInput = true })
	x := &Explanation{Transcript: h.Name}
	err = h.Walk(maxText(policies), stats.listener(), func(p *history.Point) error {
		found := h.Conversation() && p.N == where || !h.Conversation() && p.Event.Seq == int64(where)
		if found {
			x.set(p)
		}
		for i, v := range evaluators.at(p) {
			e, err := v.evaluate(ctx, p)
			if err != nil {
				return err
			}
			if found {
				x.Policies = append(x.Policies, e.explain(policies[i].Name, h))
			}
		}
		if found {
			return errFound
		}
		return nil
	})
	switch {
	case err == nil:
		return nil, fmt.Errorf("explaining %s: %w", t.Name, ErrNoPoint)
	case errors.Is(err, errFound):
		return x, nil
	}
	return nil, err
}

func (e *Evaluation) explain(name string, h *history.History) ExplainedDecision {
	d := ExplainedDecision{
		Policy: name, Answer: h.NameOf(e.Choice), Reason: e.Decision.Reason, Confidence: e.Decision.Confidence,
		Scores: slices.Clone(e.Decision.Scores), Log: e.Record.Log, Fuel: e.Record.Fuel, Rank: e.Rank, Input: e.Input,
	}
	slices.SortStableFunc(d.Scores, func(a, b policy.Score) int { return cmp.Compare(b.Score, a.Score) })
	if e.Err != nil {
		d.Reason = e.Err.Error()
	}
	return d
}

// set notes where p is and what precedes it.
func (x *Explanation) set(p *history.Point) {
	x.Point, x.Turn, x.Recorded = p.N, p.State.Tally.Turns+1, p.History.NameOf(p.Truth)
	if !p.History.Conversation() {
		x.Seq = p.Event.Seq
	}
	events := p.State.Recent.Events
	for _, e := range events[max(0, len(events)-explainedEvents):] {
		text := e.Text
		if text == "" {
			text, _ = p.Text(e.Seq) // a withheld text stays empty
		}
		x.Events = append(x.Events, ExplainedEvent{From: e.From, Kind: e.Kind, Text: text, Addressed: e.Addressed, Mentions: e.Mentions})
	}
}
