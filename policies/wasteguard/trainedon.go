//go:build !wasip1

package wasteguard // the embedded module has no use for this file

// TrainedOn names the data from which the model of p is learnt, in which its figures are
// too good. It is "" for a model that is not the one that the policy comes with.
func (p *Policy) TrainedOn() string {
	if p.model != shipped {
		return ""
	}
	return "the failed runs of the data set Who&When"
}
