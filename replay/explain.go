package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/policy"
)

// An Explained is one decision point in full: what led to it, what happened
// and what each policy says.
type Explained struct {
	Transcript string          `json:"transcript"`
	Point      int             `json:"point"`
	Seq        int64           `json:"seq,omitempty"` // of the event that tells what happened, in a room of moot
	Turn       int             `json:"turn"`
	Events     []ExplainedSaid `json:"events"` // the last before it
	Recorded   string          `json:"recorded"`
	Policies   []ExplainedSays `json:"policies"`
}

// ExplainedSaid is an event before the point.
type ExplainedSaid struct {
	From      string   `json:"from,omitempty"`
	Kind      string   `json:"kind"`
	Text      string   `json:"text"`
	Addressed []string `json:"addressed,omitempty"`
	Mentions  []string `json:"mentions,omitempty"`
}

// ExplainedSays is the decision of a policy at the point.
type ExplainedSays struct {
	Policy     string         `json:"policy"`
	Answer     string         `json:"answer"` // a participant, decline, finish, error
	Reason     string         `json:"reason,omitempty"`
	Confidence *float64       `json:"confidence,omitempty"`
	Scores     []policy.Score `json:"scores,omitempty"`
	Rank       int            `json:"rank,omitempty"` // it gives to what happened, from 1
	Log        string         `json:"log,omitempty"`
	Fuel       uint64         `json:"fuel,omitempty"`
	Input      policy.JSON    `json:"input,omitempty"` // what it was given; none for a baseline
}

// ErrNoPoint reports that a transcript has no such decision point.
var ErrNoPoint = errors.New("replay: no such decision point")

// shownEvents is how many events before a point are told.
const shownEvents = 5

// errReached ends a walk at the point that was asked for.
var errReached = errors.New("reached")

// Explain replays the subjects up to one decision point and tells what they
// say there: point counts from 1, or is, in a room of moot, the place in the
// log of the event that holds the decision.
func Explain(ctx context.Context, c Config, t Transcript, where int) (*Explained, error) {
	b := newBench(c.withDefaults())
	h, err := t.history()
	if err != nil {
		return nil, err
	}
	if h == nil {
		return nil, fmt.Errorf("explaining %s: %w", t.Name, ErrNoPoint)
	}
	x := &Explained{Transcript: h.name}
	var askers []*asker
	for i := range c.Subjects {
		a := newAsker(b.Config, &c.Subjects[i], 0, nil)
		if d, ok := a.decider.(*sandboxed); ok {
			d.shows = true
		}
		askers = append(askers, a)
	}
	err = h.walk(b.most, b.habits(), func(p *point) error {
		here := h.chat != nil && p.n == where || h.chat == nil && p.event.Seq == int64(where)
		if here {
			x.at(p)
		}
		for i, a := range askers {
			v, err := a.visit(ctx, p)
			if err != nil {
				return err
			}
			if here {
				x.Policies = append(x.Policies, v.explained(c.Subjects[i].Name, p))
			}
		}
		if here {
			return errReached
		}
		return nil
	})
	switch {
	case err == nil:
		return nil, fmt.Errorf("explaining %s: %w", t.Name, ErrNoPoint)
	case errors.Is(err, errReached):
		return x, nil
	}
	return nil, err
}

func (v *verdict) explained(name string, p *point) ExplainedSays {
	says := ExplainedSays{
		Policy: name, Answer: p.h.nameOf(v.said), Reason: v.decision.Reason, Confidence: v.decision.Confidence,
		Scores: slices.Clone(v.decision.Scores), Log: v.record.Log, Fuel: v.record.Fuel, Rank: v.place, Input: v.input,
	}
	slices.SortStableFunc(says.Scores, func(a, b policy.Score) int { return cmp.Compare(b.Score, a.Score) })
	if v.err != nil {
		says.Reason = v.err.Error()
	}
	return says
}

// at tells where the point is and what was before it.
func (x *Explained) at(p *point) {
	h := p.h
	x.Point, x.Turn, x.Recorded = p.n, p.state.Tally.Turns+1, h.nameOf(p.truth)
	if h.chat == nil {
		x.Seq = p.event.Seq
	}
	events := p.state.Recent.Events
	for _, e := range events[max(0, len(events)-shownEvents):] {
		text := e.Text
		if text == "" {
			text, _ = p.tail.text(e.Seq) // what is withheld stays empty
		}
		x.Events = append(x.Events, ExplainedSaid{From: e.From, Kind: e.Kind, Text: text, Addressed: e.Addressed, Mentions: e.Mentions})
	}
}

// WriteText writes the point for people.
func (x *Explained) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, decision point %d, turn %d\n\n", term.Line(x.Transcript), x.Point, x.Turn)
	for _, e := range x.Events {
		text := term.Line(e.Text)
		if runes := []rune(text); len(runes) > 200 {
			text = string(runes[:200]) + "…"
		}
		fmt.Fprintf(&b, "  %s: %s\n", term.Line(e.From), text)
		if len(e.Addressed) > 0 {
			fmt.Fprintf(&b, "    addresses %s\n", term.Line(strings.Join(e.Addressed, ", ")))
		}
	}
	fmt.Fprintf(&b, "\nrecorded: %s\n", term.Line(x.Recorded))
	for _, p := range x.Policies {
		fmt.Fprintf(&b, "\n%s: %s", term.Line(p.Policy), term.Line(p.Answer))
		if p.Reason != "" {
			fmt.Fprintf(&b, "  %q", term.Line(p.Reason))
		}
		if p.Rank > 1 {
			fmt.Fprintf(&b, "  (what happened is its number %d)", p.Rank)
		}
		b.WriteByte('\n')
		for _, s := range p.Scores {
			fmt.Fprintf(&b, "  %-10s %s\n", string(appendRounded(nil, s.Score)), term.Line(s.Agent))
		}
		if p.Log != "" {
			fmt.Fprintf(&b, "  log: %s\n", term.Strip(p.Log))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
