// Package adaptive foresees who speaks next, learns from every turn, and gives
// the floor to the likeliest.
//
// No fixed rule suits every room: question and answer returns to the speaker
// before, a pipeline never does, and a meeting follows whoever is addressed.
// So every candidate for the next turn is described by some forty features,
// several rules each make a probability of them, and the rules that foresaw
// the room's turns gain weight from turn to turn. What it learns is its state,
// a few KiB; it needs no model. What talk at large is like was learnt from
// transcripts beforehand (prior.go, made by the command in training/prior),
// and what a team is like can be (settings made by `moot policy learn`).
//
// In the order in which one decision uses them: state.go and packing.go read
// the state; learner.go learns from who spoke; tables.go counts; text.go and
// places.go read what was said; rows.go, features.go, chances.go, team.go and
// words.go describe the candidates; mixture.go gives them their probabilities;
// reasons.go says why.
//
// It foresees what people and agents would do, which is not always what would
// be best for the room.
package adaptive

import (
	"github.com/folkmoot/moot/policies/policy"
)

// Policy is the adaptive policy.
type Policy struct {
	threshold float64
	prior     *Prior
	model     *model
	room      room // reused from decision to decision; it holds nothing that the state does not
}

// surely is the probability from which on an agent that cools down is waited
// for rather than replaced.
const surely = 0.5

// New returns the policy with its default settings.
func New() *Policy { return NewWith(&prior) }

// NewWith returns the policy with another prior, for those who train one.
func NewWith(prior *Prior) *Policy {
	return &Policy{prior: prior, model: newModel(prior, nil)}
}

// maxLearnt bounds how many turns of one input are learnt from, the latest;
// those before are counted only. A room that was joined late, or one in which
// a hundred people speak at once, would otherwise cost that much in one
// decision.
const maxLearnt = 60

// Decide learns from what was said since the previous decision and chooses
// the likeliest of those who may speak.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	heard := p.hear(in)
	d := p.choose(in)
	if heard || in.State == nil {
		d.State = p.room.save()
	}
	return d
}

// hear takes up the state and the messages, and reports whether there were
// any.
func (p *Policy) hear(in *policy.Input) bool {
	r := &p.room
	r.restore(in.State)
	r.team = p.model.team
	r.seat(in.Agents)
	said := 0
	for i := range in.Events {
		if in.Events[i].Said() {
			said++
		}
	}
	left := said
	for i := range in.Events {
		e := &in.Events[i]
		if !e.Said() {
			continue
		}
		id := hash(e.From)
		more := len(r.people) > 0 && r.people[0].id == id
		if !more {
			if left <= maxLearnt {
				r.learn(p.model, id)
			}
			r.count(id, r.lastKind(), r.kindOf(id))
		}
		r.read(e, more)
		left--
	}
	return said > 0
}

func (p *Policy) choose(in *policy.Input) policy.Decision {
	rows := p.room.foresee(p.model)
	best, likeliest := -1, -1
	scores := make([]policy.Score, 0, len(rows))
	for i := range rows {
		a := &in.Agents[rows[i].seat]
		rows[i].p /= rows[i].size // of one of the group
		if likeliest < 0 || rows[i].p > rows[likeliest].p {
			likeliest = i
		}
		if !a.Eligible {
			continue
		}
		scores = append(scores, policy.Score{Agent: a.ID, Score: rounded(rows[i].p)})
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
	return p.answer(in, best, scores)
}

// answer chooses row best, or declines when it is too unlikely.
func (p *Policy) answer(in *policy.Input, best int, scores []policy.Score) policy.Decision {
	top := rounded(p.room.rows[best].p)
	id := in.Agents[p.room.rows[best].seat].ID
	d := policy.Speak(id, p.room.reason(p.model, best)+", "+percent(top))
	if top < p.threshold {
		d = policy.Decline("unsure who should speak: " + id + " at best, " + percent(top))
	}
	d.Confidence, d.Scores = &top, scores
	return d
}
