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
// In the order in which one decision uses them: state.go, counts.go,
// packing.go and digits.go read the state; learner.go learns from who spoke, by
// what recall.go kept; tables.go counts; text.go and places.go read what was
// said; rows.go, features.go, chances.go, team.go and words.go describe the
// candidates; mixture.go gives them their probabilities; reasons.go says why.
//
// It foresees what people and agents would do, which is not always what would
// be best for the room.
package adaptive

import (
	"strconv"
	"unsafe"

	"github.com/folkmoot/moot/policies/policy"
)

// Policy is the adaptive policy.
type Policy struct {
	threshold float64
	prior     *Prior
	model     *model
	room      *room // reused from decision to decision; it holds nothing that the state does not

	// What the answer is made of. An allocation would cost a decision more than
	// the words that it is for.
	confidence float64
	reason     []byte
	scores     []policy.Score
}

// surely is the probability from which on an agent that cools down is waited
// for rather than replaced.
const surely = 0.5

// New returns the policy with its default settings.
func New() *Policy { return NewWith(nil, nil) }

// NewWith returns the policy with another prior than its own, for those who
// train one, and with what is known of a team; nil for none. It makes the
// memory for its decisions beforehand, because in the sandbox that is part of
// the image that every decision starts from.
func NewWith(p *Prior, t *Team) *Policy {
	if p == nil {
		p = &prior
	}
	r := &room{people: make([]person, 0, maxPeople)}
	r.last.bag = make([]uint16, 0, maxWords)
	r.packed, r.text = make([]byte, 0, maxState), make([]byte, 0, maxState)
	r.forget()
	const seats = 256
	r.seats = seating{ids: make([]uint32, 0, seats), spoke: make([]bool, 0, seats), shown: make([]bool, 0, seats), table: make([]int16, 2*seats)}
	return &Policy{prior: p, model: newModel(p, t), room: r, scores: make([]policy.Score, 0, mostRows), reason: make([]byte, 0, policy.MaxReason)}
}

// maxState is more than a state takes, in bytes.
const maxState = 16 << 10

// What one input is learnt from: its latest messages, and so many bytes of
// their texts. Those before are counted only. A room that was joined late, or
// one in which hundreds speak at once, would otherwise take more fuel than a
// decision has.
const (
	maxLearnt = 40
	maxRead   = 6 << 10
)

// Decide learns from what was said since the previous decision and chooses
// the likeliest of those who may speak. What it returns is valid until the
// next call.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	heard := p.hear(in, true)
	p.room.foresee(p.model)
	d := p.choose(in)
	if heard || in.State == nil {
		d.State = p.room.save(p.model)
	}
	return d
}

// hear takes up the state and the messages, and reports whether there were
// any. It learns from them when learn says so.
func (p *Policy) hear(in *policy.Input, learn bool) bool {
	r := p.room
	r.restore(in.State)
	if r.components != p.model.n { // of other settings
		r.weighed, r.noted = false, nil
	}
	r.team = p.model.team
	r.seat(in.Agents)
	said, whole := 0, 0
	for i, bytes := len(in.Events)-1, 0; i >= 0; i-- {
		if !in.Events[i].Said() {
			continue
		}
		said++
		if bytes += len(in.Events[i].Text); said > maxLearnt || bytes > maxRead && said > 1 {
			whole = max(whole, i+1)
		}
	}
	for i := range in.Events {
		e := &in.Events[i]
		if !e.Said() {
			continue
		}
		id := hash(e.From)
		more := len(r.people) > 0 && r.people[0].id == id
		if !more {
			if learn && i >= whole {
				r.learn(p.model, id)
			}
			r.count(id, r.lastKind(), r.kindOf(id))
		}
		r.listen(e, more, i >= whole)
	}
	return said > 0
}

func (p *Policy) choose(in *policy.Input) policy.Decision {
	best, likeliest := -1, -1
	p.scores = p.scores[:0]
	var most, highest float64
	for i := range p.room.rows {
		w := &p.room.rows[i]
		a, chance := &in.Agents[w.seat], w.p/w.size // of one of the group
		if likeliest < 0 || chance > highest {
			likeliest, highest = i, chance
		}
		if !a.Eligible {
			continue
		}
		p.scores = append(p.scores, policy.Score{Agent: a.ID, Score: rounded(chance)})
		if best < 0 || chance > most {
			best, most = i, chance
		}
	}
	if highest > surely {
		if a := &in.Agents[p.room.rows[likeliest].seat]; !a.Eligible && a.Soon() {
			return policy.Decline("waiting for " + a.ID + ", who likely follows and cannot speak now (" + a.Ineligible + ")")
		}
	}
	if best < 0 {
		return policy.Decline("nobody but the last speaker is eligible")
	}
	return p.answer(in, best, rounded(most))
}

// answer chooses row best, or declines when it is too unlikely.
func (p *Policy) answer(in *policy.Input, best int, chance float64) policy.Decision {
	id := in.Agents[p.room.rows[best].seat].ID
	p.confidence = chance
	d := policy.Decision{Action: policy.ActionSpeak, Agent: id, Confidence: &p.confidence, Scores: p.scores}
	if chance >= p.threshold {
		p.reason = append(p.room.reason(p.reason[:0], p.model, best), ", "...)
	} else {
		d.Action, d.Agent = policy.ActionDecline, ""
		p.reason = say(p.reason[:0], "unsure who should speak: ", id, " at best, ")
	}
	p.reason = append(strconv.AppendInt(p.reason, int64(chance*100+.5), 10), " %"...)
	d.Reason = unsafe.String(unsafe.SliceData(p.reason), len(p.reason)) // valid as long as the rest
	return d
}
