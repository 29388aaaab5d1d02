// Package adaptive predicts the next speaker, learns from every turn, and grants
// the turn to the most likely eligible candidate.
//
// No rule suits every room. After a question the turn returns to the previous
// speaker; in a pipeline it never does; in a meeting the addressed participant
// speaks, and in a game names mislead. The policy is therefore a mixture of nine
// laws, each a probability of every candidate: three habits (by recency, by
// airtime, by sequence) with three strengths of naming each, one of which is "a
// name means nothing here", which begin with a third of the weight of the others.
// The weights follow Bayes' rule with a fixed share (Herbster and Warmuth, Tracking
// the Best Expert, 1998), so that the laws that predict this room's turns gain
// weight. Nothing is trained. Settings may add one trained law for one team, the
// output of `moot policy learn`.
//
// A decision uses the files in this order: state.go decodes the state; mixture.go
// compares the prediction with the actual speaker; room.go counts; laws.go and
// taught.go describe the candidates, and role.go those that have not spoken;
// mixture.go predicts; reasons.go explains.
//
// The policy predicts the turns that people and agents would take. These are not
// always the best turns for the room.
package adaptive

import (
	"strconv"
	"unsafe"

	"github.com/folkmoot/moot/policies/policy"
)

// Policy is the adaptive policy.
type Policy struct {
	threshold float64
	silence   float64 // threshold of the odds, see whether.go; 0 always speaks
	head      *Head   // learned odds, or nil
	room      *room   // reused by all decisions; it holds nothing beyond the state

	// Memory of the answer. It is reused because allocations are slow in the
	// sandbox.
	confidence float64
	speak      float64
	reason     []byte
	scores     []policy.Score
}

// waitThreshold is the probability above which the policy waits for an
// ineligible agent that soon becomes eligible, instead of choosing another.
const waitThreshold = 0.5

// New returns the policy with its default settings.
func New() *Policy { return NewWith(nil) }

// NewWith returns the policy with what was learned about a team; nil is no team. It
// allocates the memory for decisions in advance, because in the sandbox that memory
// is part of the snapshot from which each decision starts.
func NewWith(t *Team) *Policy {
	const seats = 256
	r := &room{team: t, people: make([]person, 0, maxPeople+1)}
	r.memory = memory{
		rows: make([]row, 0, seats), text: make([]byte, 0, maxState), spare: make([]byte, 0, maxState),
		numbers: make([]byte, 0, maxState), coded: make([]byte, 0, maxState), ids: make([]string, 0, seats),
	}
	return &Policy{silence: equalShare, room: r, scores: make([]policy.Score, 0, seats), reason: make([]byte, 0, policy.MaxReason)}
}

// Decide learns from the messages since the previous decision and chooses the
// most likely eligible candidate. A hand-off comes first: it is a wish, not a
// prediction, and its turn is learned like any other. The result is valid until
// the next call.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	observed := p.observe(in)
	p.room.predict()
	d := p.choose(in, observed || in.Init)
	if to, why := in.HandedOff(); to != nil {
		d = policy.Decision{Action: policy.ActionSpeak, Agent: to.ID, Reason: why, Scores: p.scores}
	}
	if observed || in.State == nil {
		d.State = p.room.save()
	}
	return d
}

// recentEvents is how many events of one input are read for names and words. Those of
// earlier ones do not matter any more, and the first input of a long room has many.
const recentEvents = 64

// observe restores the state and adds the messages of in. It reports whether
// there were any.
func (p *Policy) observe(in *policy.Input) bool {
	r := p.room
	r.restore(in.State)
	r.agents = in.Agents
	said := false
	for i := range in.Events {
		e := &in.Events[i]
		if !e.Said() {
			continue
		}
		said = true
		if r.lastID() != e.From {
			r.learn(e.From)
			r.count(e.From)
		}
		r.note = note{}
		if i >= len(in.Events)-recentEvents {
			r.addText(e)
		}
	}
	return said
}

func (p *Policy) choose(in *policy.Input, news bool) policy.Decision {
	rows := p.room.rows
	p.scores = p.scores[:0]
	for i := range rows {
		if a := &in.Agents[rows[i].seat]; a.Eligible {
			p.scores = append(p.scores, policy.Score{Agent: a.ID, Score: rows[i].p})
		}
	}
	if i := p.room.likeliest(func(*policy.Agent) bool { return true }); i >= 0 && rows[i].p > waitThreshold {
		if a := &in.Agents[rows[i].seat]; !a.Eligible && a.Soon() {
			return policy.Decline("waiting for " + a.ID + ", the likely next speaker, who cannot speak now (" + a.Ineligible + ")")
		}
	}
	if p.room.minority() {
		return p.whether(news)
	}
	return p.answer(p.room.likeliest(eligible))
}

// likeliest returns the most likely of the rows whose agent is wanted, or -1.
func (r *room) likeliest(wanted func(*policy.Agent) bool) int {
	best := -1
	for i := range r.rows {
		if wanted(&r.agents[r.rows[i].seat]) && (best < 0 || r.rows[i].p > r.rows[best].p) {
			best = i
		}
	}
	return best
}

// answer chooses row best, or declines if its probability is below the threshold, or if
// there is none, -1.
func (p *Policy) answer(best int) policy.Decision {
	if best < 0 {
		return policy.Decline("only the last speaker is eligible")
	}
	w := &p.room.rows[best]
	id := p.room.agents[w.seat].ID
	p.confidence = w.p
	d := policy.Decision{Action: policy.ActionSpeak, Agent: id, Confidence: &p.confidence, Scores: p.scores}
	if w.p >= p.threshold {
		p.reason = append(append(p.reason[:0], p.room.reason(best)...), ", "...)
	} else {
		d.Action, d.Agent = policy.ActionDecline, ""
		p.reason = append(append(append(p.reason[:0], "no candidate is likely enough: "...), id...), " is the most likely, "...)
	}
	p.reason = append(strconv.AppendInt(p.reason, int64(w.p*100+.5), 10), " %"...)
	d.Reason = unsafe.String(unsafe.SliceData(p.reason), len(p.reason)) // valid as long as the rest
	return d
}

// Configure reads {"threshold":0,"silence":0.75,"silence_head":[...],"roles":true,"team":{...}}. The threshold, from 0 to 1, is
// the least probability of a choice; with the default, 0, the policy always
// chooses. The team and the head are the output of `moot policy learn`.
func (p *Policy) Configure(settings policy.JSON) error {
	p.threshold, p.silence, p.head, p.room.noRoles, p.room.team = 0, equalShare, nil, false, nil
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "threshold":
			if p.threshold = r.Float(); p.threshold < 0 || p.threshold > 1 {
				r.Fail("threshold must be from 0 to 1")
			}
		case "silence":
			if p.silence = r.Float(); p.silence < 0 || p.silence > 1 {
				r.Fail("silence must be from 0 to 1")
			}
		case "silence_head":
			p.head = readHead(&r)
		case "roles":
			p.room.noRoles = !r.Bool()
		case "team":
			p.room.team = readTeam(&r)
		default:
			r.Unknown(k)
		}
	}
	r.End()
	return r.Err()
}
