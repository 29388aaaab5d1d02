package replay

import "math"

// A Risk says what the confidence of a policy is worth: how often it is right
// when it answers only where it is surest. A decision that it declined counts
// with whom it held for the likeliest.
type Risk struct {
	Decisions int         `json:"decisions"`         // with a confidence
	Without   int         `json:"without,omitempty"` // decisions that state none
	ECE       Figure      `json:"ece"`               // expected calibration error over ten bins of equal width
	Curve     []RiskPoint `json:"curve"`             // at 5, 10, ... 100 %
	Bins      []RiskBin   `json:"bins"`              // ten, without the empty ones
}

// A RiskPoint is the accuracy at one coverage.
type RiskPoint struct {
	Coverage   Figure `json:"coverage"` // share of the decisions that are answered
	N          int    `json:"n"`
	Confidence Figure `json:"confidence"` // the least among them
	Accuracy   Figure `json:"accuracy"`
}

// A RiskBin holds what was stated against what came out.
type RiskBin struct {
	Confidence Figure `json:"confidence"` // mean
	Accuracy   Figure `json:"accuracy"`
	N          int    `json:"n"`
}

// At returns the accuracy at a coverage in per cent; NaN for one that is not
// on the curve.
func (r *Risk) At(percent int) Figure {
	if r != nil {
		for _, p := range r.Curve {
			if math.Abs(float64(p.Coverage)-float64(percent)/100) < 1e-9 {
				return p.Accuracy
			}
		}
	}
	return Figure(math.NaN())
}

// riskSteps is how many points the curve has.
const riskSteps = 20

// risk returns what g holds of confidences; nil for a policy that states none.
func (g *gauge) risk() *Risk {
	r := &Risk{Without: int(g.unsure.Load())}
	for i := range g.said {
		r.Decisions += int(g.said[i].Load())
	}
	if r.Decisions == 0 {
		return nil
	}
	g.curve(r)
	g.bins(r)
	return r
}

// curve goes from the surest decision to the least sure. Of equally sure ones
// that are answered in part each counts by that part.
func (g *gauge) curve(r *Risk) {
	answered, right, step := 0.0, 0.0, 1
	for i := sureSteps; i >= 0; i-- {
		n, hits := float64(g.said[i].Load()), float64(g.right[i].Load())
		if n == 0 {
			continue
		}
		for ; step <= riskSteps; step++ {
			want := math.Ceil(float64(r.Decisions*step) / riskSteps)
			if want > answered+n {
				break
			}
			r.Curve = append(r.Curve, RiskPoint{
				Coverage: Figure(float64(step) / riskSteps), N: int(want), Confidence: Figure(float64(i) / sureSteps),
				Accuracy: Figure((right + hits*(want-answered)/n) / want),
			})
		}
		answered, right = answered+n, right+hits
	}
}

func (g *gauge) bins(r *Risk) {
	const bins = 10
	var n, right, stated [bins]float64
	for i := range g.said {
		b := min(i*bins/sureSteps, bins-1)
		said := float64(g.said[i].Load())
		n[b] += said
		right[b] += float64(g.right[i].Load())
		stated[b] += said * float64(i) / sureSteps
	}
	for b := range bins {
		if n[b] > 0 {
			r.Bins = append(r.Bins, RiskBin{Figure(stated[b] / n[b]), Figure(right[b] / n[b]), int(n[b])})
			r.ECE += Figure(math.Abs(right[b]-stated[b]) / float64(r.Decisions))
		}
	}
}

// A TimeSlot is how many decisions took up to so long.
type TimeSlot struct {
	MS    Figure `json:"ms"`
	Count int    `json:"count"`
}

// slots returns how many decisions took how long, two slots to a doubling.
func (g *gauge) slots() []TimeSlot {
	var all []TimeSlot
	const half = timeParts / 2
	for i := 0; i < len(g.times); i += half {
		n := 0
		for j := range half {
			n += int(g.times[i+j].Load())
		}
		if n > 0 || len(all) > 0 {
			end := math.Ldexp(1+float64((i+half)%timeParts)/timeParts, (i+half)/timeParts)
			all = append(all, TimeSlot{Figure(end / 1e6), n})
		}
	}
	for len(all) > 0 && all[len(all)-1].Count == 0 {
		all = all[:len(all)-1]
	}
	return all
}
