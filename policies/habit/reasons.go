package habit

import "strconv"

// reason says why the rule prefers the candidate at the index.
func (t *table) reason(r Rule, at int) string {
	c, k, id := &t.candidates[at], t.keys[at], t.in.Agents[t.seats[at]].ID
	switch {
	case k[0] > 0:
		return t.said.From + " addressed " + id
	case k[1] > 0:
		return t.said.From + " named " + id
	case t.last < 0:
		return "no agent has had a turn; " + id + " begins"
	}
	last := t.in.Agents[t.last].ID
	switch {
	case r.Then == Ngram3 && c.Followed.LastTwo > 0:
		return id + " followed the latest two speakers most often: " + times(c.Followed.LastTwo)
	case (r.Then == Ngram3 || r.Then == Bigram) && c.Followed.Last > 0:
		return id + " followed the latest speaker most often: " + times(c.Followed.Last)
	case r.Then == Freq && c.Turns > 0:
		return id + " has had the most turns: " + strconv.Itoa(c.Turns)
	case r.Then == RoundRobin:
		return id + " is next in the order of the participants after " + last
	case c.Spoke == 0:
		return id + " has not had a turn yet"
	case r.Then == LeastRecent:
		return id + " has been silent for longest"
	}
	return id + " had the latest turn of the other participants"
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// noCandidate says why there is no candidate.
func (t *table) noCandidate() string {
	for i := range t.in.Agents {
		if a := &t.in.Agents[i]; a.Eligible {
			return "only " + a.ID + " could speak, and it has just spoken"
		}
	}
	return "no agent can speak now"
}

// unasked says why no candidate is chosen.
func (t *table) unasked() string {
	if t.said == nil {
		return "nothing new was said"
	}
	return "the message of " + t.said.From + " asks for no agent that can speak now"
}
