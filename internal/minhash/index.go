package minhash

// An Index finds the most similar one of the newest sketches that were added to it. The
// zero Index keeps all of them. It is used by one goroutine at a time.
type Index struct {
	Keep int     // how many of the newest sketches are kept; 0 means all
	From float64 // similarity from which a sketch is found

	first    int // number of the oldest sketch that is kept
	sketches []Sketch
	holders  map[uint64][]int // the sketches that have a hash, by their numbers
	shared   []int            // scratch of Nearest: how many hashes each sketch shares
}

// Add adds a sketch and returns its number: they are numbered from 0.
func (x *Index) Add(s Sketch) int {
	if x.holders == nil {
		x.holders = map[uint64][]int{}
	}
	n := x.first + len(x.sketches)
	for _, h := range s {
		x.holders[h] = append(x.holders[h], n)
	}
	x.sketches = append(x.sketches, s)
	if x.Keep > 0 && len(x.sketches) > x.Keep {
		x.drop()
	}
	return n
}

// drop forgets the oldest sketch.
func (x *Index) drop() {
	for _, h := range x.sketches[0] {
		if rest := x.holders[h][1:]; len(rest) > 0 { // the oldest one is first
			x.holders[h] = rest
		} else {
			delete(x.holders, h)
		}
	}
	x.sketches[0] = nil
	x.sketches = x.sketches[1:]
	x.first++
}

// Nearest returns the number of the most similar sketch, the older one of two that are
// equally similar, and its similarity. The similarity is 0 if no sketch is as similar as
// From and has a third of the hashes of s.
func (x *Index) Nearest(s Sketch) (n int, similarity float64) {
	x.shared = append(x.shared[:0], make([]int, len(x.sketches))...)
	for _, h := range s {
		for _, i := range x.holders[h] {
			x.shared[i-x.first]++
		}
	}
	for i, shared := range x.shared {
		if shared == 0 || shared*3 < len(s) {
			continue
		}
		most := float64(shared) / float64(min(size, len(s)+len(x.sketches[i])-shared))
		if most <= similarity || most < x.From {
			continue
		}
		if a := Similarity(s, x.sketches[i]); a > similarity && a >= x.From {
			n, similarity = x.first+i, a
		}
	}
	return n, similarity
}
