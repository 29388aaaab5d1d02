package score

import (
	"cmp"
	"slices"

	"github.com/folkmoot/moot/internal/inference"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
)

// maxFlips is how many flips of a policy a report has, at most about that many.
const maxFlips = 30

// maxParticipants is how many participants a report lists one by one.
const maxParticipants = 50

// A Batch is all runs of a replay.
type Batch struct {
	Policies     []drive.Policy
	Simulated    bool
	Runs         []*Run // in the order of the transcripts
	timings      []*Timing
	calibrations []*Calibration
	cases        *cases
}

// NewBatch returns a batch without runs.
func NewBatch(policies []drive.Policy, simulated bool) *Batch {
	b := &Batch{Policies: policies, Simulated: simulated, cases: newCases(len(policies))}
	for range policies {
		b.timings = append(b.timings, &Timing{})
		b.calibrations = append(b.calibrations, &Calibration{})
	}
	return b
}

// Begin prepares r for the decisions of h. With detailed it keeps the first
// decisions one by one.
func (b *Batch) Begin(r *Run, h *history.History, detailed bool) {
	r.History, r.cases = h, b.cases
	r.recorded = &Tally{detailed: detailed}
	for i := range b.Policies {
		r.tallies = append(r.tallies, &Tally{timing: b.timings[i], calibration: b.calibrations[i], detailed: detailed})
	}
	if !b.Simulated {
		r.equal = make([][]int, len(b.Policies)+1)
		for i := range r.equal {
			r.equal[i] = make([]int, len(b.Policies)+1)
		}
		r.choices = make([]history.Choice, len(b.Policies)+1)
		r.drawn = make([]drawn, len(b.Policies))
	}
}

// DropEmpty removes the runs of transcripts without decision points.
func (b *Batch) DropEmpty() {
	b.Runs = slices.DeleteFunc(b.Runs, func(r *Run) bool { return r.History == nil })
}

// Decisions is how many recorded decisions there are.
func (b *Batch) Decisions() int {
	n := 0
	for _, r := range b.Runs {
		n += r.Decisions()
	}
	return n
}

// Resample prepares intervals and p-values with n resamples, for which it uses
// so many goroutines.
func (b *Batch) Resample(n, workers int) Resamples {
	r := Resamples{n: n, lists: make([][]*sums, 1+len(b.Policies))}
	for _, run := range b.Runs {
		for k := range r.lists {
			r.lists[k] = append(r.lists[k], &run.tally(k-1).sums)
		}
	}
	if len(b.Runs) > inference.StudentisedUnits {
		r.values = resample(n, workers, r.lists)
	}
	return r
}

// RecordedName stands for the recorded decisions among the names of policies.
const RecordedName = "recorded"

// Recorded returns the figures of the recorded decisions.
func (b *Batch) Recorded(values Resamples) Result {
	r := b.result(recorded, values.intervals(0))
	r.Policy = RecordedName
	return r
}

// Result returns the figures of a policy.
func (b *Batch) Result(policy int, values Resamples) Result {
	r := b.result(policy, values.intervals(policy+1))
	p, t := b.Policies[policy], b.timings[policy]
	r.Policy, r.Use, r.Digest, r.Settings = p.Name, p.Ref.Use, p.Ref.Digest, string(p.Ref.Settings)
	r.Reference = p.Baseline != ""
	if r.Unmeasured = b.unmeasured(policy); r.Unmeasured != "" {
		r.Hits = None()
	}
	r.P50, r.P99, r.Times, r.Risk = t.percentile(50), t.percentile(99), t.slots(), b.calibrations[policy].risk()
	return r
}

func (b *Batch) result(policy int, intervals [][2]Figure) Result {
	var total sums
	r := Result{Intervals: map[string][2]Figure{}, N: map[string]int{}, P50: None(), P99: None()}
	for _, run := range b.Runs {
		t := run.tally(policy)
		for i, x := range t.sums {
			total[i] += x
		}
		r.FirstError = cmp.Or(r.FirstError, t.firstError)
		if len(r.Flips.Examples) < maxFlips {
			r.Flips.Examples = append(r.Flips.Examples, t.flips...)
		}
	}
	r.setCounts(&total)
	for i, m := range measures {
		*m.field(&r) = Figure(m.of(&total))
		r.Intervals[m.key] = intervals[i]
		r.N[m.key] = int(total[m.n])
		if b.Simulated && m.truth {
			*m.field(&r), r.Intervals[m.key], r.N[m.key] = None(), [2]Figure{None(), None()}, 0
		}
	}
	r.Reasons = sumReasons(b.Runs, policy)
	r.Run = b.simulated(policy)
	return r
}

// simulated adds up the simulations of a policy; nil in a what-if.
func (b *Batch) simulated(policy int) *Simulated {
	if !b.Simulated {
		return nil
	}
	out, endings := &Simulated{}, map[string]int{}
	for _, r := range b.Runs {
		s := r.tally(policy).simulation
		out.Turns += s.Turns
		out.Said += s.Said
		out.Passed += s.Passed
		out.Failed += s.Failed
		out.Unspoken += s.Unspoken
		if s.Ending != "" {
			endings[s.Ending]++
		}
	}
	for name, n := range endings {
		out.Endings = append(out.Endings, Ending{name, n})
	}
	slices.SortFunc(out.Endings, func(a, b Ending) int {
		return cmp.Or(cmp.Compare(b.Rooms, a.Rooms), cmp.Compare(a.Ending, b.Ending))
	})
	return out
}

// A TranscriptHits is how many decisions of a transcript each policy made as
// recorded.
type TranscriptHits struct {
	Name      string   `json:"name"`
	Decisions int      `json:"decisions"`
	Hits      []Figure `json:"hits"` // by policy

	Outcome *Figure `json:"outcome,omitempty"` // of the field that was asked for
}

// Hits returns the hits by transcript.
func (b *Batch) Hits() []TranscriptHits {
	var all []TranscriptHits
	for _, r := range b.Runs {
		t := TranscriptHits{Name: r.History.Name, Decisions: r.Decisions()}
		for _, x := range r.tallies {
			t.Hits = append(t.Hits, Figure(x.sums[sumHits]))
		}
		all = append(all, t)
	}
	return all
}

// Agreement is the share of decisions in which two of the policies chose the
// same. The recorded decisions are first. In a simulation it is NaN, and so it
// is for a policy that cannot be measured.
func (b *Batch) Agreement() [][]Figure {
	n := 1 + len(b.Policies)
	matrix := make([][]Figure, n)
	all := b.Decisions()
	for i := range matrix {
		matrix[i] = make([]Figure, n)
		for j := range matrix[i] {
			same := 0
			for _, r := range b.Runs {
				if r.equal != nil {
					same += r.equal[i][j]
				}
			}
			matrix[i][j] = Figure(Ratio(float64(same), float64(all)))
			if b.Simulated || b.unmeasured(i-1) != "" || b.unmeasured(j-1) != "" {
				matrix[i][j] = None()
			}
		}
	}
	return matrix
}
