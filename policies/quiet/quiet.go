// Package quiet grants the turn to the most confident agent, and declines if none
// is confident enough.
//
// The confidence of an agent is the score of its bid, or else the confidence that
// it stated with its last reply, or else the setting unknown. The highest
// confidence wins; of equals the least recent speaker. The last speaker never
// continues. The manifest asks for bids.
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

// Default settings. The default of an unknown confidence suffices to speak.
// Otherwise a room without bids would never begin.
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
// both from 0 to 1: the least confidence for a turn, and the assumed confidence
// of an agent that gave none. With an unknown below declineBelow, an agent without
// a confidence never speaks.
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

// Decide chooses the most confident agent if its confidence suffices.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	last := ""
	if e := in.LastSaid(); e != nil {
		last = e.From
	} else if i := in.LastTurn(); i >= 0 {
		last = in.Agents[i].ID
	}
	best, top, claim := (*policy.Agent)(nil), 0.0, ""
	scores := make([]policy.Score, 0, len(in.Agents))
	for i := range in.Agents {
		a := &in.Agents[i]
		if !a.Eligible || a.ID == last {
			continue
		}
		f, from := p.confidence(a)
		scores = append(scores, policy.Score{Agent: a.ID, Score: f})
		if best == nil || f > top || f == top && a.LastTurn < best.LastTurn {
			best, top, claim = a, f, from
		}
	}
	if best == nil {
		return policy.Decline("only the last speaker is eligible")
	}
	d := policy.Speak(best.ID, best.ID+" has the highest confidence: "+claim)
	if top < p.below {
		d = policy.Decline("no agent is confident enough: " + best.ID + " has the highest confidence, " + claim +
			", below " + percent(p.below))
	} else {
		d.Confidence = &top
	}
	d.Scores = scores
	return d
}

// confidence returns the confidence of an agent, as a number and in words.
func (p *Policy) confidence(a *policy.Agent) (f float64, claim string) {
	switch {
	case a.Bid != nil:
		f = clamp(a.Bid.Score)
		return f, "it bids " + percent(f)
	case a.Confidence != nil:
		f = clamp(*a.Confidence)
		return f, "it stated " + percent(f)
	}
	return p.unknown, "it gave no bid; " + percent(p.unknown) + " is assumed"
}

func clamp(f float64) float64 { return min(max(f, 0), 1) }

// percent returns f in whole percents, rounded down, so that a confidence just
// below a threshold is not shown as equal to it.
func percent(f float64) string { return strconv.Itoa(int(f*100+1e-9)) + " %" }
