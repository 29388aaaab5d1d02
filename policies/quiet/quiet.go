// Package quiet lets an agent speak only when one is confident enough, and
// declines otherwise.
//
// An agent's confidence is the score of its bid where it made one, else what
// it stated with its last reply, else the setting unknown. The highest wins;
// among equals the agent that has been silent for longest. An agent that has
// just spoken does not go on. The manifest asks for bids.
package quiet

import (
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
)

// Policy is the quiet policy.
type Policy struct {
	below   float64
	unknown float64
}

// Default settings. Before it has said anything an agent's confidence is
// unknown, which is not low: otherwise a room without bids would never begin.
const (
	defaultBelow   = 0.5
	defaultUnknown = 0.5
)

// New returns the policy with its default settings.
func New() *Policy { return &Policy{below: defaultBelow, unknown: defaultUnknown} }

// Configure reads
//
//	{"declineBelow":0.5,"unknown":0.5}
//
// both from 0 to 1: the confidence that an agent needs, and the one that
// counts for an agent that told none. An unknown under declineBelow keeps
// silent whoever does not say how sure it is.
func (p *Policy) Configure(settings policy.JSON) error {
	p.below, p.unknown = defaultBelow, defaultUnknown
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "declineBelow":
			p.below = share(&r, k)
		case "unknown":
			p.unknown = share(&r, k)
		default:
			r.Unknown(k)
		}
	}
	r.End()
	return r.Err()
}

func share(r *policy.Reader, k string) float64 {
	f := r.Float()
	if f < 0 || f > 1 {
		r.Fail(k + " must be from 0 to 1")
	}
	return f
}

// Decide chooses the most confident, if that is enough.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	last := ""
	if e := in.LastSaid(); e != nil {
		last = e.From
	} else if i := in.LastTurn(); i >= 0 {
		last = in.Agents[i].ID
	}
	best, top, source := (*policy.Agent)(nil), 0.0, ""
	scores := make([]policy.Score, 0, len(in.Agents))
	for i := range in.Agents {
		a := &in.Agents[i]
		if !a.Eligible || a.ID == last {
			continue
		}
		f, from := p.confidence(a)
		scores = append(scores, policy.Score{Agent: a.ID, Score: f})
		if best == nil || f > top || f == top && a.LastTurn < best.LastTurn {
			best, top, source = a, f, from
		}
	}
	if best == nil {
		return policy.Decline("nobody but the last speaker is eligible")
	}
	d := policy.Speak(best.ID, best.ID+" "+source+" "+percent(top)+", the highest confidence")
	if top < p.below {
		d = policy.Decline("nobody is confident enough: " + best.ID + " " + source + " " + percent(top) +
			", under " + percent(p.below))
	} else {
		d.Confidence = &top
	}
	d.Scores = scores
	return d
}

// confidence returns how sure an agent is, and how that is known.
func (p *Policy) confidence(a *policy.Agent) (f float64, source string) {
	switch {
	case a.Bid != nil:
		return clamp(a.Bid.Score), "bids"
	case a.Confidence != nil:
		return clamp(*a.Confidence), "stated"
	}
	return p.unknown, "told none and counts as"
}

func clamp(f float64) float64 { return min(max(f, 0), 1) }

// percent writes a confidence with whole percents, cut and not rounded, so
// that one just under a threshold is not shown as being on it.
func percent(f float64) string { return strconv.Itoa(int(f*100+1e-9)) + " %" }
