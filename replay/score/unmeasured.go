package score

import "fmt"

// NeedsBids says why a policy has no figures.
const NeedsBids = "needs bids; none recorded"

// unmeasured says why a policy cannot be measured; "" if it can. A policy whose
// manifest asks for bids decides by them, so that without any its choices say
// nothing. The agents of a simulation make none.
func (b *Batch) unmeasured(policy int) string {
	if policy < 0 || !b.Policies[policy].Ref.Needs.Bids {
		return ""
	}
	for _, r := range b.Runs {
		if r.History.Bids > 0 && !b.Simulated {
			return ""
		}
	}
	return NeedsBids
}

// DropUnmeasured drops the decisions of the policies that cannot be measured, and those
// to read about them, but keeps how often they failed.
func (b *Batch) DropUnmeasured() {
	for k := range b.Policies {
		if b.unmeasured(k) == "" {
			continue
		}
		b.calibrations[k] = &Calibration{}
		b.cases.drop(k)
		for _, r := range b.Runs {
			r.dropDecisions(k)
		}
	}
}

func (r *Run) dropDecisions(policy int) {
	t := r.tallies[policy]
	var kept sums
	for _, i := range []int{sumErrors, sumRepeated, sumDiffering} {
		kept[i] = t.sums[i]
	}
	t.sums, t.flips, t.reasons, t.chosen, t.tokens, t.pairs = kept, nil, nil, make([]float64, len(t.chosen)), series{}, pairs{}
	if r.drawn != nil {
		r.drawn[policy] = drawn{}
	}
	for i := range r.equal {
		r.equal[i][policy+1], r.equal[policy+1][i] = 0, 0
	}
}

// Limits says what the figures of this batch cannot say, in sentences for a
// report.
func (b *Batch) Limits() []string {
	var out []string
	for k := range b.Policies {
		if why := b.unmeasured(k); why != "" {
			out = append(out, b.Policies[k].Name+" "+why+", so it has no figures")
		}
		if data := b.Policies[k].TrainedOn; data != "" {
			out = append(out, b.Policies[k].Name+" is learnt from "+data+": there its figures are too good")
		}
	}
	single := 0
	for _, r := range b.Runs {
		if r.choosable == 1 {
			single++
		}
	}
	switch {
	case single == 0:
	case len(b.Runs) == 1:
		out = append(out, "only one participant can be chosen here, so policies differ only in when they decline")
	default:
		out = append(out, fmt.Sprintf("in %d of %d transcripts only one participant can be chosen, so policies differ there only in when they decline", single, len(b.Runs)))
	}
	return out
}
