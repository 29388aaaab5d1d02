package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Configure reads {"threshold":0}: from 0 to 1, the probability that a choice
// needs. The default never declines for want of it.
func (p *Policy) Configure(settings policy.JSON) error {
	p.threshold = 0
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "threshold":
			if p.threshold = r.Float(); p.threshold < 0 || p.threshold > 1 {
				r.Fail("threshold must be from 0 to 1")
			}
		default:
			r.Unknown(k)
		}
	}
	r.End()
	return r.Err()
}
