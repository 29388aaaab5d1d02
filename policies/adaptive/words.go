package adaptive

import "math"

// Words predict the next speaker if roles are fixed: after "query" the database
// agent speaks. A word has a weight for each candidate and for each bucket of
// recency. The weights share slots by their hashes (Weinberger and others, Feature
// Hashing for Large Scale Multitask Learning, 2009).

// WordSlots is the number of word weights of a Team.
const WordSlots = 8192

// Bounds of the words of a turn: the first and the last ones.
const (
	firstWords = 12
	lastWords  = 20
	maxWords   = firstWords + lastWords
)

// appendWords appends the hashes of the distinct words at the beginning and at
// the end of a text. A word at the beginning has another hash than elsewhere.
func appendWords(bag []uint16, text string) []uint16 {
	at := 0
	for range firstWords {
		start := nextByte(text, at, true)
		at = nextByte(text, start, false)
		if start == at {
			return bag
		}
		bag = addWord(bag, text[start:at], '^')
	}
	end := len(text)
	for range lastWords {
		for end > at && !wordByte(text[end-1]) {
			end--
		}
		start := end
		for start > at && wordByte(text[start-1]) {
			start--
		}
		if start == end {
			break
		}
		bag = addWord(bag, text[start:end], 0)
		end = start
	}
	return bag
}

// nextByte returns the next place from at on with a byte that is part of a word, or
// is not, or the end.
func nextByte(text string, at int, part bool) int {
	for at < len(text) && wordByte(text[at]) != part {
		at++
	}
	return at
}

// wordByte reports whether c is part of a word: a letter, a digit, or above ASCII.
func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

func addWord(bag []uint16, word string, place uint64) []uint16 {
	h := mix(place, uint64(len(word)))
	for i := range len(word) {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	w := uint16(mix(h, 0) >> 48)
	for _, have := range bag {
		if have == w {
			return bag
		}
	}
	return append(bag, w)
}

// shortText reports whether a text has at most three words.
func shortText(text string) bool {
	at := 0
	for range 4 {
		start := nextByte(text, at, true)
		if at = nextByte(text, start, false); start == at {
			return true
		}
	}
	return false
}

// slots returns the two slots of a word for a candidate.
func slots(word uint16, bucket int, id uint64) (byID, byBucket int) {
	return int(mix(id, uint64(word)) >> 40 % WordSlots), int(mix(uint64(bucket+1), uint64(word)) >> 40 % WordSlots)
}

// words returns what the words of a turn add to the score of a row: the sum of
// their weights divided by the square root of their number.
func (t *Team) words(last *turn, w *row, id string) float64 {
	if len(t.Words) == 0 || len(last.words) == 0 {
		return 0
	}
	sum, h := 0.0, hash(id)
	for _, word := range last.words {
		a, b := slots(word, w.bucket, h)
		sum += t.Words[a] + t.Words[b]
	}
	return sum / math.Sqrt(float64(len(last.words)))
}
