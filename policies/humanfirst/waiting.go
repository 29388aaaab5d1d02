package humanfirst

import "github.com/folkmoot/moot/policies/policy"

// Bounds of the state.
const (
	maxWaits = 8
	maxWants = 4
	maxWith  = 16
)

// A wait is a person without an answer, and the agents that should answer, the
// best first.
type wait struct {
	person string
	wants  []want
}

type want struct{ agent, reason string }

// update updates the waiting people after an event.
func (s *state) update(in *policy.Input, e *policy.Event) {
	switch e.Kind {
	case policy.KindHuman:
		if !toPeopleOnly(in, e) {
			s.asks(e.From, s.wanted(in, e))
		}
	case policy.KindMessage:
		s.answers(in, e)
	}
}

// toPeopleOnly reports whether the event is addressed to people only.
func toPeopleOnly(in *policy.Input, e *policy.Event) bool {
	people := 0
	for _, list := range [][]string{e.To, e.Addressed} {
		for _, id := range list {
			a := in.Agent(id)
			if a == nil || a.Kind != policy.Human {
				return false
			}
			people++
		}
	}
	return people > 0
}

// asks adds a waiting person. A person who waits already keeps the place in the
// queue, and the wanted agents unless the new message has some.
func (s *state) asks(person string, wants []want) {
	for i := range s.waits {
		if s.waits[i].person == person {
			if len(wants) > 0 {
				s.waits[i].wants = wants
			}
			return
		}
	}
	if len(s.waits) < maxWaits {
		s.waits = append(s.waits, wait{person, wants})
	}
}

// answers removes the person whom an agent's message answers: the addressed one,
// or else the one who has waited for longest.
func (s *state) answers(in *policy.Input, e *policy.Event) {
	who := -1
	for i := range s.waits {
		if policy.Has(e.Addressed, s.waits[i].person) || policy.Has(e.To, s.waits[i].person) {
			who = i
			break
		}
	}
	for _, id := range e.Addressed {
		if a := in.Agent(id); a != nil && a.Kind == policy.Human {
			s.spoke(id, e.From)
		}
	}
	if who < 0 && len(s.waits) > 0 {
		who = 0
	}
	if who >= 0 {
		s.spoke(s.waits[who].person, e.From)
		s.waits = append(s.waits[:who], s.waits[who+1:]...)
	}
}

// spoke records agent as the last one that spoke with person.
func (s *state) spoke(person, agent string) {
	for i := range s.with {
		if s.with[i].person == person {
			s.with[i].agent = agent
			return
		}
	}
	if len(s.with) == maxWith {
		s.with = append(s.with[:0], s.with[1:]...)
	}
	s.with = append(s.with, pair{person, agent})
}

// wanted returns the agents that a message of a person asks for.
func (s *state) wanted(in *policy.Input, e *policy.Event) []want {
	var out []want
	add := func(id, reason string) {
		if a := in.Agent(id); a == nil || a.Kind == policy.Human || len(out) == maxWants {
			return
		}
		for i := range out {
			if out[i].agent == id {
				return
			}
		}
		out = append(out, want{id, reason})
	}
	for _, id := range e.To {
		add(id, e.From+" wrote to "+id)
	}
	for i := len(e.Addressed) - 1; i >= 0; i-- {
		add(e.Addressed[i], e.From+" addressed "+e.Addressed[i])
	}
	if a, domain := best(in, e.Text); a != nil {
		add(a.ID, e.From+" asked about "+domain+", a domain of "+a.ID)
	}
	for i := range s.with {
		if s.with[i].person == e.From {
			add(s.with[i].agent, s.with[i].agent+" last spoke with "+e.From)
		}
	}
	return out
}

// best returns the agent with the most domains in text. Of equals it returns the
// less recent speaker.
func best(in *policy.Input, text string) (fit *policy.Agent, domain string) {
	most := 0
	for i := range in.Agents {
		a := &in.Agents[i]
		n, first := a.Fits(text)
		if n > most || n == most && n > 0 && a.LastTurn < fit.LastTurn {
			fit, most, domain = a, n, first
		}
	}
	return fit, domain
}

// answer grants the turn to the first wanted agent that is eligible. It declines
// if a wanted agent becomes eligible soon.
func (s *state) answer(in *policy.Input) (policy.Decision, bool) {
	var soon *policy.Agent
	var person string
	for i := range s.waits {
		for _, w := range s.waits[i].wants {
			a := in.Agent(w.agent)
			if a == nil {
				continue
			}
			if a.Eligible {
				return policy.Speak(a.ID, w.reason), true
			}
			if soon == nil && a.Soon() {
				soon, person = a, s.waits[i].person
			}
		}
	}
	if soon == nil {
		return policy.Decision{}, false
	}
	return policy.Decline(person + " waits for " + soon.ID + ", who cannot speak now (" + soon.Ineligible + ")"), true
}
