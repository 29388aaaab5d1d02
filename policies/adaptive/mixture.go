package adaptive

import "math/bits"

// A component of the mixture gives each candidate a probability: the softmax of
// its score. No component suits every room, so the mixture weights them. The
// weight of a component grows when it predicts the turns of the room (see
// learner.go).
//
// The components are heuristics with fixed weights, one vector trained on each
// set of transcripts and one on all sets (see prior.go), and three trained on
// past conversations of the team, if the settings have them (see team.go).

// A Vector is a trained component: the weights for one sort of conversation.
type Vector struct {
	Name    string
	Agents  bool // trained on rooms of agents
	Weights [RoomFeatures]float64
}

// RoomFeatures is the number of weights of a Vector. [FeatureNames] has their
// names.
const RoomFeatures = roomFeatures

// A Prior holds the weights for conversations in general.
type Prior struct {
	Joint Vector   // trained on all sets
	Sets  []Vector // at most 10
}

// Bounds of the mixture.
const (
	maxSets        = 10
	teamComponents = 3
	maxVectors     = 1 + maxSets + teamComponents
	heuristicCount = 8
	components     = maxVectors + heuristicCount
)

// Heuristics with an initial weight of their own.
const (
	uniformHeuristic = heuristicCount - 2 // gives all candidates the same probability
	agentHeuristic   = heuristicCount - 1 // for rooms of agents
)

// heuristics returns the scores of a row by the heuristics.
func heuristics(x *[features]float64) [heuristicCount]float64 {
	named := x[fTriple] + float64(3*x[fAddressed])
	often := float64(.7 * x[fTriple])
	return [heuristicCount]float64{
		x[fTriple],
		named,
		named + float64(2*x[fNamedLast]),
		often + float64(7*x[fAddressed]) + float64(6*x[fNamedLast]),
		x[fRecency2],
		float64(.5*x[fTurns]) + float64(.5*x[fTurnsFast]),
		uniformHeuristic: 0,
		agentHeuristic: often + float64(4*x[fAddressed]) + float64(2.5*x[fNamedLast]) + x[fHandedTo] +
			float64(2*x[fCodeForTool]) - float64(2*x[fPerson]),
	}
}

// heuristicWeights are the feature weights of the heuristics.
var heuristicWeights = func() (all [features][heuristicCount]float64) {
	for f := range all {
		var one [features]float64
		one[f] = 1
		all[f] = heuristics(&one)
	}
	return all
}()

// some are as many vectors as are summed up at once.
type lanes [6]float64

// model holds the components and their initial weights. It is the same for all
// decisions. The vectors come first, then the heuristics.
type model struct {
	n       int                    // components in use
	vectors int                    // how many of them are vectors
	weights [3][features]lanes     // by feature, so that features that are 0 are skipped
	start   [2][components]float64 // initial weights of the components in other rooms, and in rooms of agents; they sum to 1
	team    *Team
}

// newModel returns the model of a prior and a team. The components of the team
// get most of the initial weight, because they know this team.
func newModel(prior *Prior, t *Team) *model {
	m := &model{team: t}
	fromTeam := 0.0
	if t != nil {
		for i := range t.Vectors {
			m.vector(t.Vectors[i][:], teamShare[i], teamShare[i])
			fromTeam += teamShare[i]
		}
		*m.weight(fWords, m.n-1) = 1
	}
	known := m.n
	m.vector(prior.Joint.Weights[:], 8, 8)
	for i := range prior.Sets[:min(maxSets, len(prior.Sets))] {
		v := &prior.Sets[i]
		if v.Agents {
			m.vector(v.Weights[:], 1, 3)
		} else {
			m.vector(v.Weights[:], 3, 1)
		}
	}
	m.vectors = m.n
	for i := range heuristicCount {
		switch i {
		case uniformHeuristic:
			m.add(1, 1)
		case agentHeuristic:
			m.add(.5, 16)
		default:
			m.add(.5, .5)
		}
	}
	m.share(known, 1-fromTeam)
	return m
}

// corrected returns the number of features whose weights are corrected online.
func (m *model) corrected() int {
	if m.team == nil {
		return roomFeatures
	}
	return correctable
}

// weight returns the weight of feature f in vector j.
func (m *model) weight(f, j int) *float64 { return &m.weights[j/len(lanes{})][f][j%len(lanes{})] }

func (m *model) vector(w []float64, others, agents float64) {
	for f := range w {
		*m.weight(f, m.n) = w[f]
	}
	m.add(others, agents)
}

// add sets the initial weight of the next component.
func (m *model) add(others, agents float64) {
	m.start[0][m.n], m.start[1][m.n] = others, agents
	m.n++
}

// share scales the initial weights of the components from on to the given sum.
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

// agentRoom reports whether the room has an agent, and at least half of its
// participants are agents or tools.
func (r *room) agentRoom() bool {
	var n [kindCount]int
	for i := range r.agents {
		n[kindOf(&r.agents[i])]++
	}
	return n[agentKind] > 0 && n[agentKind]+n[toolKind] >= n[humanKind]
}

// begin returns the initial weights of the components.
func (r *room) begin(m *model) *[components]float64 {
	return &m.start[sign(r.agentRoom())]
}

// predict computes the probability of each row by each component j and by the
// mixture with the weights a:
//
//	z_j = (w_j + d).f    p_j = size exp z_j / sum of size exp z_j    p = sum of a_j p_j
func (r *room) predict(m *model) {
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

// scoreRow computes the scores of row i by all components.
func (r *room) scoreRow(m *model, i int) {
	w := &r.all[i]
	z := &w.z
	shared := 0.0
	for set := w.has & corrected; set != 0; set &= set - 1 {
		if f := bits.TrailingZeros64(set); f < correctable {
			shared += float64(r.correction[f] * w.x[f])
		}
	}
	for at := 0; at*len(lanes{}) < m.vectors; at++ {
		sums := w.sums(&m.weights[at])
		for j, sum := range &sums {
			z[at*len(sums)+j] = sum + shared // the heuristics overwrite those beyond the vectors
		}
	}
	rules := heuristics(&w.x)
	for j, sum := range &rules {
		z[m.vectors+j] = sum + shared
	}
}

// sums returns the weighted sums of the features for six vectors. The loop over
// the vectors is unrolled, because most of the time of a decision is spent here.
func (w *row) sums(of *[features]lanes) lanes {
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
	return lanes{a, b, c, d, e, f}
}

// softmax turns the scores of each component into probabilities and mixes them.
// Scores are too small for their exponentials to overflow.
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
