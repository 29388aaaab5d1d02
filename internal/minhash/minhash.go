// Package minhash estimates how similar texts are from sketches of their shingles
// (Broder, On the Resemblance and Containment of Documents, 1997). A shingle is a run
// of five words. A sketch keeps the 128 smallest hashes of the shingles of a text.
package minhash

import (
	"cmp"
	"slices"
)

// Parameters of sketches.
const (
	RunLength = 5 // words of a shingle
	size      = 128
)

// A Sketch holds the smallest hashes of the shingles of a text, in ascending order. A
// text with at most 128 shingles is represented exactly.
type Sketch []uint64

// Of returns the sketch of texts, each a list of words. No shingle spans two texts. A
// text that is shorter than a shingle counts as one.
func Of(texts ...[]string) Sketch {
	var all []uint64
	for _, words := range texts {
		for j := range words {
			all = append(all, Hash(words[j:min(len(words), j+RunLength)]))
			if len(words) <= j+RunLength {
				break
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.Clone(all[:min(len(all), size)])
}

// Hash returns a hash of words: FNV-1a with the finalizer of MurmurHash3. Without it
// the last words hardly change the upper bits, and the smallest hashes would be no
// random sample.
func Hash(words []string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, w := range words {
		for i := range len(w) {
			h = (h ^ uint64(w[i])) * prime
		}
		h = (h ^ ' ') * prime
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Similarity estimates the Jaccard similarity of the shingles of two texts: of the
// smallest hashes of both, the share that both have. It is from 0 to 1, and 0 for two
// texts without words.
func Similarity(a, b Sketch) float64 {
	both, all := 0, 0
	for len(a) > 0 && len(b) > 0 && all < size {
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
	if rest := min(len(a)+len(b), size-all); rest > 0 {
		all += rest
	}
	return float64(both) / float64(max(all, 1))
}
