package training

import (
	"maps"
	"math"
	"slices"

	"github.com/folkmoot/moot/policies/adaptive"
)

// Parameters of the training of a team.
const (
	rate          = 0.1 // of AdaGrad, here and for the prior
	teamEpochs    = 4
	teamPull      = 1e-4
	mostDecisions = 8000
	wordRate      = 0.05
)

// Learn trains the weights of a team on its past talks, which must not be near
// duplicates (see [Distinct]). progress, if not nil, gets the finished part of the
// work, from 0 to 1.
func Learn(talks []*Talk, progress func(part float64)) *adaptive.Team {
	if progress == nil {
		progress = func(float64) {}
	}
	team := &adaptive.Team{}
	own := count(talks)
	progress(.1)
	team.SetCounts(sum(talks, own))
	samples := team8000(team, talks, own)
	progress(.3)
	start := make([]float64, adaptive.TeamFeatures)
	start[adaptive.Triple] = 1
	roomOnly := make([]bool, adaptive.TeamFeatures)
	for i := range adaptive.RoomFeatures {
		roomOnly[i] = true
	}
	f := fit{start: start, pull: teamPull, epochs: teamEpochs, rate: rate, only: roomOnly}
	copy(team.Vectors[0][:], f.train(samples))
	progress(.5)
	f.only = nil
	copy(team.Vectors[1][:], f.train(samples))
	progress(.7)
	f.words = make([]float64, adaptive.WordSlots)
	copy(team.Vectors[2][:], f.train(samples))
	team.Words, team.Own = f.words, nil
	progress(1)
	return team
}

// counts are the counts of the keys of a talk.
type counts map[uint32]uint16

// count counts the keys of the next speakers in each talk.
func count(talks []*Talk) []counts {
	all := make([]counts, len(talks))
	for i, t := range talks {
		all[i] = counts{}
		p := adaptive.New()
		var state []byte
		for in, truth := range t.asked() {
			in.State = state
			s := p.Study(in)
			state = s.State
			for _, key := range s.Keys(truth) {
				all[i][key] = min(all[i][key], math.MaxUint16-1) + 1
			}
		}
	}
	return all
}

// sum adds the counts of the talks, in the order of their keys. If there are too
// many it drops the smallest.
func sum(talks []*Talk, own []counts) (keys []uint32, n []uint16) {
	all := map[uint32]int{}
	for i := range talks {
		for key, n := range own[i] { // sums do not depend on the order
			all[key] += int(n)
		}
	}
	for least := 2; len(all) > adaptive.MaxCounts; least++ {
		maps.DeleteFunc(all, func(_ uint32, n int) bool { return n < least })
	}
	keys = slices.Sorted(maps.Keys(all))
	for _, key := range keys {
		n = append(n, uint16(min(all[key], math.MaxUint16)))
	}
	return keys, n
}

// team8000 takes evenly spaced decisions with the features of the team, each
// talk without its own counts.
func team8000(team *adaptive.Team, talks []*Talk, own []counts) []sample {
	total := 0
	for _, t := range talks {
		total += t.Decisions()
	}
	step := max(1, (total+mostDecisions-1)/mostDecisions)
	var out []sample
	n := 0
	for i, t := range talks {
		team.Own = func(key uint32) float64 { return float64(own[i][key]) }
		p := adaptive.NewWith(nil, team)
		var state []byte
		for in, truth := range t.asked() {
			in.State = state
			s := p.Study(in)
			state = s.State
			if y := s.Of(truth); n%step == 0 && y >= 0 {
				d := copied(s, y)
				for i := range d.rows {
					d.rows[i].slots = s.Slots(i)
				}
				out = append(out, d)
			}
			n++
		}
	}
	return out
}
