package replay

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A sandboxed makes the decisions of a policy in one transcript.
type sandboxed struct {
	ask    func(context.Context, *policy.Input) (policy.Decision, policy.Record, error)
	cursor room.PolicyCursor
	repeat int
	place  int // of the transcript: short ones do not all repeat their first decision
	score  *score
	shows  bool // keep the input with the verdict
	in     policy.Input
}

// decide asks the policy.
func (a *sandboxed) decide(ctx context.Context, p *point) (verdict, error) {
	in := &a.in
	if err := p.state.AppendInput(in, a.cursor, p.at, p.tail.text); err != nil {
		return verdict{}, fmt.Errorf("%s: rebuilding the input of decision %d: %w", p.h.name, p.n, err)
	}
	if p.h.chat != nil && !p.simulated {
		p.bar(in)
	}
	v := verdict{said: failed, guess: declined, confidence: -1}
	if a.shows {
		v.input = in.AppendJSON(nil)
	}
	start := time.Now()
	v.decision, v.record, v.err = a.ask(ctx, in)
	v.took = time.Since(start)
	if ctx.Err() != nil {
		return v, ctx.Err()
	}
	if v.err != nil {
		return v, nil
	}
	d := &v.decision
	v.said = p.answer(d)
	v.judge(p)
	if v.said.speaks() && p.truth.speaks() {
		v.place = p.rank(d, int(v.said), int(p.truth))
	}
	if (p.n+a.place)%a.repeat == 1%a.repeat {
		if err := a.again(ctx, in, &v); err != nil {
			return v, err
		}
	}
	a.advance(p, d)
	return v, nil
}

func (p *point) answer(d *policy.Decision) answer {
	switch d.Action {
	case policy.ActionSpeak:
		if who, ok := p.h.index[d.Agent]; ok {
			return answer(who)
		}
		return failed
	case policy.ActionFinish:
		return finished
	}
	return declined
}

// judge finds out whom the policy holds for the likeliest and how sure it is:
// what it states as its confidence, or else its highest score, where all its
// scores are shares of one.
func (v *verdict) judge(p *point) {
	d := &v.decision
	v.guess = declined
	if v.said.speaks() {
		v.guess = v.said
	}
	best, shares, sum := -1, true, 0.0
	for i, s := range d.Scores {
		shares = shares && s.Score >= 0
		sum += s.Score
		if best < 0 || s.Score > d.Scores[best].Score {
			best = i
		}
	}
	if !v.guess.speaks() && best >= 0 {
		if who, ok := p.h.index[d.Scores[best].Agent]; ok {
			v.guess = answer(who)
		}
	}
	switch {
	case d.Confidence != nil:
		v.confidence = *d.Confidence
	case best >= 0 && shares && sum > 0 && sum < 1.001 && v.guess.speaks() && d.Scores[best].Agent == p.h.seats[v.guess].id:
		v.confidence = d.Scores[best].Score
	}
}

// again asks once more and compares the bytes of the decision and the fuel.
func (a *sandboxed) again(ctx context.Context, in *policy.Input, v *verdict) error {
	d, rec, err := a.ask(ctx, in)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.score.sums[sRepeated]++
	if err != nil || rec.Fuel != v.record.Fuel || !bytes.Equal(d.AppendJSON(nil), v.decision.AppendJSON(nil)) {
		a.score.sums[sDiffering]++
	}
	return nil
}

// advance moves the policy's cursor. One that failed stays where it is, as it
// would in a room.
func (a *sandboxed) advance(p *point, d *policy.Decision) {
	a.cursor.Asked = true
	a.cursor.Decision++
	a.cursor.Through = p.state.Seq
	a.cursor.State = nextState(a.cursor.State, d.State)
}

// nextState is the state after a decision: absent leaves it, null clears it.
func nextState(before, said policy.JSON) policy.JSON {
	switch {
	case said == nil:
		return before
	case string(said) == "null":
		return nil
	}
	return said
}
