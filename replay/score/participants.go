package score

import (
	"cmp"
	"math"
	"slices"
)

// An Airtime is how often a participant was chosen: as recorded, and by each
// policy.
type Airtime struct {
	Participant string `json:"participant"`
	Chosen      []int  `json:"chosen"`
}

// Airtime adds up the choices of all transcripts by participant, the most
// frequent recorded first. Beyond 50 participants the rest is one entry.
func (b *Batch) Airtime() []Airtime {
	byID := map[string][]float64{}
	for _, r := range b.Runs {
		for k := range len(b.Policies) + 1 {
			for i, n := range r.tally(k - 1).chosen {
				id := r.History.Seats[i].ID
				if byID[id] == nil {
					byID[id] = make([]float64, len(b.Policies)+1)
				}
				byID[id][k] += n
			}
		}
	}
	var all []Airtime
	for id, n := range byID {
		if slices.Max(n) > 0 {
			all = append(all, Airtime{id, rounded(n)})
		}
	}
	slices.SortFunc(all, func(a, b Airtime) int {
		return cmp.Or(cmp.Compare(b.Chosen[0], a.Chosen[0]), cmp.Compare(a.Participant, b.Participant))
	})
	if len(all) <= maxParticipants {
		return all
	}
	rest := Airtime{Participant: "(others)", Chosen: make([]int, len(b.Policies)+1)}
	for _, a := range all[maxParticipants-1:] {
		for k, n := range a.Chosen {
			rest.Chosen[k] += n
		}
	}
	return append(all[:maxParticipants-1:maxParticipants-1], rest)
}

func rounded(n []float64) []int {
	out := make([]int, len(n))
	for i, x := range n {
		out[i] = int(math.Round(x))
	}
	return out
}

// Windows adds up the windows of all transcripts by participant, the most turns
// first.
func (b *Batch) Windows() []SeatWindows {
	byID := map[string]*SeatWindows{}
	for _, r := range b.Runs {
		for _, s := range r.windows {
			if s.Turns == 0 {
				continue
			}
			sum := byID[s.Participant]
			if sum == nil {
				sum = &SeatWindows{Participant: s.Participant, Budgets: make([]Budget, len(budgets))}
				byID[s.Participant] = sum
			}
			sum.Turns += s.Turns
			for i, x := range s.Budgets {
				sum.Budgets[i].Budget = x.Budget
				sum.Budgets[i].Tokens += x.Tokens
				sum.Budgets[i].Omitted += x.Omitted
			}
		}
	}
	var all []SeatWindows
	for _, s := range byID {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b SeatWindows) int {
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(a.Participant, b.Participant))
	})
	return all[:min(len(all), maxParticipants)]
}

// A Curve is the cumulative tokens of prompts.
type Curve struct {
	Unit   string    `json:"unit"` // transcripts or decisions
	Total  int       `json:"total"`
	Tokens [][]int64 `json:"tokens"` // recorded first, then by policy: at evenly spaced places, the last at the end
}

// maxCurve is how many places a curve has at most.
const maxCurve = 200

// Curve adds up the tokens by transcript, or by decision for a single one.
func (b *Batch) Curve() Curve {
	c := Curve{Unit: "transcripts", Total: len(b.Runs)}
	if len(b.Runs) == 1 {
		c.Unit, c.Total = "decisions", b.Runs[0].recorded.tokens.n
	}
	for k := range len(b.Policies) + 1 {
		c.Tokens = append(c.Tokens, sample(b.cumulativeTokens(k-1)))
	}
	return c
}

func (b *Batch) cumulativeTokens(policy int) []float64 {
	if len(b.Runs) == 1 {
		return b.Runs[0].tally(policy).tokens.all()
	}
	var out []float64
	sum := 0.0
	for _, r := range b.Runs {
		sum += r.tally(policy).sums[sumTokens]
		out = append(out, sum)
	}
	return out
}

// sample takes values at evenly spaced places, including the last.
func sample(values []float64) []int64 {
	n := min(len(values), maxCurve)
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(values[(i+1)*len(values)/n-1])
	}
	return out
}
