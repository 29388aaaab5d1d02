package training

import "github.com/folkmoot/moot/policies/adaptive"

// A sample is a decision for training: for each row the features that are not 0.
type sample struct {
	rows   []row
	truth  int
	weight float64
}

type row struct {
	at    []uint8
	x     []float32
	size  float32
	slots []int // of words, see fit
}

// copied returns a sample of a study in which row truth spoke.
func copied(s adaptive.Study, truth int) sample {
	out := sample{rows: make([]row, s.Rows()), truth: truth, weight: 1}
	for i := range out.rows {
		at, x, size := s.Row(i)
		r := row{at: append([]uint8(nil), at...), x: make([]float32, len(x)), size: float32(size)}
		for k := range x {
			r.x[k] = float32(x[k])
		}
		out.rows[i] = r
	}
	return out
}

// spread returns at most most evenly spaced decisions of the talks. If turns is
// not 0 it uses only so many turns of each talk.
func spread(talks []*Talk, most, turns int) []sample {
	total := 0
	for _, t := range talks {
		total += within(t.Decisions(), turns)
	}
	step := max(1, (total+most-1)/most)
	var out []sample
	n := 0
	for _, t := range talks {
		p := adaptive.New()
		left := within(t.Decisions(), turns)
		var state []byte
		for in, truth := range t.asked() {
			if left == 0 {
				break
			}
			left--
			in.State = state
			s := p.Study(in)
			state = s.State
			if y := s.Of(truth); n%step == 0 && y >= 0 {
				out = append(out, copied(s, y))
			}
			n++
		}
	}
	return out
}

func within(n, most int) int {
	if most > 0 {
		return min(n, most)
	}
	return n
}
