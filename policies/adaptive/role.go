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
	coordinators = appendStems(nil, "orchestrator coordinator manager planner leader moderator supervisor facilitator")
	checkers     = appendStems(nil, "verification validation checker reviewer tester audit quality critic")
)

// roleTurns is in how many turns of a room roles count. Later its habits say more.
const roleTurns = 48

// roles sets the factor of the role of each newcomer. Their mean is 1: roles do not
// say whether a newcomer speaks, but which one.
func (r *room) roles() {
	if r.noRoles || r.newcomers < 2 || r.turns > roleTurns {
		return
	}
	r.setLabels()
	for i, word := range r.last.words {
		if r.team == nil && r.sharing(word) == 0 {
			r.last.words[i] = 0 // the log keeps the state, even if the text is redacted
		}
	}
	begun, sum := true, 0.0
	for i := range r.rows {
		if w := &r.rows[i]; w.person == newcomer {
			begun = begun && (w.tool || anyOf(checkers, r.labels[w.seat]))
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
	case r.lastIsHuman() && anyOf(coordinators, r.labels[w.seat]):
		return coordinates
	case !begun && anyOf(checkers, r.labels[w.seat]):
		return checks
	}
	return 0
}

func (r *room) lastIsHuman() bool {
	return slices.ContainsFunc(r.agents, func(a policy.Agent) bool { return a.ID == r.lastID() && a.Kind == policy.Human })
}

// anyOf reports whether two lists have a stem in common.
func anyOf(stems, others []int) bool {
	return slices.ContainsFunc(others, func(s int) bool { return slices.Contains(stems, s) })
}

// setLabels sets the stems of what each participant is called.
func (r *room) setLabels() {
	r.labels = slices.Grow(r.labels[:0], len(r.agents))[:len(r.agents)]
	for i := range r.agents {
		a := &r.agents[i]
		r.labels[i] = appendStems(appendStems(appendStems(r.labels[i][:0], a.ID), a.Name), a.Role)
		for _, d := range a.Domains {
			r.labels[i] = appendStems(r.labels[i], d)
		}
	}
}

// sharing returns how many participants are called by a word.
func (r *room) sharing(word int) (n float64) {
	for _, own := range r.labels {
		n += indicator(slices.Contains(own, word))
	}
	return n
}

// onTopic returns the BM25 score of what a participant is called for the words of the
// turn, with k1 = 1 and b = 0 (Robertson and Zaragoza, The Probabilistic Relevance
// Framework: BM25 and Beyond, 2009). A word with d others after it counts 15/(15+d) times,
// and one that half of the participants share weighs nothing.
func (r *room) onTopic(seat int) (score float64) {
	for d, word := range r.last.words {
		if slices.Contains(r.labels[seat], word) {
			shared, count := r.sharing(word)+.5, 15/(15+float64(d))
			score += max(math.Log((float64(len(r.agents))+1-shared)/shared), 0) * 2 * count / (count + 1)
		}
	}
	return score
}
