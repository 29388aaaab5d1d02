// Package mention grants the turn to an agent that a message addresses or
// mentions, or whose domain it mentions. Otherwise it declines.
//
// The latest message that asks for an agent decides. An address (a name at the
// start or end, or after @) takes precedence over a mention, and a mention over
// a domain. An agent never answers itself. If the agent cannot speak now, for
// example because of a cooldown, the policy waits for it, unless a later message
// asks for another agent. An agent whose turn failed is asked again, until the
// room's limit of failures.
//
// A hand-off comes before all this: the agent that the latest turn hands off to speaks
// next. An agent that the policy waits for comes before a hand-off, and so does an agent
// that a person has addressed since.
//
// The policy does not wait for an agent session that is away. It remembers who named
// the session meanwhile, and grants it the turn when it has come, unless the newest
// messages ask for another agent.
package mention

import "github.com/folkmoot/moot/policies/policy"

// Policy is the mention policy.
type Policy struct {
	lookback int
	domains  bool
	fallback policy.Fallback
}

// New returns the policy with its default settings. find returns the policy with
// a name, for the setting fallback, or nil. find may be nil.
func New(find policy.Finder) *Policy {
	p := &Policy{fallback: policy.Fallback{Find: find}}
	p.reset()
	return p
}

func (p *Policy) reset() {
	p.lookback, p.domains = 4, true
	p.fallback.Reset()
}

// Configure reads
//
//	{"lookback":4,"domains":true,"fallback":"decline","fallbackSettings":{}}
//
// lookback is the number of newest messages that are examined, domains whether a
// domain counts, fallback the policy that decides if no agent is asked for.
func (p *Policy) Configure(settings policy.JSON) error {
	p.reset()
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "lookback":
			p.lookback = int(r.Int())
			if p.lookback < 1 {
				r.Fail("lookback must be 1 or more")
			}
		case "domains":
			p.domains = r.Bool()
		default:
			p.fallback.Setting(k, &r)
		}
	}
	r.End()
	p.fallback.Apply(&r)
	return r.Err()
}

// Decide grants the turn to the agent that the newest messages ask for.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	old := readState(in.State)
	next := state{fallback: old.fallback, missed: missedAfter(old.missed, in)}
	agent, why := old.handedOff(in)
	var scores []policy.Score
	if agent == nil {
		agent, why, scores = p.asked(in, &next)
	}
	if agent == nil && next.agent == "" {
		next.agent, next.reason = old.agent, old.reason
		if agent, why = old.due(in); agent == nil && !old.waits(in) {
			agent, why = next.returned(in)
		}
	}
	if agent != nil {
		next.agent, next.reason = "", ""
		next.missed = without(next.missed, agent.ID)
		d := policy.Speak(agent.ID, why)
		d.Scores, d.State = scores, next.changed(old)
		return d
	}
	if waiting := in.Agent(next.agent); waiting != nil && waiting.Soon() {
		d := policy.Decline("waiting for " + waiting.ID + ", who cannot speak now (" + waiting.Ineligible + ")")
		d.State = next.changed(old)
		return d
	}
	next.agent, next.reason = "", ""
	d := p.fallback.Decide(in, old.fallback, notAsked(in))
	if d.State != nil {
		next.fallback = d.State
	}
	d.State = next.changed(old)
	return d
}

// interrupted reports whether e ended a turn before its answer, because of a
// pause or a restart.
func interrupted(e *policy.Event) bool {
	const word = "interrupted"
	return e.Kind == policy.KindSystem && len(e.Text) >= len(word) && e.Text[:len(word)] == word
}

func notAsked(in *policy.Input) string {
	if e := in.LastSaid(); e != nil {
		return e.From + " addressed nobody who could answer and named no domain"
	}
	return "nothing new was said"
}

// asked returns the agent that the newest messages ask for, the reason, and the
// scores. It returns nil if there is none. If the agent cannot speak now it also
// returns nil and sets wait.
func (p *Policy) asked(in *policy.Input, wait *state) (*policy.Agent, string, []policy.Score) {
	left := p.lookback
	for i := len(in.Events) - 1; i >= 0 && left > 0; i-- {
		e := &in.Events[i]
		if e.Kind == policy.KindError {
			if a := in.Agent(e.From); a != nil && a.Eligible {
				return a, "the turn of " + a.ID + " failed; it is asked again", nil
			}
		}
		if a := in.Agent(e.From); interrupted(e) && a != nil && a.Eligible {
			return a, "the turn of " + a.ID + " was interrupted; it is asked again", nil
		}
		if !e.Said() {
			continue
		}
		left--
		c := candidates{in: in, event: e, later: in.Events[i+1:]}
		c.find(p.domains)
		if c.best != nil {
			return c.best, c.why, c.scores
		}
		if c.wait != nil && wait.agent == "" {
			wait.agent, wait.reason = c.wait.ID, c.waitWhy+" earlier"
			return nil, "", nil
		}
	}
	return nil, "", nil
}
