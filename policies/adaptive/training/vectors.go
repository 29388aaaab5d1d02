package training

import (
	"math"

	"github.com/folkmoot/moot/policies/adaptive"
)

// How the prior is trained.
const (
	epochs     = 10
	rate       = 0.1
	pullSet    = 3e-4
	pullJoint  = 1e-4
	mostOfSet  = 4000 // decisions of a set
	firstTurns = 250  // of a talk in a channel that is never silent
)

// Samples are the decisions of sets that a prior is trained on. They are
// collected once, because one prior for each set leaves that set out.
type Samples struct {
	sets []*Set
	of   [][]sample
	own  []*adaptive.Vector
}

// Collect takes up to 4,000 evenly spaced decisions of each set.
func Collect(sets []*Set) *Samples {
	s := &Samples{sets: sets, of: make([][]sample, len(sets)), own: make([]*adaptive.Vector, len(sets))}
	for i, set := range sets {
		turns := 0
		if set.Name == "irc-channels" {
			turns = firstTurns
		}
		s.of[i] = spread(set.Talks, mostOfSet, turns)
	}
	return s
}

// Prior trains on all sets but those that leaveOut says to leave out; nil
// leaves out none.
func (s *Samples) Prior(leaveOut func(*Set) bool) *adaptive.Prior {
	p := &adaptive.Prior{}
	var all []sample
	for i, set := range s.sets {
		if leaveOut != nil && leaveOut(set) {
			continue
		}
		if s.own[i] == nil {
			s.own[i] = vector(set.Name, set.Agents, fit{pull: pullSet}, s.of[i])
		}
		p.Sets = append(p.Sets, *s.own[i])
		w := 4000 / float64(len(s.of[i])+2000) // a small set counts for more than its size
		for _, d := range s.of[i] {
			d.weight = w
			all = append(all, d)
		}
	}
	p.Joint = *vector("joint", false, fit{pull: pullJoint}, all)
	return p
}

// vector trains a component. The weights are rounded to what is embedded.
func vector(name string, agents bool, f fit, samples []sample) *adaptive.Vector {
	f.start, f.epochs, f.rate = make([]float64, adaptive.RoomFeatures), epochs, rate
	f.start[adaptive.Triple] = 1
	v := &adaptive.Vector{Name: name, Agents: agents}
	for i, w := range f.train(append([]sample(nil), samples...)) {
		v.Weights[i] = math.Round(w*1e4) / 1e4
	}
	return v
}
