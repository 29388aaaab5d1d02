// Package adaptive learns who speaks after whom in this room, while it runs.
//
// No fixed rule suits every room: question and answer returns to the speaker
// before, a pipeline never does, and a meeting follows whoever is addressed.
// So several simple rules each give every candidate a probability, and the
// rules that foresaw the room's turns gain weight from turn to turn. What it
// learns is its state, a few KiB; it needs no model and no training.
//
// The pieces, a file each: tables.go counts what happened, features.go turns
// the counts into what a rule looks at, mixture.go holds the rules and their
// weights, state.go writes it all down between decisions.
//
// It foresees what people and agents would do, which is not always what would
// be best for the room.
package adaptive

import (
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
)

// Policy is the adaptive policy.
type Policy struct {
	below float64
	room  room // reused from decision to decision; it holds nothing that the state does not
}

// surely is the probability from which on an agent that cools down is waited
// for rather than replaced.
const surely = 0.5

// New returns the policy with its default settings.
func New() *Policy { return &Policy{} }

// Configure reads {"declineBelow":0}: from 0 to 1, the probability that a
// choice needs. The default never declines for want of it.
func (p *Policy) Configure(settings policy.JSON) error {
	p.below = 0
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "declineBelow":
			if p.below = r.Float(); p.below < 0 || p.below > 1 {
				r.Fail("declineBelow must be from 0 to 1")
			}
		default:
			r.Unknown(k)
		}
	}
	r.End()
	return r.Err()
}

// Decide learns from what was said since the previous decision and chooses
// the likeliest of those who may speak.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	p.room.restore(in.State)
	p.room.seat(in.Agents)
	heard := false
	for i := range in.Events {
		if e := &in.Events[i]; e.Said() {
			p.room.hear(e)
			heard = true
		}
	}
	d := p.choose(in)
	if heard || in.State == nil {
		d.State = p.room.save()
	}
	return d
}

func (p *Policy) choose(in *policy.Input) policy.Decision {
	rows := p.room.foresee()
	best, likeliest := -1, -1
	scores := make([]policy.Score, 0, len(rows))
	for i := range rows {
		a := &in.Agents[rows[i].seat]
		if likeliest < 0 || rows[i].p > rows[likeliest].p {
			likeliest = i
		}
		if !a.Eligible {
			continue
		}
		scores = append(scores, policy.Score{Agent: a.ID, Score: round(rows[i].p)})
		if best < 0 || rows[i].p > rows[best].p {
			best = i
		}
	}
	if likeliest >= 0 && rows[likeliest].p > surely {
		if a := &in.Agents[rows[likeliest].seat]; !a.Eligible && a.Soon() {
			return policy.Decline("waiting for " + a.ID + ", who likely follows and cannot speak now (" + a.Ineligible + ")")
		}
	}
	if best < 0 {
		return policy.Decline("nobody but the last speaker is eligible")
	}
	top := round(rows[best].p)
	id := in.Agents[rows[best].seat].ID
	d := policy.Speak(id, reason(&rows[best], id)+", "+percent(top))
	if top < p.below {
		d = policy.Decline("unsure who should speak: " + id + " at best, " + percent(top))
	}
	d.Confidence, d.Scores = &top, scores
	return d
}

// reason names what speaks for a choice most.
func reason(r *row, id string) string {
	switch {
	case r.f.addressed == 1:
		return id + " is addressed"
	case r.f.lastNamed == 1:
		return id + " was named last"
	case r.rank == 1:
		return id + " spoke before the last speaker"
	case r.rank == never:
		return id + " has not spoken yet and likely follows"
	}
	return id + " likely follows, as turns in this room go"
}

func percent(f float64) string { return strconv.Itoa(int(f*100+.5)) + " %" }
