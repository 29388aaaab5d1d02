package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Configure reads {"threshold":0,"team":{...}}. The threshold, from 0 to 1, is
// the probability that a choice needs; the default never declines for want of
// it. The team is what `moot policy learn` wrote.
func (p *Policy) Configure(settings policy.JSON) error {
	p.threshold = 0
	var t *Team
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "threshold":
			if p.threshold = r.Float(); p.threshold < 0 || p.threshold > 1 {
				r.Fail("threshold must be from 0 to 1")
			}
		case "team":
			t = readTeam(&r)
		default:
			r.Unknown(k)
		}
	}
	if r.End(); r.Err() != nil {
		return r.Err()
	}
	p.model = newModel(p.prior, t)
	return nil
}
