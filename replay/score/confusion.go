package score

import (
	"cmp"
	"slices"

	"github.com/folkmoot/moot/replay/history"
)

// Bounds of the confusion by participant.
const (
	maxPairs     = 4096 // of recorded and chosen, in one transcript
	maxConfused  = 30   // recorded participants in a report
	maxInstead   = 5    // chosen participants for each
	maxPairNames = 20_000
)

// A Confusion says which participants a policy chose instead of which.
type Confusion struct {
	Policy string         `json:"policy"`
	Rows   []ConfusionRow `json:"rows"`           // the most frequent recorded first
	Rest   int            `json:"rest,omitempty"` // decisions that no row counts
}

// A ConfusionRow is the decisions in which one participant was recorded, or
// decline.
type ConfusionRow struct {
	Recorded  string    `json:"recorded"`
	Decisions int       `json:"decisions"`
	Same      int       `json:"same"`    // chosen as recorded
	Instead   []Instead `json:"instead"` // the most frequent other choices
}

// An Instead is how often another choice was made.
type Instead struct {
	Chosen string `json:"chosen"`
	Count  int    `json:"count"`
}

// A pair is a recorded choice and the one that a policy made.
type pair struct{ recorded, chosen history.Choice }

// pairs counts choices in one transcript. Its size is bounded.
type pairs struct {
	counts map[pair]int
	rest   int
}

func (p *pairs) add(recorded, chosen history.Choice) {
	key := pair{recorded, chosen}
	if _, ok := p.counts[key]; !ok && len(p.counts) >= maxPairs {
		p.rest++
		return
	}
	if p.counts == nil {
		p.counts = map[pair]int{}
	}
	p.counts[key]++
}

// Confusion adds up the choices of all transcripts, for each policy. It is empty
// for a simulation, which has no recorded choices.
func (b *Batch) Confusion() []Confusion {
	if b.Simulated {
		return nil
	}
	var all []Confusion
	for k := range b.Policies {
		all = append(all, b.confusion(k))
	}
	return all
}

func (b *Batch) confusion(policy int) Confusion {
	c := Confusion{Policy: b.Policies[policy].Name, Rows: []ConfusionRow{}}
	byName := map[string]map[string]int{}
	names := 0
	for _, run := range b.Runs {
		x := &run.tallies[policy].pairs
		c.Rest += x.rest
		for _, key := range sortedPairs(x.counts) {
			n, recorded, chosen := x.counts[key], run.History.NameOf(key.recorded), run.History.NameOf(key.chosen)
			row := byName[recorded]
			if _, ok := row[chosen]; !ok {
				if names++; names > maxPairNames {
					c.Rest += n
					continue
				}
			}
			if row == nil {
				row = map[string]int{}
				byName[recorded] = row
			}
			row[chosen] += n
		}
	}
	for name, row := range byName {
		c.Rows = append(c.Rows, newConfusionRow(name, row))
	}
	slices.SortFunc(c.Rows, func(a, b ConfusionRow) int {
		return cmp.Or(cmp.Compare(b.Decisions, a.Decisions), cmp.Compare(a.Recorded, b.Recorded))
	})
	for _, row := range c.Rows[min(len(c.Rows), maxConfused):] {
		c.Rest += row.Decisions
	}
	c.Rows = c.Rows[:min(len(c.Rows), maxConfused)]
	return c
}

// sortedPairs returns the pairs in a fixed order, so that a bound leaves out the
// same ones in every replay.
func sortedPairs(counts map[pair]int) []pair {
	all := make([]pair, 0, len(counts))
	for key := range counts {
		all = append(all, key)
	}
	slices.SortFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.recorded, b.recorded), cmp.Compare(a.chosen, b.chosen))
	})
	return all
}

func newConfusionRow(recorded string, chosen map[string]int) ConfusionRow {
	r := ConfusionRow{Recorded: recorded, Same: chosen[recorded], Instead: []Instead{}}
	for name, n := range chosen {
		r.Decisions += n
		if name != recorded {
			r.Instead = append(r.Instead, Instead{name, n})
		}
	}
	slices.SortFunc(r.Instead, func(a, b Instead) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Chosen, b.Chosen)) })
	r.Instead = r.Instead[:min(len(r.Instead), maxInstead)]
	return r
}
