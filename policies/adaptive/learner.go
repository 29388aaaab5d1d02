package adaptive

// learnt is what the mixture learns from a room.
type learnt struct {
	weighed    bool                 // weights are set
	weights    [components]float32  // of the components; they sum to 1
	correction [correctable]float32 // to the weights of all components alike
}

const (
	// temper is the power of a component's probability that counts as evidence.
	// Turns are not independent, so that less than 1 is right.
	temper = 0.4
	// least keeps a component that was wrong once from being out for good.
	least = 1e-6
	// shared is the part of the weights that returns to where they began, so
	// that a component can recover when the room changes its ways.
	shared = 0.01
	// step is how far the weights of features move for one turn.
	step = 0.004
)

// learn compares what was foreseen with who did speak next.
//
//	a_j <- a_j (p_j(y) + least)^temper, normalised; a_j <- (1-shared) a_j + shared start_j
//	d   <- d + step (f(y) - sum of p(c) f(c))
//
// The first is Bayes' rule, tempered, with a fixed share; the second a step up
// the gradient of ln p(y) as if the mixture were one softmax.
func (r *room) learn(m *model, id uint64) {
	if r.turns == 0 {
		return // nobody decided before the first turn
	}
	rows := r.foresee(m)
	y := r.spoke(id)
	if y < 0 {
		return
	}
	start, sum := r.begin(m), 0.0
	var a [components]float64
	for j := range m.n {
		a[j] = float64(r.weights[j]) * exp(temper*logarithm(r.each[y][j]+least))
		sum += a[j]
	}
	for j := range m.n {
		r.weights[j] = float32(float64((1-shared)*a[j]/sum) + float64(shared*start[j]))
	}
	r.correct(rows, y)
}

// correct moves the weights of the features.
func (r *room) correct(rows []row, y int) {
	for i := range rows {
		w := &rows[i]
		by := -step * w.p
		if i == y {
			by += step
		}
		for k, f := range w.at[:w.n] {
			if f < correctable {
				r.correction[f] = float32(float64(r.correction[f]) + float64(by*w.x[k]))
			}
		}
	}
}

// spoke returns the row that stands for id, or -1.
func (r *room) spoke(id uint64) int {
	group := -1
	for i := range r.rows {
		if w := &r.rows[i]; w.id == id {
			return i
		} else if w.size > 1 {
			group = i
		}
	}
	if group >= 0 && r.rank(id) == neverSpoke && r.seatOf(id) >= 0 {
		return group
	}
	return -1
}
