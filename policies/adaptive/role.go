package adaptive

import (
	"math"
	"slices"

	"github.com/folkmoot/moot/policies/policy"
)

// Participants that have not spoken differ by what they are called: the words of
// their ids, names, roles and domains. These words say whose topic the newest text
// has, and three sorts of roles say when their owners begin to speak.

// Powers of e by which a role makes a newcomer more likely than another. They are
// round numbers, picked by hand.
const (
	coordinates = 3  // an agent that coordinates, after a human
	checks      = -2 // an agent that checks, as long as others have not begun
	idles       = -1 // a tool, without code
	mostTopic   = 3  // the most that topics add
)

var (
	coordinators = stemsOf("orchestrator coordinator manager planner leader moderator supervisor facilitator")
	checkers     = stemsOf("verification validation checker reviewer tester audit quality critic")
)

// Bounds of the topics: how many stems are kept, from how many bytes at the end of a
// text, and in how many turns of a room. Later the habits of the room say more.
const (
	maxTopics  = 16
	topicBytes = 320
	roleTurns  = 48
)

// A topic is a stem of the participants' words that the newest text has. Its count
// is the sum of 15/(15+d), where d is how many words follow.
type topic struct {
	stem   int
	count  float64
	weight float64
}

// roles sets the factor of the role of each newcomer. Their mean is 1: roles do not
// say whether a newcomer speaks, but which one.
func (r *room) roles() {
	if r.noRoles || r.newcomers < 2 || r.turns > roleTurns {
		r.topics = r.topics[:0]
		return
	}
	r.setLabels()
	if r.newest != "" {
		r.findTopics(r.newest)
	}
	r.weighTopics()
	begun, sum := true, 0.0
	for i := range r.rows {
		if w := &r.rows[i]; w.person == newcomer {
			begun = begun && (w.tool || r.is(w.seat, checkers))
		}
	}
	for i := range r.rows {
		if w := &r.rows[i]; w.person == newcomer {
			w.role = math.Exp(min(r.onTopic(w.seat), mostTopic) + r.order(w, begun))
			sum += w.role
		}
	}
	for i := range r.rows {
		if w := &r.rows[i]; w.person == newcomer {
			w.role = fine(w.role * float64(r.newcomers) / sum)
		}
	}
}

// order returns what the role of a newcomer says about when it begins. Begun says
// that only tools and those that check have not spoken.
func (r *room) order(w *row, begun bool) float64 {
	switch {
	case w.tool && !r.last.code:
		return idles
	case w.tool || r.agents[w.seat].Kind == policy.Human:
	case r.lastIsHuman() && r.is(w.seat, coordinators):
		return coordinates
	case !begun && r.is(w.seat, checkers):
		return checks
	}
	return 0
}

func (r *room) lastIsHuman() bool {
	last := r.lastID()
	for i := range r.agents {
		if a := &r.agents[i]; a.ID == last {
			return a.Kind == policy.Human
		}
	}
	return false
}

// is reports whether a participant is called by one of the stems.
func (r *room) is(seat int, stems []int) bool {
	return slices.ContainsFunc(r.called(seat), func(s int) bool { return slices.Contains(stems, s) })
}

// weighTopics sets the BM25 weight of each topic, with k1 = 1 and b = 0 (Robertson
// and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009). Words
// that half of the participants share weigh nothing.
func (r *room) weighTopics() {
	n := float64(len(r.agents))
	for i := range r.topics {
		t := &r.topics[i]
		shared := .5
		for _, s := range r.labels {
			if s == t.stem {
				shared++
			}
		}
		t.weight = max(math.Log((n+1-shared)/shared), 0) * 2 * t.count / (t.count + 1)
	}
}

// onTopic returns the BM25 score of what a participant is called, for the topics.
func (r *room) onTopic(seat int) float64 {
	score, called := 0.0, r.called(seat)
	for i := range r.topics {
		if slices.Contains(called, r.topics[i].stem) {
			score += r.topics[i].weight
		}
	}
	return score
}
