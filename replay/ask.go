package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// An asker replays one policy over one history.
type asker struct {
	Config
	subject  *Subject
	h        *history
	cursor   room.PolicyCursor
	score    *score
	detailed bool // keep reasons and tokens of each decision
	// watch, when set, is told each decision; its error ends the walk.
	watch func(*point, policy.Input, policy.Decision, policy.Record, error) error
}

func newAsker(c Config, h *history, s *Subject) *asker {
	return &asker{
		Config: c, subject: s, h: h, cursor: room.PolicyCursor{Ref: s.Ref},
		score: &score{chosen: make([]int, len(h.seats))},
	}
}

func (c Config) replay(ctx context.Context, h *history, s *Subject, detailed bool) (*score, error) {
	a := newAsker(c, h, s)
	a.detailed = detailed
	err := h.walk(func(p *point) error { return a.visit(ctx, p) })
	a.score.finish(h)
	return a.score, err
}

// visit asks the policy at one decision point.
func (a *asker) visit(ctx context.Context, p *point) error {
	in, err := p.state.Input(a.cursor, p.at, a.h.text)
	if err != nil {
		return fmt.Errorf("%s: rebuilding the input of decision %d: %w", a.h.name, p.n, err)
	}
	if a.h.talk {
		a.h.open(&in, p)
	}
	start := time.Now()
	d, rec, err := a.subject.Policy.Propose(ctx, in)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.score.times = append(a.score.times, time.Since(start))
	if a.watch != nil {
		if werr := a.watch(p, in, d, rec, err); werr != nil {
			return werr
		}
	}
	said := a.answer(d, err)
	a.score.chose(a.h, p, said)
	a.flip(p, said, d.Reason, err)
	a.detail(d.Reason, err)
	if err != nil {
		return nil
	}
	a.rank(d, &in, p)
	if p.n%a.Repeat == 1%a.Repeat {
		if err := a.again(ctx, in, d, rec); err != nil {
			return err
		}
	}
	if said.speaks() {
		a.score.handed(p.state.WindowFor(a.h.seats[said].id).Tokens)
	}
	a.advance(p, d)
	return nil
}

// maxDetails bounds the decisions of a transcript that are kept in detail.
const maxDetails = 1000

// detail keeps the reason of a decision.
func (a *asker) detail(reason string, err error) {
	if !a.detailed || len(a.score.reasons) >= maxDetails {
		return
	}
	if err != nil {
		reason = err.Error()
	}
	a.score.reasons = append(a.score.reasons, reason)
}

func (a *asker) answer(d policy.Decision, err error) answer {
	if err != nil {
		if a.score.trouble == "" {
			a.score.trouble = err.Error()
		}
		return failed
	}
	switch d.Action {
	case policy.ActionSpeak:
		return answer(a.h.index[d.Agent])
	case policy.ActionFinish:
		return finished
	}
	return declined
}

func (a *asker) rank(d policy.Decision, in *policy.Input, p *point) {
	switch {
	case p.truth.speaks():
		if place := a.h.rank(d, in, p, int(p.truth)); place > 0 {
			a.score.sums[sReciprocal] += 1 / float64(place)
		}
	case a.answer(d, nil) == p.truth:
		a.score.sums[sReciprocal]++
	}
}

// again asks once more and compares the bytes of the decision and the fuel.
func (a *asker) again(ctx context.Context, in policy.Input, d policy.Decision, rec policy.Record) error {
	d2, rec2, err := a.subject.Policy.Propose(ctx, in)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.score.sums[sRepeated]++
	if err != nil || rec.Fuel != rec2.Fuel || !bytes.Equal(d.AppendJSON(nil), d2.AppendJSON(nil)) {
		a.score.sums[sDiffering]++
	}
	return nil
}

// advance moves the policy's cursor. One that failed stays where it is, as it
// would in a room.
func (a *asker) advance(p *point, d policy.Decision) {
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

// A Flip is a decision that differs from what happened.
type Flip struct {
	Transcript string `json:"transcript"`
	Point      int    `json:"point"` // from 1
	Turn       int    `json:"turn"`  // that was decided about
	Seq        int64  `json:"seq,omitempty"`
	From       string `json:"from"` // a participant, decline, finish
	To         string `json:"to"`   // or error
	Reason     string `json:"reason,omitempty"`
}

// place is what `moot replay show` calls the decision.
func (f Flip) place() string {
	if f.Seq > 0 {
		return fmt.Sprintf("%s#%d", f.Transcript, f.Seq)
	}
	return fmt.Sprintf("%s#%d", f.Transcript, f.Point)
}

// keptFlips is how many a report tells of each policy and transcript.
const keptFlips = 3

func (a *asker) flip(p *point, said answer, reason string, err error) {
	if said == p.truth || len(a.score.flips) >= keptFlips {
		return
	}
	if err != nil {
		reason = err.Error()
	}
	f := Flip{
		Transcript: a.h.name, Point: p.n, Turn: p.state.Tally.Turns + 1,
		From: a.h.nameOf(p.truth), To: a.h.nameOf(said), Reason: reason,
	}
	if !a.h.talk {
		f.Seq = p.event.Seq
	}
	a.score.flips = append(a.score.flips, f)
}

var errNoPolicies = errors.New("replay: no policies")
