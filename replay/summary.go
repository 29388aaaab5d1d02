package replay

import (
	"cmp"
	"math"
	"slices"
)

func (b *bench) report() *Report {
	r := &Report{
		Version: ReportVersion, Mode: ModeWhatIf, Points: b.points(), Conversations: len(b.trials), Dropped: b.dropped,
		Resamples: b.Resamples, Notes: []string{
			"what-if on recorded history: after a policy's first different choice the later points are still judged on what truly followed",
			"agreement is not quality: the truth is what happened, not what was best",
		},
	}
	if b.Simulate {
		r.Mode, r.Notes = ModeSimulate, simulateNotes
	}
	lists := b.lists()
	values := intervals(b.Config, lists)
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
	r.Recorded.Policy = recordedName
	for i := range b.Subjects {
		r.Policies = append(r.Policies, b.result(i, values[i+1]))
	}
	r.Comparisons = b.comparisons(r, values)
	r.Agreement = b.agreement()
	r.Windows = b.windows()
	r.Airtime = b.airtime()
	r.Curve = b.curve()
	for _, t := range b.shown {
		r.Strips = append(r.Strips, t.strip())
	}
	return r
}

// recordedName is what stands for the recorded history among policies.
const recordedName = "recorded"

// points names what stood for rounds.
func (b *bench) points() string {
	talks := 0
	for _, t := range b.trials {
		if t.h.chat != nil {
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
		c.Hits = append(c.Hits, int(math.Round(s.sums[sHits])))
	}
	return c
}

func (b *bench) result(subject int, values [][]float64) Result {
	var total sums
	r := Result{Intervals: map[string][2]Figure{}, N: map[string]int{}}
	for _, t := range b.trials {
		s := t.of(subject)
		total.add(&s.sums)
		if r.FirstError == "" {
			r.FirstError = s.trouble
		}
		if len(r.Flips.Examples) < maxFlips {
			r.Flips.Examples = append(r.Flips.Examples, s.flips...)
		}
	}
	r.count(&total)
	for i, m := range measures {
		*m.at(&r) = Figure(m.of(&total))
		r.Intervals[m.key] = interval(values[i])
		r.N[m.key] = int(total[m.n])
		if b.Simulate && m.truth {
			*m.at(&r), r.Intervals[m.key], r.N[m.key] = Figure(math.NaN()), interval(nil), 0
		}
	}
	r.Silence = silence(&total)
	r.Reasons = b.reasons(subject)
	r.Run = b.ran(subject)
	r.P50, r.P99 = Figure(math.NaN()), Figure(math.NaN())
	if subject >= 0 {
		s, g := b.Subjects[subject], b.gauges[subject]
		r.Policy, r.Use, r.Digest, r.Settings = s.Name, s.Ref.Use, s.Ref.Digest, string(s.Ref.Settings)
		r.Reference = s.Baseline != ""
		r.P50, r.P99, r.Times, r.Risk = g.percentile(50), g.percentile(99), g.slots(), g.risk()
	}
	return r
}

// count fills in what is a number of something.
func (p *Result) count(total *sums) {
	n := func(i int) int { return int(math.Round(total[i])) }
	p.Decisions, p.Hits, p.Declines = n(sDecisions), n(sHits), n(sDeclines)
	p.Finishes, p.Errors, p.Tokens, p.Cost = n(sFinishes), n(sErrors), int64(n(sTokens)), int64(n(sCost))
	p.Repeated, p.Differing = n(sRepeated), n(sDiffering)
	p.Flips.SpeakToDecline, p.Flips.DeclineToSpeak, p.Flips.OtherSpeaker = n(sMuted), n(sWoken), n(sSwapped)
	p.Flips.Total = p.Flips.SpeakToDecline + p.Flips.DeclineToSpeak + p.Flips.OtherSpeaker
}

// maxFlips bounds the examples of one policy.
const maxFlips = 30

// agreement is the share of equal answers of each pair.
func (b *bench) agreement() [][]Figure {
	n := 1 + len(b.Subjects)
	matrix := make([][]Figure, n)
	all := 0
	for _, t := range b.trials {
		all += int(t.recorded.sums[sDecisions])
	}
	for i := range matrix {
		matrix[i] = make([]Figure, n)
		for j := range matrix[i] {
			same := 0
			for _, t := range b.trials {
				if t.same != nil {
					same += t.same[i][j]
				}
			}
			matrix[i][j] = Figure(ratio(float64(same), float64(all)))
			if b.Simulate {
				matrix[i][j] = Figure(math.NaN())
			}
		}
	}
	return matrix
}

// maxSeats bounds the participants whose windows and airtime are told.
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
