package replay

import (
	"context"

	"github.com/folkmoot/moot/room"
)

// A trial is one transcript with everything that came out of it.
type trial struct {
	transcript Transcript // until it has been replayed
	h          *history   // nil when there is nothing to decide
	recorded   *score
	windows    []window
	scores     []*score // by subject
	same       [][]int  // decisions in which two answered alike; the recorded first
	place      int      // among the transcripts
}

// maxStrips is how many transcripts the report shows decision by decision.
const maxStrips = 12

// progressEvery is how many decision points pass between two words of
// progress.
const progressEvery = 512

// whatIf asks all subjects at every decision point of h, in one walk.
func (t *trial) whatIf(ctx context.Context, b *bench, h *history) error {
	t.h = h
	t.recorded = &score{}
	seen := &handed{}
	detailed := b.shows(t)
	askers := make([]*asker, len(b.Subjects))
	for i := range askers {
		askers[i] = newAsker(b.Config, &b.Subjects[i], t.place, b.gauges[i])
		askers[i].detailed = detailed
		t.scores = append(t.scores, askers[i].score)
	}
	t.same = square(len(askers) + 1)
	said := make([]answer, len(askers)+1)
	told := 0
	err := h.walk(b.most, b.habits(), func(p *point) error {
		t.recorded.record(p, detailed)
		seen.add(p)
		said[0] = p.truth
		for i, a := range askers {
			v, err := a.visit(ctx, p)
			if err != nil {
				return err
			}
			said[i+1] = v.said
		}
		t.alike(said)
		if p.n%progressEvery == 0 {
			b.advance((p.n - told) * len(askers))
			told = p.n
		}
		return nil
	})
	t.windows = seen.windows
	t.finish()
	b.advance((int(t.recorded.sums[sDecisions]) - told) * len(askers))
	return err
}

// habits returns what baselines need, if there are any.
func (b *bench) habits() *habits {
	for _, s := range b.Subjects {
		if s.Baseline != "" {
			return newHabits()
		}
	}
	return nil
}

// record counts what truly happened, like a policy that is always right.
func (s *score) record(p *point, detailed bool) {
	v := verdict{said: p.truth, guess: p.truth, place: 1, confidence: -1}
	switch b := p.event.Body.(type) {
	case room.TurnGranted:
		v.decision.Reason = b.Reason
	case room.RoundDeclined:
		v.decision.Reason = b.Reason
	case room.Completed:
		v.decision.Reason = b.Reason
	}
	s.chose(p, &v)
	s.keep(&v, detailed)
	if p.truth.speaks() {
		s.handed(p, int(p.truth))
	}
}

func (t *trial) finish() {
	t.recorded.finish(t.h)
	for _, s := range t.scores {
		s.finish(t.h)
	}
}

// alike counts who answered alike.
func (t *trial) alike(said []answer) {
	for i, a := range said {
		for j, b := range said[:i] {
			if a == b {
				t.same[i][j]++
				t.same[j][i]++
			}
		}
		t.same[i][i]++
	}
}

func square(n int) [][]int {
	rows := make([][]int, n)
	for i := range rows {
		rows[i] = make([]int, n)
	}
	return rows
}

// forget drops the details of a transcript that is not shown decision by
// decision.
func (t *trial) forget() {
	for i := -1; i < len(t.scores); i++ {
		s := t.of(i)
		s.answers, s.why = nil, nil
	}
}

// of returns the score of a subject, or with -1 of what was recorded.
func (t *trial) of(subject int) *score {
	if subject < 0 {
		return t.recorded
	}
	return t.scores[subject]
}
