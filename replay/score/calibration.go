package score

import (
	"math"
	"sync/atomic"

	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
)

// A Risk says how good the stated confidence of a policy is: a risk-coverage
// curve (El-Yaniv and Wiener, JMLR 2010) and the expected calibration error
// (Naeini et al., AAAI 2015). A declined decision counts with the seat that the
// policy rates highest.
type Risk struct {
	Decisions int         `json:"decisions"`         // with a confidence
	Without   int         `json:"without,omitempty"` // decisions without one
	ECE       Figure      `json:"ece"`               // expected calibration error, ten bins of equal width
	Curve     []RiskPoint `json:"curve"`             // at 5, 10, ... 100 % coverage
	Bins      []RiskBin   `json:"bins"`              // the bins that are not empty
}

// A RiskPoint is the accuracy at one coverage.
type RiskPoint struct {
	Coverage   Figure `json:"coverage"` // share of the decisions that are answered
	N          int    `json:"n"`
	Confidence Figure `json:"confidence"` // the lowest among them
	Accuracy   Figure `json:"accuracy"`
}

// A RiskBin compares the mean confidence of some decisions with their accuracy.
type RiskBin struct {
	Confidence Figure `json:"confidence"`
	Accuracy   Figure `json:"accuracy"`
	N          int    `json:"n"`
}

// At returns the accuracy at a coverage in percent. It is NaN for a nil r and
// for a coverage that is not on the curve.
func (r *Risk) At(percent int) Figure {
	if r != nil {
		for _, p := range r.Curve {
			if math.Abs(float64(p.Coverage)-float64(percent)/100) < 1e-9 {
				return p.Accuracy
			}
		}
	}
	return None()
}

// ece is the calibration error, NaN for a nil r.
func (r *Risk) ece() Figure {
	if r == nil {
		return None()
	}
	return r.ECE
}

// RiskSteps is how many points the curve has.
const RiskSteps = 20

// confidenceSteps is the resolution of confidences.
const confidenceSteps = 10_000

// hitParts is how many parts a hit has, so that shares of hits add up to the
// same sum in any order.
const hitParts = 1 << 20

// A Calibration counts the decisions of a policy by their confidence. Its size
// is fixed. It may be used by several goroutines.
type Calibration struct {
	stated  [confidenceSteps + 1]atomic.Uint32 // decisions by confidence
	right   [confidenceSteps + 1]atomic.Uint64 // of them, with the recorded speaker as the likeliest, in parts of a hit
	without atomic.Uint32
}

func (c *Calibration) addDecision(p *history.Point, e *drive.Evaluation) {
	switch {
	case e.Err != nil || p.Simulated || !p.Truth.Speaks():
	case e.Confidence < 0 || e.Confidence > 1:
		c.without.Add(1)
	default:
		i := int(math.Round(e.Confidence * confidenceSteps))
		c.stated[i].Add(1)
		c.right[i].Add(uint64(math.Round(hitParts * e.Share(p.Truth))))
	}
}

// risk returns nil for a policy that states no confidence.
func (c *Calibration) risk() *Risk {
	r := &Risk{Without: int(c.without.Load())}
	for i := range c.stated {
		r.Decisions += int(c.stated[i].Load())
	}
	if r.Decisions == 0 {
		return nil
	}
	c.setCurve(r)
	c.setBins(r)
	return r
}

// setCurve goes from the highest confidence to the lowest. When only some of
// the decisions with one confidence are covered, each counts by their share.
func (c *Calibration) setCurve(r *Risk) {
	covered, right, step := 0.0, 0.0, 1
	for i := confidenceSteps; i >= 0; i-- {
		n, hits := float64(c.stated[i].Load()), c.hits(i)
		if n == 0 {
			continue
		}
		for ; step <= RiskSteps; step++ {
			want := math.Ceil(float64(r.Decisions*step) / RiskSteps)
			if want > covered+n {
				break
			}
			r.Curve = append(r.Curve, RiskPoint{
				Coverage: Figure(float64(step) / RiskSteps), N: int(want), Confidence: Figure(float64(i) / confidenceSteps),
				Accuracy: Figure((right + hits*(want-covered)/n) / want),
			})
		}
		covered, right = covered+n, right+hits
	}
}

// hits is how many decisions of a confidence were right.
func (c *Calibration) hits(i int) float64 { return float64(c.right[i].Load()) / hitParts }

func (c *Calibration) setBins(r *Risk) {
	const bins = 10
	var n, right, stated [bins]float64
	for i := range c.stated {
		b := min(i*bins/confidenceSteps, bins-1)
		decisions := float64(c.stated[i].Load())
		n[b] += decisions
		right[b] += c.hits(i)
		stated[b] += decisions * float64(i) / confidenceSteps
	}
	for b := range bins {
		if n[b] > 0 {
			r.Bins = append(r.Bins, RiskBin{Figure(stated[b] / n[b]), Figure(right[b] / n[b]), int(n[b])})
			r.ECE += Figure(math.Abs(right[b]-stated[b]) / float64(r.Decisions))
		}
	}
}
