package wasteguard

import (
	"cmp"
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
)

// Shares are the shares of turns, in percent, for which a model knows the score that so
// many turns reach.
var Shares = [...]float64{1, 2, 5, 10, 20, 30, 40, 50}

// A Model scores turns: the sum of Weights[i] * (x[i] - Means[i]). A higher score is more
// likely the decisive error of a run. It is learnt by package training.
type Model struct {
	Weights Features
	Means   Features             // of the turns that it was learnt from
	Cuts    [len(Shares)]float64 // the scores that the Shares of those turns reach; they fall
}

// Score returns the score of a turn. It has the same bits on all processors.
func (m *Model) Score(x *Features) float64 {
	sum := 0.0
	for i := range x {
		sum += float64(m.Weights[i] * float64(x[i]-m.Means[i]))
	}
	return sum
}

// Threshold returns the score that the given share of the turns reaches, in percent from 1
// to 50. It is linear between the known ones.
func (m *Model) Threshold(percent float64) float64 {
	last := len(Shares) - 1
	for i := range last {
		if percent < Shares[i+1] {
			part := (percent - Shares[i]) / (Shares[i+1] - Shares[i])
			return m.Cuts[i] + float64(part*(m.Cuts[i+1]-m.Cuts[i]))
		}
	}
	return m.Cuts[last]
}

// phrases say in a reason why a feature raised the score.
var phrases = [Count]string{
	tool: "a tool wrote it", length: "it is long", digits: "it has many digits", list: "it has a list", code: "it has code",
	invented: "it assumes or simulates something", failure: "it speaks of a failure", asked: "it answers a person",
}

// maxPhrases is the number of phrases in a reason.
const maxPhrases = 3

// why returns the features that raised the score of x most, the largest first, in words.
func (m *Model) why(x *Features) string {
	var raised Features
	for i := range x {
		raised[i] = m.Weights[i] * (x[i] - m.Means[i])
	}
	raised[position] += raised[squared]
	raised[squared] = 0
	out := ""
	for range maxPhrases {
		best := 0
		for i := range raised {
			if raised[i] > raised[best] {
				best = i
			}
		}
		if raised[best] <= 0 {
			break
		}
		if raised[best] = 0; out != "" {
			out += ", "
		}
		if best == position {
			out += "many errors are at this point of a talk"
		} else {
			out += phrases[best]
		}
	}
	return cmp.Or(out, "its score is among the highest")
}

// AppendJSON appends the model as the setting "model".
func (m *Model) AppendJSON(dst []byte) []byte {
	w := policy.NewWriter(dst)
	w.Object()
	for _, part := range []struct {
		key string
		of  *Features
	}{{"weights", &m.Weights}, {"means", &m.Means}} {
		w.Key(part.key)
		w.Object()
		for i, name := range Names {
			w.Key(name)
			w.Float(part.of[i])
		}
		w.EndObject()
	}
	w.Key("cuts")
	w.Array()
	for _, c := range m.Cuts {
		w.Float(c)
	}
	w.EndArray()
	w.EndObject()
	return w.Bytes()
}

// read reads what AppendJSON wrote. It fails r if a number is missing.
func (m *Model) read(r *policy.Reader) {
	*m = Model{}
	parts := 0
	for r.Object(); r.More(); parts++ {
		switch k := r.Key(); k {
		case "weights":
			m.Weights.readJSON(r)
		case "means":
			m.Means.readJSON(r)
		case "cuts":
			m.readCuts(r)
		default:
			r.Unknown(k)
		}
	}
	if parts != 3 {
		r.Fail("model needs weights, means and cuts, each once")
	}
}

func (x *Features) readJSON(r *policy.Reader) {
	var seen [Count]bool
	for r.Object(); r.More(); {
		k := r.Key()
		i := 0
		for i < Count && Names[i] != k {
			i++
		}
		if i == Count {
			r.Unknown(k)
			return
		}
		x[i], seen[i] = r.Float(), true
	}
	for i, ok := range seen {
		if !ok {
			r.Fail("model has no " + Names[i])
		}
	}
}

func (m *Model) readCuts(r *policy.Reader) {
	n := 0
	for r.Array(); r.More(); n++ {
		if f := r.Float(); n < len(m.Cuts) {
			m.Cuts[n] = f
		}
	}
	if n != len(m.Cuts) {
		r.Fail("cuts needs " + strconv.Itoa(len(m.Cuts)) + " numbers")
	}
	for i := 1; i < len(m.Cuts); i++ {
		if m.Cuts[i] > m.Cuts[i-1] {
			r.Fail("cuts must not rise")
		}
	}
}
