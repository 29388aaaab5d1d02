// Package habit grants turns by simple rules of who speaks after whom.
//
// The agent that the latest message addresses speaks next. Otherwise a rule decides
// that counts the turns so far: by default the agent that followed the latest two
// speakers most often. The settings choose another rule, and whether a name elsewhere in the
// message counts too. The rules are those of the baselines of `moot replay`, so a room
// can run what a replay has scored.
//
// A hand-off comes before all this. No agent answers itself. Of equal candidates the
// one that had its turn later speaks, and of those without a turn the first
// participant.
package habit

import "github.com/folkmoot/moot/policies/policy"

// Policy is the habit policy.
type Policy struct{ rule Rule }

// New returns the policy with its default settings.
func New() *Policy { return &Policy{Default()} }

// Default is the rule without settings.
func Default() Rule { return Rule{Address: true, Then: Ngram3} }

// Configure reads
//
//	{"rule":"ngram3","address":true,"mention":false}
//
// address is whether the agent that the latest message addresses comes first, mention
// whether one that it names comes next, and rule which rule decides otherwise.
func (p *Policy) Configure(settings policy.JSON) error {
	p.rule = Default()
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "rule":
			p.rule.Then = r.String()
			if !known(p.rule.Then) {
				r.Fail("no rule " + p.rule.Then)
			}
		case "address":
			p.rule.Address = r.Bool()
		case "mention":
			p.rule.Mention = r.Bool()
		default:
			r.Unknown(k)
		}
	}
	r.End()
	return r.Err()
}

func known(rule string) bool { return rule == BestRule || rule == None || policy.Has(experts[:], rule) }

// Decide chooses the next speaker.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	t := newTable(in, p.rule.Mention)
	if len(t.seats) == 0 {
		return policy.Decline(t.noCandidate())
	}
	rule, x := p.rule, Experts{}
	if rule.Then == BestRule {
		x = readState(in)
		if t.said != nil {
			x.Learn(in.Seat(t.said.From))
		}
		rule.Then = x.Best()
		x.Predict(t.pick)
	}
	at := t.best(rule)
	d := policy.Speak(in.Agents[t.seats[at]].ID, t.reason(rule, at))
	if p.rule.Then == BestRule && !t.keys[at].Asks() {
		d.Reason += "; lately the rule " + rule.Then + " is right most often"
	}
	if to, why := in.HandedOff(); to != nil {
		d.Agent, d.Reason = to.ID, why
	} else if rule.Then == None && !t.keys[at].Asks() {
		d = policy.Decline(t.unasked())
	}
	d.Scores = t.scores()
	if p.rule.Then == BestRule {
		d.State = x.save(in)
	}
	return d
}
