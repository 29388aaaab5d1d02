//go:build wasip1

// Command table is a guest of Folkmoot's sandbox whose settings are a learnt
// table, of which a decision looks one entry up.
package main

import "github.com/folkmoot/moot/policies/policy"

type table struct{ weights []int64 }

var _ = policy.Serve(policy.Named{Name: "table", Policy: &table{}})

func main() {}

// Configure takes {"weights":[...]}.
func (t *table) Configure(settings policy.JSON) error {
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		if k := r.Key(); k != "weights" {
			r.Unknown(k)
		}
		for r.Array(); r.More(); {
			t.weights = append(t.weights, r.Int())
		}
	}
	r.End()
	return r.Err()
}

// Decide gives the floor to the longest silent, with the table's weight.
func (t *table) Decide(in *policy.Input) policy.Decision {
	a := in.LeastRecent("")
	if a == nil || len(t.weights) == 0 {
		return policy.Decline("nothing is known")
	}
	d := policy.Speak(a.ID, "by the table")
	weight := float64(t.weights[int(in.Decision*7919)%len(t.weights)]) / 1000
	d.Confidence = &weight
	return d
}
