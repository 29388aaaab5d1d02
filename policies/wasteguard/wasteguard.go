// Package wasteguard declines when the newest turn looks like the error that decides
// a run, so that a person looks at it before the agents go on. Otherwise another
// policy decides.
//
// A turn is flagged if its score reaches a threshold. The score is a linear function of
// ten features, which logistic regression learns from runs with labelled errors
// (package training). The threshold is the score that a share of the turns of those
// runs reaches. Without a learnt model the policy uses the one that it comes with.
//
// A flag stays open until something new is said: by a person, or by an agent whose
// turn a person granted. The other policy sees each message also while it is overruled.
package wasteguard

import (
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
)

// Policy is the waste guard.
type Policy struct {
	share    float64 // of the turns that are flagged, in percent
	finish   bool
	model    Model
	fallback policy.Fallback
}

// defaultShare is the share of flagged turns, in percent.
const defaultShare = 10

// New returns the policy with its default settings. find returns the policy with a
// name, for the setting fallback, or nil. find may be nil.
func New(find policy.Finder) *Policy {
	p := &Policy{fallback: policy.Fallback{Find: find, Default: "roundrobin"}}
	p.reset()
	return p
}

func (p *Policy) reset() {
	p.share, p.finish, p.model = defaultShare, false, shipped
	p.fallback.Reset()
}

// Configure reads
//
//	{"flag":10,"action":"decline","model":{...},"fallback":"roundrobin","fallbackSettings":{}}
//
// flag is the share of turns to flag in percent, from 1 to 50, action what to do then:
// decline or finish. model is what [Model.AppendJSON] writes.
func (p *Policy) Configure(settings policy.JSON) error {
	p.reset()
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "flag":
			if p.share = r.Float(); p.share < Shares[0] || p.share > Shares[len(Shares)-1] {
				r.Fail("flag must be from 1 to 50")
			}
		case "action":
			p.finish = readAction(&r)
		case "model":
			p.model.read(&r)
		default:
			p.fallback.Setting(k, &r)
		}
	}
	r.End()
	p.fallback.Apply(&r)
	return r.Err()
}

func readAction(r *policy.Reader) (finish bool) {
	switch r.String() {
	case policy.ActionFinish:
		return true
	case policy.ActionDecline:
	default:
		r.Fail("action must be decline or finish")
	}
	return false
}

// Decide declines or finishes while a flag is open. Otherwise it asks the fallback.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	s := readState(in.State)
	if in.Init {
		s.watch.Said = max(0, in.Turn-1-said(in))
	}
	if said(in) > 0 {
		s.flag = ""
	}
	for i := range in.Events {
		if e := &in.Events[i]; e.Said() {
			s.hear(p, in, e)
		}
	}
	d := p.fallback.Decide(in, s.fallback, "no fallback policy is set")
	if d.State != nil {
		s.fallback = d.State
	}
	switch {
	case d.Action == policy.ActionError || s.flag == "":
	case p.finish:
		d = policy.Finish(s.flag)
	default:
		d = policy.Decline(s.flag)
	}
	if next := s.json(); string(next) != string(in.State) {
		d.State = next
	} else {
		d.State = nil
	}
	return d
}

// said returns the number of messages among the events.
func said(in *policy.Input) (n int) {
	for i := range in.Events {
		if in.Events[i].Said() {
			n++
		}
	}
	return n
}

// hear notes a message. A flagged one opens a flag, and a person's closes it.
func (s *state) hear(p *Policy, in *policy.Input, e *policy.Event) {
	if reason := p.Flag(&s.watch, in, e); reason != "" || s.watch.Person {
		s.flag = reason
	}
}

// Flag returns why a person should look at the message e, which follows the ones that w
// counts. It returns "" if the message is not flagged.
func (p *Policy) Flag(w *Watch, in *policy.Input, e *policy.Event) string {
	x, ok := w.Next(in, e)
	if !ok || p.model.Score(&x) < p.model.Threshold(p.share) {
		return ""
	}
	return "a person should look at turn " + strconv.Itoa(e.Turn) + " of " + e.From + ": " + p.model.why(&x)
}
