package drive

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
)

// A policyEvaluator asks a policy in one transcript and keeps its cursor.
type policyEvaluator struct {
	propose   proposeFunc
	cursor    room.PolicyCursor
	repeat    int // every Nth decision is repeated; 0 for none
	offset    int // of the first repeated decision: varies by transcript, so that short ones differ
	keepInput bool
	in        policy.Input
	scores    []float64 // buffer
}

func (v *policyEvaluator) evaluate(ctx context.Context, p *history.Point) (Evaluation, error) {
	in := &v.in
	if err := p.Input(in, v.cursor); err != nil {
		return Evaluation{}, fmt.Errorf("%s: rebuilding the input of decision %d: %w", p.History.Name, p.N, err)
	}
	e := Evaluation{Choice: history.Failed, Likeliest: history.Declined, Confidence: -1}
	if v.keepInput {
		e.Input = in.AppendJSON(nil)
	}
	e.Decision, e.Record, e.Elapsed, e.Err = v.timed(ctx)
	if ctx.Err() != nil {
		return e, ctx.Err()
	}
	if e.Err != nil {
		return e, nil
	}
	d := &e.Decision
	e.Choice = choiceOf(p.History, d)
	e.setConfidence(p)
	v.setPlaces(p, &e)
	if v.repeat > 0 && (p.N+v.offset)%v.repeat == 1%v.repeat {
		if err := v.repeatDecision(ctx, &e); err != nil {
			return e, err
		}
	}
	// After a failure the cursor stays, as in a room.
	v.cursor.Asked, v.cursor.Replaced = true, ""
	if x, taken := p.Exploration(); x.Replaced(taken) && x.Choice == d.Agent {
		v.cursor.Replaced = x.Choice // as in the room, where the policy chose the same
	}
	v.cursor.Decision++
	v.cursor.Through = p.State.Seq
	v.cursor.State = room.NextPolicyState(v.cursor.State, d.State)
	return e, nil
}

// timed asks the policy, and returns the time that it took by the clock of this
// thread.
func (v *policyEvaluator) timed(ctx context.Context) (policy.Decision, policy.Record, time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := decisionClock()
	d, record, err := v.propose(ctx, &v.in)
	return d, record, decisionClock() - start, err
}

// setPlaces rates e. A choice that has spoken shares its place with no other.
func (v *policyEvaluator) setPlaces(p *history.Point, e *Evaluation) {
	if e.Choice.Speaks() && e.Choice == p.Truth && p.LastSpoke[e.Choice] > 0 {
		e.Hit, e.ReciprocalRank, e.Rank = 1, 1, 1
		return
	}
	s := newStated(p, e, v.scores)
	v.scores = s.scores
	e.setPlaces(p, s.order)
}

func choiceOf(h *history.History, d *policy.Decision) history.Choice {
	switch d.Action {
	case policy.ActionSpeak:
		if seat, ok := h.SeatOf(d.Agent); ok {
			return history.Choice(seat)
		}
		return history.Failed
	case policy.ActionFinish:
		return history.Finished
	}
	return history.Declined
}

// setConfidence sets Likeliest and Confidence. The confidence is the one that
// the policy states. Without one it is the highest score, if all scores are
// shares of one.
func (e *Evaluation) setConfidence(p *history.Point) {
	h, d := p.History, &e.Decision
	if e.Choice.Speaks() {
		e.Likeliest = e.Choice
	}
	best, shares, sum := -1, true, 0.0
	for i, s := range d.Scores {
		shares = shares && s.Score >= 0
		sum += s.Score
		if best < 0 || s.Score > d.Scores[best].Score || s.Score == d.Scores[best].Score && spokeLater(p, s.Agent, d.Scores[best].Agent) {
			best = i
		}
	}
	if !e.Likeliest.Speaks() && best >= 0 {
		if seat, ok := h.SeatOf(d.Scores[best].Agent); ok {
			e.Likeliest = history.Choice(seat)
		}
	}
	switch {
	case d.Confidence != nil:
		e.Confidence = *d.Confidence
	case best >= 0 && shares && sum > 0 && sum < 1.001 && e.Likeliest.Speaks() && d.Scores[best].Agent == h.Seats[e.Likeliest].ID:
		e.Confidence = d.Scores[best].Score
	}
}

// spokeLater reports whether the last message of a is later than that of b.
func spokeLater(p *history.Point, a, b string) bool {
	first, ok := p.History.SeatOf(a)
	second, both := p.History.SeatOf(b)
	return ok && both && p.LastSpoke[first] > p.LastSpoke[second]
}

// repeatDecision asks again with the same input, and compares the bytes of the
// decision and the fuel.
func (v *policyEvaluator) repeatDecision(ctx context.Context, e *Evaluation) error {
	d, record, err := v.propose(ctx, &v.in)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e.Repeated = true
	e.Differed = err != nil || record.Fuel != e.Record.Fuel || !bytes.Equal(d.AppendJSON(nil), e.Decision.AppendJSON(nil))
	return nil
}
