package adaptive

// A component of the mixture gives every candidate a probability: the softmax
// of its score. No component suits every room, so they are mixed, each with a
// weight that grows as it foresees the room's turns (see learner.go).
//
// There are hand-made rules, vectors that were trained on sets of transcripts
// of one sort each (see prior.go), one trained on all, and three from the
// team's past talks where these were given (see team.go).

// A Vector is a trained component: what talk of one sort is like.
type Vector struct {
	Name    string
	Agents  bool // the set's rooms are agent rooms
	Weights [RoomFeatures]float64
}

// RoomFeatures is how many features a Vector has weights for. Names has their
// names.
const RoomFeatures = roomFeatures

// A Prior is what is known of talk at large.
type Prior struct {
	Joint Vector   // trained on all sets
	Sets  []Vector // at most 10
}

// Bounds of the mixture.
const (
	mostSets   = 10
	ruleCount  = 8
	taughtMost = 3
	components = 1 + mostSets + ruleCount + taughtMost
)

// weight is one of a hand-made rule.
type weight struct {
	feature int
	w       float64
}

// rules are made by hand. The empty one gives everybody the same.
var rules = [ruleCount][]weight{
	{{fTriple, 1}},
	{{fTriple, 1}, {fAddressed, 3}},
	{{fTriple, 1}, {fAddressed, 3}, {fNamedLast, 2}},
	{{fTriple, .7}, {fAddressed, 7}, {fNamedLast, 6}},
	{{fRecency2, 1}},
	{{fTurns, .5}, {fTurnsFast, .5}},
	{},
	{{fTriple, .7}, {fAddressed, 4}, {fNamedLast, 2.5}, {fHandedTo, 1}, {fCodeForTool, 2}, {fPerson, -2}},
}

// Rules that start with another weight than the rest.
const (
	uniformRule = ruleCount - 2
	agentRule   = ruleCount - 1 // for rooms of agents
)

// model is the mixture before any room: the same for every decision.
type model struct {
	n       int                           // components in use
	weights [features][components]float64 // by feature, so that one that is 0 is passed over
	start   [2][components]float64        // in rooms of others, and of agents; sums to 1
	team    *team
}

// newModel puts the components in a row: joint, sets, rules, taught.
func newModel(prior *Prior, t *team) *model {
	m := &model{}
	m.add(&prior.Joint.Weights, 8, 8)
	for i := range prior.Sets[:min(mostSets, len(prior.Sets))] {
		v := &prior.Sets[i]
		if v.Agents {
			m.add(&v.Weights, 1, 3)
		} else {
			m.add(&v.Weights, 3, 1)
		}
	}
	for i, rule := range rules {
		for _, w := range rule {
			m.weights[w.feature][m.n] = w.w
		}
		switch i {
		case uniformRule:
			m.add(nil, 1, 1)
		case agentRule:
			m.add(nil, .5, 16)
		default:
			m.add(nil, .5, .5)
		}
	}
	m.normalise(1)
	if t != nil {
		m.teach(t)
	}
	return m
}

// add takes a component's weights, and its own in the mixture.
func (m *model) add(w *[RoomFeatures]float64, others, agents float64) {
	if w != nil {
		for i := range w {
			m.weights[i][m.n] = w[i]
		}
	}
	m.start[0][m.n], m.start[1][m.n] = others, agents
	m.n++
}

// normalise makes the weights in the mixture sum up to sum.
func (m *model) normalise(sum float64) {
	for k := range m.start {
		all := 0.0
		for _, w := range m.start[k][:m.n] {
			all += w
		}
		for j := range m.n {
			m.start[k][j] = float64(m.start[k][j]*sum) / all
		}
	}
}

// agentRoom reports whether the roster has an agent, and agents and tools are
// at least half of it.
func (r *room) agentRoom() bool {
	var n [kindCount]int
	for i := range r.agents {
		n[kindOf(&r.agents[i])]++
	}
	return n[agentKind] > 0 && n[agentKind]+n[toolKind] >= n[humanKind]
}

// begin returns the weights of the components before the first turn.
func (r *room) begin(m *model) *[components]float64 {
	if r.agentRoom() {
		return &m.start[1]
	}
	return &m.start[0]
}

// foresee gives every row its probability, by each component j and by the
// mixture, whose weights are a:
//
//	z_j = (w_j + d).f    p_j = size exp z_j / sum of size exp z_j    p = sum of a_j p_j
func (r *room) foresee(m *model) []row {
	rows := r.describe()
	for len(r.each) < len(rows) {
		r.each = append(r.each, [components]float64{})
	}
	for i := range rows {
		r.score(m, i)
	}
	r.softmax(m)
	if !r.weighed {
		for j, a := range r.begin(m) {
			r.weights[j] = float32(a)
		}
		r.weighed = true
	}
	for i := range rows {
		p := 0.0
		for j, q := range r.each[i][:m.n] {
			p += float64(float64(r.weights[j]) * q)
		}
		rows[i].p = p
	}
	return rows
}

// score sets z of row i.
func (r *room) score(m *model, i int) {
	w := &r.rows[i]
	z := &r.each[i]
	*z = [components]float64{}
	shared := 0.0
	for k, f := range w.at[:w.n] {
		x, weights := w.x[k], &m.weights[f]
		for j := range m.n {
			z[j] += float64(weights[j] * x)
		}
		if f < correctable {
			shared += float64(float64(r.correction[f]) * x)
		}
	}
	w.score = shared
}

// softmax turns the scores of each component into probabilities.
func (r *room) softmax(m *model) {
	rows := r.rows
	for j := range m.n {
		top := 0.0
		for i := range rows {
			r.each[i][j] += rows[i].score
			if i == 0 || r.each[i][j] > top {
				top = r.each[i][j]
			}
		}
		sum := 0.0
		for i := range rows {
			q := rows[i].size * exp(r.each[i][j]-top)
			r.each[i][j] = q
			sum += q
		}
		for i := range rows {
			r.each[i][j] /= sum
		}
	}
}
