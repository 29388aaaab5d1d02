// Package adaptive predicts the next speaker, learns from every turn, and grants
// the turn to the most likely eligible candidate.
//
// No fixed rule suits every room. After a question the turn returns to the
// previous speaker; in a pipeline it never does; in a meeting the addressed
// participant speaks. The policy is therefore a mixture of experts (Jacobs,
// Jordan, Nowlan and Hinton, Adaptive Mixtures of Local Experts, 1991). Each
// candidate has about forty features. Each component of the mixture is a
// multinomial logistic regression: a weighted sum of the features and a softmax
// over the candidates. The weights of the components follow Bayes' rule with a
// fixed share (Herbster and Warmuth, Tracking the Best Expert, 1998), so that
// the components that predict this room's turns gain weight. A gradient step
// corrects the weights of the features after each turn.
//
// The state is a few KiB; no language model is needed. The prior, the weights
// for conversations in general, was trained on transcripts (prior.go, written by
// the command in training/prior). The settings may hold weights for one team,
// which `moot policy learn` trains.
//
// A decision uses the files in this order: state.go and packing.go decode the
// state; learner.go compares the prediction with the actual speaker; room.go
// counts; text.go and mentions.go read the messages; rows.go, features.go,
// probabilities.go and team.go describe the candidates; mixture.go predicts;
// reasons.go explains.
//
// The policy predicts the turns that people and agents would take. These are
// not always the best turns for the room.
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
	room      *room // reused by all decisions; it holds nothing beyond the state

	// Memory of the answer. It is reused because allocations are slow in the
	// sandbox.
	confidence float64
	reason     []byte
	scores     []policy.Score
}

// waitThreshold is the probability above which the policy waits for an
// ineligible agent that soon becomes eligible, instead of choosing another.
const waitThreshold = 0.5

// New returns the policy with its default settings.
func New() *Policy { return NewWith(nil, nil) }

// NewWith returns the policy with another prior, for training, and with the
// weights of a team. Nil means the built-in prior, and no team. It allocates the
// memory for decisions in advance, because in the sandbox that memory is part of
// the snapshot from which each decision starts.
func NewWith(p *Prior, t *Team) *Policy {
	if p == nil {
		p = &prior
	}
	r := &room{people: make([]person, 0, maxPeople)}
	r.last.bag = make([]uint16, 0, maxWords)
	r.packed, r.text = make([]byte, 0, maxState), make([]byte, 0, maxState)
	r.reset()
	const seats = 256
	r.seats = rosterIndex{ids: make([]uint32, 0, seats), spoke: make([]bool, 0, seats), shown: make([]bool, 0, seats), table: make([]int16, 2*seats)}
	return &Policy{prior: p, model: newModel(p, t), room: r, scores: make([]policy.Score, 0, maxRows), reason: make([]byte, 0, policy.MaxReason)}
}

// maxState is more than the size of any state, in bytes.
const maxState = 16 << 10

// Bounds of the messages of one input that the policy learns from. The turns of
// earlier messages are only counted. Otherwise the first input of a long room
// could exceed the fuel of a decision.
const (
	maxLearned = 40
	maxRead    = 6 << 10
)

// Decide learns from the messages since the previous decision and chooses the
// most likely eligible candidate. A hand-off comes first: it is a wish, not a
// prediction, and its turn is learned like any other. The result is valid until the next call.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	observed := p.observe(in, true)
	p.room.predict(p.model)
	d := p.choose(in)
	if to, why := in.HandedOff(); to != nil {
		d = policy.Decision{Action: policy.ActionSpeak, Agent: to.ID, Reason: why, Scores: p.scores}
	}
	if observed || in.State == nil {
		d.State = p.room.save(p.model)
	}
	return d
}

// observe restores the state and adds the messages of in. It reports whether
// there were any. If learn is set it also learns from them.
func (p *Policy) observe(in *policy.Input, learn bool) bool {
	r := p.room
	r.restore(in.State)
	if r.components != p.model.n { // the settings have changed
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
		if bytes += len(in.Events[i].Text); said > maxLearned || bytes > maxRead && said > 1 {
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
		r.addMessage(e, more, i >= whole)
	}
	return said > 0
}

func (p *Policy) choose(in *policy.Input) policy.Decision {
	best, likeliest := -1, -1
	p.scores = p.scores[:0]
	var most, highest float64
	for i := range p.room.rows {
		w := &p.room.rows[i]
		a, chance := &in.Agents[w.seat], w.p/w.size // probability of one candidate of a group
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
	if highest > waitThreshold {
		if a := &in.Agents[p.room.rows[likeliest].seat]; !a.Eligible && a.Soon() {
			return policy.Decline("waiting for " + a.ID + ", the likely next speaker, who cannot speak now (" + a.Ineligible + ")")
		}
	}
	if best < 0 {
		return policy.Decline("only the last speaker is eligible")
	}
	return p.answer(in, best, rounded(most))
}

// answer chooses row best, or declines if its probability is below the threshold.
func (p *Policy) answer(in *policy.Input, best int, chance float64) policy.Decision {
	id := in.Agents[p.room.rows[best].seat].ID
	p.confidence = chance
	d := policy.Decision{Action: policy.ActionSpeak, Agent: id, Confidence: &p.confidence, Scores: p.scores}
	if chance >= p.threshold {
		p.reason = append(p.room.reason(p.reason[:0], p.model, best), ", "...)
	} else {
		d.Action, d.Agent = policy.ActionDecline, ""
		p.reason = appendAll(p.reason[:0], "no candidate is likely enough: ", id, " is the most likely, ")
	}
	p.reason = append(strconv.AppendInt(p.reason, int64(chance*100+.5), 10), " %"...)
	d.Reason = unsafe.String(unsafe.SliceData(p.reason), len(p.reason)) // valid as long as the rest
	return d
}

// Configure reads {"threshold":0,"team":{...}}. The threshold, from 0 to 1, is
// the least probability of a choice; with the default, 0, the policy always
// chooses. The team is the output of `moot policy learn`.
func (p *Policy) Configure(settings policy.JSON) error {
	p.threshold = 0
	var t *Team
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "threshold":
			if p.threshold = r.Float(); p.threshold < 0 || p.threshold > 1 {
				r.Fail("threshold must be from 0 to 1")
			}
		case "team":
			t = readTeam(&r)
		default:
			r.Unknown(k)
		}
	}
	if r.End(); r.Err() != nil {
		return r.Err()
	}
	p.model = newModel(p.prior, t)
	return nil
}
