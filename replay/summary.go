package replay

import (
	"cmp"
	"math"
	"slices"
	"time"
)

func (b *bench) report() *Report {
	r := &Report{
		Version: ReportVersion, Mode: "what-if", Points: b.points(), Conversations: len(b.trials), Dropped: b.dropped,
		Resamples: b.Resamples, trials: b.trials,
		Notes: []string{
			"what-if on recorded history: after a policy's first different choice the later points are still judged on what truly followed",
			"agreement is not quality: the truth is what happened, not what was best",
		},
	}
	lists := b.lists()
	values := intervals(b.Resamples, lists)
	ids := map[string]bool{}
	for _, t := range b.trials {
		r.Decisions += int(t.recorded.sums[sDecisions])
		for _, s := range t.h.seats {
			ids[s.id] = true
		}
		r.Transcripts = append(r.Transcripts, t.conversed())
	}
	r.Participants = len(ids)
	r.Recorded = b.result(-1, values[0])
	r.Recorded.Policy = "recorded"
	for i := range b.Subjects {
		r.Policies = append(r.Policies, b.result(i, values[i+1]))
	}
	r.Comparisons = b.comparisons(r, values)
	r.Agreement = b.agreement()
	r.Windows = b.windows()
	return r
}

// points names what stood for rounds.
func (b *bench) points() string {
	talks := 0
	for _, t := range b.trials {
		if t.h.talk {
			talks++
		}
	}
	switch talks {
	case len(b.trials):
		return "merged turns"
	case 0:
		return "recorded rounds"
	}
	return "merged turns and recorded rounds"
}

// of returns the score of a subject, or with -1 of what was recorded.
func (t *trial) of(subject int) *score {
	if subject < 0 {
		return t.recorded
	}
	return t.scores[subject]
}

// lists returns the sums by transcript: recorded first, then each subject.
func (b *bench) lists() [][]*sums {
	lists := make([][]*sums, 1+len(b.Subjects))
	for _, t := range b.trials {
		for k := range lists {
			lists[k] = append(lists[k], &t.of(k-1).sums)
		}
	}
	return lists
}

func (t *trial) conversed() Conversed {
	c := Conversed{Name: t.h.name, Decisions: int(t.recorded.sums[sDecisions])}
	for _, s := range t.scores {
		c.Hits = append(c.Hits, int(s.sums[sHits]))
	}
	return c
}

func (b *bench) result(subject int, values [][]float64) Result {
	var total sums
	var times []time.Duration
	r := Result{Intervals: map[string][2]Figure{}}
	for _, t := range b.trials {
		s := t.of(subject)
		total.add(&s.sums)
		times = append(times, s.times...)
		if r.FirstError == "" {
			r.FirstError = s.trouble
		}
		if len(r.Flips.Examples) < maxFlips {
			r.Flips.Examples = append(r.Flips.Examples, s.flips...)
		}
	}
	r.Decisions, r.Hits, r.Declines = int(total[sDecisions]), int(total[sHits]), int(total[sDeclines])
	r.Finishes, r.Errors, r.Tokens = int(total[sFinishes]), int(total[sErrors]), int64(total[sTokens])
	r.Repeated, r.Differing = int(total[sRepeated]), int(total[sDiffering])
	r.Flips.SpeakToDecline, r.Flips.DeclineToSpeak = int(total[sMuted]), int(total[sWoken])
	r.Flips.OtherSpeaker = int(total[sSwapped])
	r.Flips.Total = r.Flips.SpeakToDecline + r.Flips.DeclineToSpeak + r.Flips.OtherSpeaker
	for i, m := range measures {
		*m.at(&r) = Figure(m.of(&total))
		r.Intervals[m.key] = interval(values[i])
	}
	r.Silence = silence(&total)
	r.P50, r.P99 = percentiles(times)
	if subject >= 0 {
		s := b.Subjects[subject]
		r.Policy, r.Use, r.Digest, r.Settings = s.Name, s.Ref.Use, s.Ref.Digest, string(s.Ref.Settings)
	}
	return r
}

// maxFlips bounds the examples of one policy.
const maxFlips = 30

func percentiles(times []time.Duration) (p50, p99 Figure) {
	if len(times) == 0 {
		return Figure(math.NaN()), Figure(math.NaN())
	}
	slices.Sort(times)
	ms := func(q int) Figure { // nearest rank
		return Figure(float64(times[(len(times)*q+99)/100-1].Microseconds()) / 1000)
	}
	return ms(50), ms(99)
}

// compared are the figures on which policies are compared.
var compared = []string{"accuracy", "decline_rate", "top_speaker", "addressed_not_chosen"}

// comparisons holds each later policy against the first.
func (b *bench) comparisons(r *Report, values [][][]float64) []Comparison {
	var all []Comparison
	if len(b.trials) < minTranscripts {
		return nil // there is nothing to tell chance from
	}
	for k := 1; k < len(b.Subjects); k++ {
		for i, m := range measures {
			if !slices.Contains(compared, m.key) {
				continue
			}
			first, other := values[1][i], values[1+k][i]
			diffs := make([]float64, len(first))
			for j := range first {
				diffs[j] = other[j] - first[j]
			}
			all = append(all, Comparison{
				A: b.Subjects[0].Name, B: b.Subjects[k].Name, Figure: m.key,
				Difference: *m.at(&r.Policies[k]) - *m.at(&r.Policies[0]),
				Interval:   interval(diffs), P: Figure(pValue(first, other)),
			})
		}
	}
	return all
}

// agreement is the share of equal answers of each pair.
func (b *bench) agreement() [][]Figure {
	n := 1 + len(b.Subjects)
	matrix := make([][]Figure, n)
	for i := range matrix {
		matrix[i] = make([]Figure, n)
		for j := range matrix[i] {
			var same, all float64
			for _, t := range b.trials {
				x, y := t.of(i-1).answers, t.of(j-1).answers
				for k := range x {
					all++
					if x[k] == y[k] {
						same++
					}
				}
			}
			matrix[i][j] = Figure(ratio(same, all))
		}
	}
	return matrix
}

// maxSeats bounds the participants whose windows are told.
const maxSeats = 50

// windows sums up by participant's id, the most turns first.
func (b *bench) windows() []SeatWindows {
	by := map[string]*SeatWindows{}
	for _, t := range b.trials {
		for i, w := range t.windows {
			if w.turns == 0 {
				continue
			}
			s := by[w.who]
			if s == nil {
				s = &SeatWindows{Participant: w.who, Budgets: make([]Budget, len(budgets))}
				by[w.who] = s
			}
			k := i % len(budgets)
			if k == 0 {
				s.Turns += w.turns
			}
			s.Budgets[k].Budget = w.budget
			s.Budgets[k].Tokens += w.tokens
			s.Budgets[k].Omitted += w.omitted
		}
	}
	var all []SeatWindows
	for _, s := range by {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b SeatWindows) int {
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(a.Participant, b.Participant))
	})
	return all[:min(len(all), maxSeats)]
}
