package replay

import (
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
	Policy string         `json:"policy"`
	Answer string         `json:"answer"` // a participant, decline, finish, error
	Reason string         `json:"reason,omitempty"`
	Scores []policy.Score `json:"scores,omitempty"`
	Rank   int            `json:"rank,omitempty"` // it gives to what happened, from 1
	Log    string         `json:"log,omitempty"`
	Fuel   uint64         `json:"fuel,omitempty"`
}

// ErrNoPoint reports that a transcript has no such decision point.
var ErrNoPoint = errors.New("replay: no such decision point")

// shownEvents is how many events before a point are told.
const shownEvents = 5

// Explain replays the subjects up to one decision point and tells what they
// say there: point counts from 1, or is, in a room of moot, the place in the
// log of the event that holds the decision.
func Explain(ctx context.Context, c Config, t Transcript, where int) (*Explained, error) {
	c = c.withDefaults()
	h, err := t.history()
	if err != nil {
		return nil, err
	}
	if h == nil {
		return nil, fmt.Errorf("explaining %s: %w", t.Name, ErrNoPoint)
	}
	x := &Explained{Transcript: h.name}
	for i := range c.Subjects {
		if err := c.explain(ctx, h, &c.Subjects[i], where, x); err != nil {
			return nil, err
		}
	}
	if x.Point == 0 {
		return nil, fmt.Errorf("explaining %s: %w", t.Name, ErrNoPoint)
	}
	return x, nil
}

// explain replays one subject as far as the point.
func (c Config) explain(ctx context.Context, h *history, s *Subject, where int, x *Explained) error {
	a := newAsker(c, h, s)
	reached := errors.New("reached")
	a.watch = func(p *point, in policy.Input, d policy.Decision, rec policy.Record, err error) error {
		if h.talk && p.n != where || !h.talk && p.event.Seq != int64(where) {
			return nil
		}
		x.at(h, p)
		says := ExplainedSays{Policy: s.Name, Answer: h.nameOf(a.answer(d, err)), Reason: d.Reason, Scores: slices.Clone(d.Scores), Log: rec.Log, Fuel: rec.Fuel}
		slices.SortStableFunc(says.Scores, func(a, b policy.Score) int {
			switch {
			case a.Score > b.Score:
				return -1
			case a.Score < b.Score:
				return 1
			}
			return 0
		})
		if err != nil {
			says.Reason = err.Error()
		} else if p.truth.speaks() {
			says.Rank = h.rank(d, &in, p, int(p.truth))
		}
		x.Policies = append(x.Policies, says)
		return reached
	}
	err := h.walk(func(p *point) error { return a.visit(ctx, p) })
	if errors.Is(err, reached) {
		return nil
	}
	return err
}

// at tells where the point is and what was before it.
func (x *Explained) at(h *history, p *point) {
	if x.Point != 0 {
		return
	}
	x.Point, x.Turn, x.Recorded = p.n, p.state.Tally.Turns+1, h.nameOf(p.truth)
	if !h.talk {
		x.Seq = p.event.Seq
	}
	events := p.state.Recent.Events
	for _, e := range events[max(0, len(events)-shownEvents):] {
		text := e.Text
		if text == "" {
			text, _ = h.text(e.Seq) // what is withheld stays empty
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
