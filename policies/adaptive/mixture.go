package adaptive

import "math/bits"

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
	mostSets    = 10
	taughtMost  = 3
	mostVectors = 1 + mostSets + taughtMost
	ruleCount   = 8
	components  = mostVectors + ruleCount
)

// Hand-made rules that start with another weight than the rest.
const (
	uniformRule = ruleCount - 2 // gives everybody the same
	agentRule   = ruleCount - 1 // for rooms of agents
)

// handMade are the scores that the hand-made rules give a row.
func handMade(x *[features]float64) [ruleCount]float64 {
	named := x[fTriple] + float64(3*x[fAddressed])
	often := float64(.7 * x[fTriple])
	return [ruleCount]float64{
		x[fTriple],
		named,
		named + float64(2*x[fNamedLast]),
		often + float64(7*x[fAddressed]) + float64(6*x[fNamedLast]),
		x[fRecency2],
		float64(.5*x[fTurns]) + float64(.5*x[fTurnsFast]),
		uniformRule: 0,
		agentRule: often + float64(4*x[fAddressed]) + float64(2.5*x[fNamedLast]) + x[fHandedTo] +
			float64(2*x[fCodeForTool]) - float64(2*x[fPerson]),
	}
}

// ruleWeights are the weights of the hand-made rules, by feature.
var ruleWeights = func() (all [features][ruleCount]float64) {
	for f := range all {
		var one [features]float64
		one[f] = 1
		all[f] = handMade(&one)
	}
	return all
}()

// some are as many vectors as are summed up at once.
type some [6]float64

// model is the mixture before any room: the same for every decision. First
// come the vectors, then the rules.
type model struct {
	n       int                    // components in use
	vectors int                    // of them
	weights [3][features]some      // by feature, so that one that is 0 is passed over
	start   [2][components]float64 // weights of the components in rooms of others, and of agents; they sum to 1
	team    *Team
}

// newModel puts the components in a row. What was taught gets most of the
// weight, because it is about this team.
func newModel(prior *Prior, t *Team) *model {
	m := &model{team: t}
	taught := 0.0
	if t != nil {
		for i := range t.Vectors {
			m.vector(t.Vectors[i][:], taughtShare[i], taughtShare[i])
			taught += taughtShare[i]
		}
		*m.weight(fWords, m.n-1) = 1
	}
	known := m.n
	m.vector(prior.Joint.Weights[:], 8, 8)
	for i := range prior.Sets[:min(mostSets, len(prior.Sets))] {
		v := &prior.Sets[i]
		if v.Agents {
			m.vector(v.Weights[:], 1, 3)
		} else {
			m.vector(v.Weights[:], 3, 1)
		}
	}
	m.vectors = m.n
	for i := range ruleCount {
		switch i {
		case uniformRule:
			m.add(1, 1)
		case agentRule:
			m.add(.5, 16)
		default:
			m.add(.5, .5)
		}
	}
	m.share(known, 1-taught)
	return m
}

// corrected is how many features can differ from 0, so that their weights are
// corrected.
func (m *model) corrected() int {
	if m.team == nil {
		return roomFeatures
	}
	return correctable
}

// weight is that of feature f in vector j.
func (m *model) weight(f, j int) *float64 { return &m.weights[j/len(some{})][f][j%len(some{})] }

func (m *model) vector(w []float64, others, agents float64) {
	for f := range w {
		*m.weight(f, m.n) = w[f]
	}
	m.add(others, agents)
}

// add gives the next component its weight in the mixture.
func (m *model) add(others, agents float64) {
	m.start[0][m.n], m.start[1][m.n] = others, agents
	m.n++
}

// share makes the weights of the components from one on sum up to sum.
func (m *model) share(from int, sum float64) {
	for k := range m.start {
		all := 0.0
		for _, w := range m.start[k][from:m.n] {
			all += w
		}
		for j := from; j < m.n; j++ {
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
	return &m.start[sign(r.agentRoom())]
}

// foresee gives every row its probability, by each component j and by the
// mixture, whose weights are a:
//
//	z_j = (w_j + d).f    p_j = size exp z_j / sum of size exp z_j    p = sum of a_j p_j
func (r *room) foresee(m *model) {
	r.describe()
	if !r.weighed {
		for j, a := range r.begin(m) {
			r.weights[j] = fine(a)
		}
		r.weighed = true
	}
	for i := range r.rows {
		r.scoreRow(m, i)
	}
	r.softmax(m.n)
	r.current = true
}

// scoreRow sets z of row i.
func (r *room) scoreRow(m *model, i int) {
	w := &r.all[i]
	z := &w.z
	shared := 0.0
	for set := w.has & corrected; set != 0; set &= set - 1 {
		if f := bits.TrailingZeros64(set); f < correctable {
			shared += float64(r.correction[f] * w.x[f])
		}
	}
	for at := 0; at*len(some{}) < m.vectors; at++ {
		sums := w.sums(&m.weights[at])
		for j, sum := range &sums {
			z[at*len(sums)+j] = sum + shared // those beyond the vectors are set again below
		}
	}
	rules := handMade(&w.x)
	for j, sum := range &rules {
		z[m.vectors+j] = sum + shared
	}
}

// sums are those of the features, each times its weight in six vectors. It is
// written out because it is where most of a decision goes: the sums stay in
// registers so.
func (w *row) sums(of *[features]some) some {
	var a, b, c, d, e, f float64
	for set := w.has; set != 0; set &= set - 1 {
		feature := bits.TrailingZeros64(set)
		if feature >= features {
			break
		}
		x, v := w.x[feature], &of[feature]
		a += float64(v[0] * x)
		b += float64(v[1] * x)
		c += float64(v[2] * x)
		d += float64(v[3] * x)
		e += float64(v[4] * x)
		f += float64(v[5] * x)
	}
	return some{a, b, c, d, e, f}
}

// softmax turns the scores of each component into probabilities, and mixes
// them. Scores are small enough for their exponentials.
func (r *room) softmax(n int) {
	var sums, parts [components]float64
	for i := range r.rows {
		w := &r.rows[i]
		exponentials(w.q[:n], w.z[:n])
		for j := range w.q[:n] {
			w.q[j] *= w.size
			sums[j] += w.q[j]
		}
	}
	for j := range parts[:n] {
		parts[j] = r.weights[j] / sums[j]
		r.sums[j] = logarithm(sums[j])
	}
	for i := range r.rows {
		p, q := 0.0, &r.rows[i].q
		for j := range q[:n] {
			p += float64(parts[j] * q[j])
		}
		r.rows[i].p = p
	}
}
