package score

// maxSeries is how many values a series keeps at most.
const maxSeries = 512

// A series keeps a growing total at evenly spaced steps. When it is full, it
// drops every other value and doubles the step.
type series struct {
	values []float64 // after each step-th addition
	step   int
	n      int
	last   float64
}

func (s *series) addTotal(total float64) {
	s.step = max(s.step, 1)
	s.n++
	s.last = total
	if s.n%s.step != 0 {
		return
	}
	if s.values = append(s.values, total); len(s.values) == maxSeries {
		for i := range maxSeries / 2 {
			s.values[i] = s.values[2*i+1]
		}
		s.values = s.values[:maxSeries/2]
		s.step *= 2
	}
}

// all returns the values, and the last total.
func (s *series) all() []float64 {
	out := s.values
	if s.step > 0 && s.n%s.step != 0 {
		out = append(out[:len(out):len(out)], s.last)
	}
	return out
}
