package replay

import (
	"cmp"
	"slices"
	"strings"
)

// airtime adds up choices by participant's id over all transcripts, the most
// recorded first.
func (b *bench) airtime() []Airtime {
	by := map[string][]int{}
	for _, t := range b.trials {
		for k := range len(b.Subjects) + 1 {
			for i, n := range t.of(k - 1).chosen {
				id := t.h.seats[i].id
				if by[id] == nil {
					by[id] = make([]int, len(b.Subjects)+1)
				}
				by[id][k] += n
			}
		}
	}
	var all []Airtime
	for id, n := range by {
		if slices.Max(n) > 0 {
			all = append(all, Airtime{id, n})
		}
	}
	slices.SortFunc(all, func(a, b Airtime) int {
		return cmp.Or(cmp.Compare(b.Chosen[0], a.Chosen[0]), cmp.Compare(a.Participant, b.Participant))
	})
	return folded(all, len(b.Subjects)+1)
}

// folded puts all but the first participants into one entry.
func folded(all []Airtime, columns int) []Airtime {
	if len(all) <= maxSeats {
		return all
	}
	rest := Airtime{Participant: "(others)", Chosen: make([]int, columns)}
	for _, a := range all[maxSeats-1:] {
		for k, n := range a.Chosen {
			rest.Chosen[k] += n
		}
	}
	return append(all[:maxSeats-1:maxSeats-1], rest)
}

// maxCurve is how many places of a curve are kept.
const maxCurve = 200

// curve adds up the tokens of prompts: by transcript, or by decision when
// there is but one.
func (b *bench) curve() Curve {
	c := Curve{Unit: "transcripts", Total: len(b.trials)}
	if len(b.trials) == 1 {
		c.Unit, c.Total = "decisions", b.trials[0].recorded.tokens.n
	}
	for k := range len(b.Subjects) + 1 {
		c.Tokens = append(c.Tokens, sampled(b.cumulative(k-1)))
	}
	return c
}

func (b *bench) cumulative(subject int) []float64 {
	if len(b.trials) == 1 {
		return b.trials[0].of(subject).tokens.all()
	}
	var out []float64
	sum := 0.0
	for _, t := range b.trials {
		sum += t.of(subject).sums[sTokens]
		out = append(out, sum)
	}
	return out
}

// sampled takes values at evenly spaced places, the last among them.
func sampled(values []float64) []int64 {
	n := min(len(values), maxCurve)
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(values[(i+1)*len(values)/n-1])
	}
	return out
}

// maxListed is how many reasons are told.
const maxListed = 12

// reasons adds up why a subject decided as it did. Participants' ids are left
// out, so that "ann addressed bob" and "bob addressed ann" are one reason.
func (b *bench) reasons(subject int) []Reason {
	by := map[string]int{}
	for _, t := range b.trials {
		reasons := t.of(subject).reasons
		if len(reasons) == 0 {
			continue
		}
		a := t.h.anonymous()
		for reason, n := range reasons {
			by[a.replace(reason)] += n
		}
	}
	all := []Reason{}
	for reason, n := range by {
		all = append(all, Reason{reason, n})
	}
	slices.SortFunc(all, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	for len(all) > maxListed {
		last := all[len(all)-1]
		all = all[:len(all)-1]
		all[maxListed-1] = Reason{otherReasons, all[maxListed-1].Count + last.Count}
	}
	return all
}

// An anonymous replaces the ids of participants by an ellipsis, the longest
// where there are several.
type anonymous struct {
	ids   []string // longest first
	first [256]bool
}

func (h *history) anonymous() *anonymous {
	a := &anonymous{}
	for _, s := range h.seats {
		if len(s.id) > 1 {
			a.ids = append(a.ids, s.id)
			a.first[s.id[0]] = true
		}
	}
	slices.SortFunc(a.ids, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return a
}

func (a *anonymous) replace(s string) string {
	var b []byte
	for i := 0; i < len(s); {
		at := -1
		if a.first[s[i]] {
			at = slices.IndexFunc(a.ids, func(id string) bool { return strings.HasPrefix(s[i:], id) })
		}
		if at < 0 {
			b = append(b, s[i])
			i++
			continue
		}
		b = append(b, "…"...)
		i += len(a.ids[at])
	}
	return string(b)
}

// strip returns the decisions of t that were kept.
func (t *trial) strip() Strip {
	s := Strip{Transcript: t.h.name, Judged: t.same != nil, Reasons: []string{}}
	for _, x := range t.h.seats {
		s.Participants = append(s.Participants, x.id)
	}
	places := map[string]int16{}
	for k := range len(t.scores) + 1 {
		x := t.of(k - 1)
		row := Row{Said: Cells{}, Why: Cells{}}
		for i, a := range x.answers {
			row.Said = append(row.Said, int16(a))
			at, ok := places[x.why[i]]
			switch {
			case x.why[i] == "":
				at = int16(declined)
			case !ok:
				at = int16(len(s.Reasons))
				places[x.why[i]] = at
				s.Reasons = append(s.Reasons, x.why[i])
			}
			row.Why = append(row.Why, at)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}
