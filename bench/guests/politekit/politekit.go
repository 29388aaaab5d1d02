// Package politekit is the author kit's policy "polite" with the kit's own
// decoder, for guests of other runtimes: what differs is then the runtime.
package politekit

import "github.com/folkmoot/moot/policies/policy"

var in policy.Input // its slices are used again

// Answer decodes an input, decides, and encodes the decision.
func Answer(input []byte) ([]byte, error) {
	if err := in.Decode(input); err != nil {
		return nil, err
	}
	d := decide(&in)
	return d.AppendJSON(nil), nil
}

func decide(in *policy.Input) policy.Decision {
	from := ""
	if e := in.LastSaid(); e != nil {
		from = e.From
		for _, id := range e.Addressed {
			if a := in.Agent(id); a != nil && a.Eligible && id != from {
				return policy.Speak(id, from+" addressed "+id)
			}
		}
	}
	if a := in.LeastRecent(from); a != nil {
		return policy.Speak(a.ID, a.ID+" has been silent for longest")
	}
	return policy.Decline("nobody else can speak now")
}
