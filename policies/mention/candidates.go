package mention

import "github.com/folkmoot/moot/policies/policy"

// Scores of an address and of a mention. The score of a domain match is the
// number of matching domains.
const (
	scoreAddressed = 1000
	scoreMentioned = 100
)

// candidates finds the agents that an event asks for.
type candidates struct {
	in    *policy.Input
	event *policy.Event
	later []policy.Event // later events; an agent that spoke there has answered

	best    *policy.Agent
	why     string
	wait    *policy.Agent // the first one asked for by name that is not eligible now
	waitWhy string
	scores  []policy.Score
}

func (c *candidates) find(domains bool) {
	e := c.event
	c.named(e.Addressed, scoreAddressed, e.From+" addressed ")
	c.named(e.Mentions, scoreMentioned, e.From+" named ")
	if domains && e.Text != "" {
		c.domains()
	}
}

// named adds the agents of ids, from the last to the first: of several names in a
// text the last one speaks next most often.
func (c *candidates) named(ids []string, score float64, why string) {
	for i := len(ids) - 1; i >= 0; i-- {
		a := c.in.Agent(ids[i])
		if a == nil || !c.open(a) || c.scored(a.ID) {
			continue
		}
		if !a.Eligible {
			if c.wait == nil && a.Soon() {
				c.wait, c.waitWhy = a, why+a.ID
			}
			continue
		}
		c.add(a, score, why+a.ID)
	}
}

func (c *candidates) domains() {
	var first *policy.Agent
	var why string
	most := 0
	for i := range c.in.Agents {
		a := &c.in.Agents[i]
		if !a.Eligible || !c.open(a) || c.scored(a.ID) {
			continue
		}
		n, domain := a.Fits(c.event.Text)
		if n == 0 {
			continue
		}
		c.scores = append(c.scores, policy.Score{Agent: a.ID, Score: float64(n)})
		if n > most || n == most && a.LastTurn < first.LastTurn {
			first, most, why = a, n, "the domain "+domain+" of "+a.ID+" came up"
		}
	}
	// An agent that was asked for by name and cannot speak now is waited for. A
	// domain match does not replace it.
	if c.best == nil && c.wait == nil && first != nil {
		c.best, c.why = first, why
	}
}

// open reports whether a may answer the event: it is not the speaker, and it has
// not spoken since.
func (c *candidates) open(a *policy.Agent) bool {
	if a.ID == c.event.From {
		return false
	}
	for i := range c.later {
		if c.later[i].Said() && c.later[i].From == a.ID {
			return false
		}
	}
	return true
}

func (c *candidates) scored(id string) bool {
	for i := range c.scores {
		if c.scores[i].Agent == id {
			return true
		}
	}
	return false
}

func (c *candidates) add(a *policy.Agent, score float64, why string) {
	c.scores = append(c.scores, policy.Score{Agent: a.ID, Score: score - float64(len(c.scores))})
	if c.best == nil {
		c.best, c.why = a, why
	}
}
