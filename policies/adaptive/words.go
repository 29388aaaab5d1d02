package adaptive

import "math"

// The words of a turn say whom it is for where roles are fixed: "query" goes
// to the database agent. A word has a weight for a candidate and for how long
// ago it spoke; weights share slots by their hashes.

// WordSlots is how many weights of words a Team has.
const WordSlots = 8192

// Which words are looked at.
const (
	firstWords = 12
	lastWords  = 20
	maxWords   = firstWords + lastWords
)

// appendWords appends the hashes of the distinct words at the beginning of a
// text, which count as others than elsewhere, and at its end.
func appendWords(bag []uint16, text string) []uint16 {
	at, n := 0, 0
	for ; n < firstWords; n++ {
		start := wordStart(text, at)
		if start == len(text) {
			return bag
		}
		at = wordEnd(text, start)
		bag = addWord(bag, text[start:at], '^')
	}
	end := len(text)
	for n = 0; n < lastWords; n++ {
		start := end
		for start > at && !wordBytes[text[start-1]] {
			start--
		}
		stop := start
		for start > at && wordBytes[text[start-1]] {
			start--
		}
		if start == stop {
			break
		}
		bag = addWord(bag, text[start:stop], 0)
		end = start
	}
	return bag
}

func addWord(bag []uint16, word string, place uint64) []uint16 {
	h := place
	for i := range len(word) {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	w := uint16(mix(h, uint32(len(word))) >> 48)
	for _, have := range bag {
		if have == w {
			return bag
		}
	}
	return append(bag, w)
}

// slots returns the two slots of a word for a row.
func slots(word uint16, w *row) (id, recency int) {
	class := w.rank
	if class > 4 {
		class = 4
	}
	return int(mix(mix(tagWord, uint32(word)), w.id) >> 20 % WordSlots),
		int(mix(mix(tagClass, uint32(word)), uint32(class)) >> 20 % WordSlots)
}

// teamWords sets what the words say: the sum of their weights over the square
// root of how many they are.
func (r *room) teamWords() {
	bag := r.last.bag
	if len(r.team.Words) == 0 || len(bag) == 0 {
		return
	}
	share := 1 / math.Sqrt(float64(len(bag)))
	for i := range r.rows {
		sum := 0.0
		for _, word := range bag {
			a, b := slots(word, &r.rows[i])
			sum += r.team.Words[a] + r.team.Words[b]
		}
		r.rows[i].set(fWords, sum*share)
	}
}
