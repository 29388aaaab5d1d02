package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/room"
)

// An asker replays one subject over one transcript and keeps the score.
type asker struct {
	decider
	gauge    *gauge // shared by all transcripts of the subject
	score    *score
	detailed bool // keep each decision
}

// newAsker returns an asker of the subject in the transcript at a place. gauge
// may be nil.
func newAsker(c Config, s *Subject, place int, g *gauge) *asker {
	a := &asker{gauge: g, score: &score{}}
	if s.Baseline != "" {
		a.decider = newReference(s.Baseline)
	} else {
		a.decider = &sandboxed{ask: s.ask(c.Simulate), cursor: room.PolicyCursor{Ref: s.Ref}, repeat: c.Repeat, place: place, score: a.score}
	}
	return a
}

// visit asks the subject at one decision point and counts its answer.
func (a *asker) visit(ctx context.Context, p *point) (verdict, error) {
	v, err := a.decide(ctx, p)
	if err != nil {
		return v, err
	}
	a.score.chose(p, &v)
	if a.gauge != nil {
		a.gauge.measure(p, &v)
	}
	a.flip(p, &v)
	a.score.keep(&v, a.detailed)
	if v.said.speaks() {
		a.score.handed(p, int(v.said))
	}
	return v, nil
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

func (a *asker) flip(p *point, v *verdict) {
	if p.simulated || v.said == p.truth || len(a.score.flips) >= keptFlips {
		return
	}
	f := Flip{
		Transcript: p.h.name, Point: p.n, Turn: p.state.Tally.Turns + 1,
		From: p.h.nameOf(p.truth), To: p.h.nameOf(v.said), Reason: v.reason(),
	}
	if v.err != nil {
		f.Reason = v.err.Error()
	}
	if p.h.chat == nil {
		f.Seq = p.event.Seq
	}
	a.score.flips = append(a.score.flips, f)
}

var errNoPolicies = errors.New("replay: no policies")
