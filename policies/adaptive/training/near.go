package training

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"
)

// Near duplicates, such as a run and its repetition, would make training look
// perfect: one talk predicts the other. They are found with a bottom-k sketch
// (Broder, On the Resemblance and Containment of Documents, 1997).

// A Near is a near duplicate of an earlier talk.
type Near struct {
	Talk  string  `json:"talk"`  // its id
	Like  string  `json:"like"`  // the id of the earlier one
	Alike float64 `json:"alike"` // estimated share of the runs of words that both have, from 0 to 1
}

// Parameters of the sketches of the shingles (runs of words) of a talk.
const (
	runLength  = 5 // words
	sketchSize = 128
	nearFrom   = 0.5
)

// Distinct returns the talks without near duplicates of an earlier one, and the
// near duplicates.
func Distinct(talks []*Talk) (distinct []*Talk, near []Near) {
	index := map[uint64][]int{} // of the talks that are kept, by what is in their sketches
	var sketches [][]uint64
	for _, t := range talks {
		s := sketch(t)
		if like, alike := likest(s, index, sketches); alike >= nearFrom {
			near = append(near, Near{t.ID, distinct[like].ID, alike})
			continue
		}
		for _, h := range s {
			index[h] = append(index[h], len(distinct))
		}
		sketches = append(sketches, s)
		distinct = append(distinct, t)
	}
	return distinct, near
}

// sketch returns the smallest hashes of the talk's shingles, in order, without
// the names of speakers.
func sketch(t *Talk) []uint64 {
	var all []uint64
	for i := range t.turns {
		words := strings.Fields(strings.ToLower(t.turns[i].Text))
		for j := 0; j < len(words); j++ {
			h := fnv.New64a()
			for _, w := range words[j:min(len(words), j+runLength)] {
				h.Write([]byte(w + " "))
			}
			all = append(all, h.Sum64())
			if len(words) <= j+runLength {
				break
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), sketchSize)]
}

// likest returns the talk with the most similar sketch and the estimated Jaccard
// similarity: of the smallest hashes of both, the share that both have.
func likest(s []uint64, index map[uint64][]int, sketches [][]uint64) (like int, alike float64) {
	common := map[int]int{}
	for _, h := range s {
		for _, i := range index[h] {
			common[i]++
		}
	}
	var candidates []int
	for i, n := range common {
		if n*3 >= len(s) {
			candidates = append(candidates, i)
		}
	}
	slices.Sort(candidates)
	for _, i := range candidates {
		if a := jaccard(s, sketches[i]); a > alike {
			like, alike = i, a
		}
	}
	return like, alike
}

func jaccard(a, b []uint64) float64 {
	both, all := 0, 0
	for len(a) > 0 && len(b) > 0 && all < sketchSize {
		all++
		switch cmp.Compare(a[0], b[0]) {
		case 0:
			both++
			a, b = a[1:], b[1:]
		case -1:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	if rest := min(len(a)+len(b), sketchSize-all); rest > 0 {
		all += rest
	}
	return float64(both) / float64(max(all, 1))
}
