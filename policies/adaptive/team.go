package adaptive

import (
	"math"
)

// A Team holds what was learned from past conversations of the same
// participants: counts of next speakers by context, weights of words, and three
// components that use them. Package training makes it. It is part of the
// settings.
type Team struct {
	Vectors [TeamVectors][TeamFeatures]float64
	Words   []float64 // WordSlots weights, or none
	counts  countTable

	// Own, if set, returns the count of a key in the current conversation. It is
	// subtracted, so that training does not use counts of the same conversation.
	Own func(key uint32) float64
}

// Dimensions of the vectors of a team. The first vector uses the features of the
// room only, the second also the counts of the team, the third also the words.
const (
	TeamVectors  = teamComponents
	TeamFeatures = correctable
)

// teamShare is the initial weight of each component of a team. The other
// components share the rest.
var teamShare = [teamComponents]float64{.2, .35, .35}

// Contexts in which the turns of a team are counted, in the order of the features
// from fTeamTurns on.
const (
	afterAny = iota
	afterOne
	afterTwo
	afterThree
	atPlace
	afterNaming
	afterText
	afterKind // counts kinds of participants
	contexts
)

// lastPlace is the turn from which on all turns have the same context.
const lastPlace = 12

// context returns the keys of the contexts of the next turn.
func (r *room) context() (keys [contexts]uint64) {
	last, before := r.speakers()
	t := &r.last
	bits := uint32(sign(t.code) | sign(t.question)<<1 | sign(t.names > 0)<<2)
	lastNamed := uint32(0)
	if t.names > 0 {
		lastNamed = t.name[t.names-1].who
	}
	for c := range keys {
		keys[c] = mix(tagTeam, uint32(c))
	}
	one := mix(keys[afterOne], last)
	keys[afterOne] = one
	keys[afterTwo] = mix(mix(keys[afterTwo], last), before)
	keys[afterThree] = mix(mix(mix(keys[afterThree], last), before), r.third())
	keys[atPlace] = mix(mix(keys[atPlace], last), uint32(min(r.turns, lastPlace)))
	keys[afterNaming] = mix(mix(mix(keys[afterNaming], last), lastNamed), t.voc)
	keys[afterText] = mix(mix(keys[afterText], last), bits)
	keys[afterKind] = mix(mix(keys[afterKind], uint32(r.lastKind())), bits)
	return keys
}

// third returns the speaker before the latest two, or 0.
func (r *room) third() uint32 {
	switch {
	case r.before.number > 0 && r.before.number == r.turns-2:
		return r.people[0].id
	case len(r.people) > 2 && r.people[2].turn == r.turns-2:
		return r.people[2].id
	}
	return 0
}

// keyOf returns the key of a context and the next speaker or kind.
func keyOf(context uint64, next uint32) uint32 {
	h := mix(context, next)
	return uint32(h>>32) ^ uint32(h)
}

// teamFeatures sets the features of the team. The estimates back off from longer
// contexts to shorter ones and to those of the room. Each is normalised over the
// candidates:
//
//	(n + alpha base) / (sum n + alpha)
func (r *room) teamFeatures() {
	keys := r.context()
	n := len(r.rows)
	var counts [contexts][maxRows]float64
	for c := range contexts - 1 {
		for i := range n {
			counts[c][i] = r.team.count(keyOf(keys[c], r.rows[i].id))
		}
	}
	everybody := 1 / float64(max(r.others(), 1))
	var base, turns, two, three, other [maxRows]float64
	for i := range n {
		base[i] = everybody
	}
	turns = r.teamEstimate(fTeamTurns, &counts[afterAny], &base, 2)
	for i := range n {
		base[i] = float64(.5*turns[i]) + float64(.5*r.rows[i].byPair)
	}
	two = r.teamEstimate(fTeamPair, &counts[afterOne], &base, 1)
	for i := range n {
		base[i] = float64(.7*two[i]) + float64(.3*r.rows[i].byTriple)
	}
	three = r.teamEstimate(fTeamTriple, &counts[afterTwo], &base, 1)
	for i := range n {
		other[i] = float64(.7*three[i]) + float64(.3*r.rows[i].byTriple)
	}
	r.teamEstimate(fTeamFour, &counts[afterThree], &other, 1)
	r.teamEstimate(fTeamPlace, &counts[atPlace], &two, 2)
	r.teamEstimate(fTeamNamed, &counts[afterNaming], &two, 1)
	r.teamEstimate(fTeamText, &counts[afterText], &two, 1)
	r.teamKinds(keys[afterKind])
	r.teamWords()
}

// teamEstimate sets a feature of all rows to ln of the estimate, and returns the estimates.
func (r *room) teamEstimate(feature int, n, base *[maxRows]float64, alpha float64) (p [maxRows]float64) {
	sum := alpha
	for i := range r.rows {
		sum += n[i]
	}
	for i := range r.rows {
		p[i] = (n[i] + float64(alpha*base[i])) / sum
		r.rows[i].set(feature, ln(p[i]))
	}
	return p
}

// teamKinds sets the feature of the kind that followed: the counts and two turns
// distributed like the candidates, shared among the candidates of the kind.
func (r *room) teamKinds(context uint64) {
	var n [kindCount]float64
	sum, all := 2.0, 0.0
	for k, count := range r.candidates[:] {
		if count > 0 {
			n[k] = r.team.count(keyOf(context, uint32(k)))
			sum += n[k]
			all += count
		}
	}
	for k, count := range r.candidates[:] {
		if count > 0 {
			n[k] = ln((n[k] + 2*count/all) / sum / count)
		}
	}
	for i := range r.rows {
		r.rows[i].set(fTeamKind, n[r.rows[i].kind])
	}
}

// count returns the count of a key.
func (t *Team) count(key uint32) float64 {
	n := t.counts.get(key)
	if n > 0 && t.Own != nil {
		n -= t.Own(key)
	}
	return max(n, 0)
}

// A countTable is a hash table with open addressing.
type countTable struct {
	keys []uint32 // 0 is an empty entry
	n    []uint16
}

// MaxCounts is the largest number of counts of a team. It keeps the settings
// below 1 MiB.
const MaxCounts = 50_000

// SetCounts sets the counts. A caller with more than MaxCounts should drop the
// counts of 1 first.
func (t *Team) SetCounts(keys []uint32, n []uint16) {
	t.counts = newCountTable(len(keys))
	for i, key := range keys {
		t.counts.put(key, n[i])
	}
}

func newCountTable(n int) countTable {
	size := 64
	for size < 2*n {
		size *= 2
	}
	return countTable{keys: make([]uint32, size), n: make([]uint16, size)}
}

func (t *countTable) put(key uint32, n uint16) {
	key = max(key, 1)
	mask := uint32(len(t.keys) - 1)
	at := key & mask
	for t.keys[at] != 0 && t.keys[at] != key {
		at = (at + 1) & mask
	}
	t.keys[at], t.n[at] = key, n
}

func (t *countTable) get(key uint32) float64 {
	if len(t.keys) == 0 {
		return 0
	}
	key = max(key, 1)
	mask := uint32(len(t.keys) - 1)
	for at := key & mask; t.keys[at] != 0; at = (at + 1) & mask {
		if t.keys[at] == key {
			return float64(t.n[at])
		}
	}
	return 0
}

// Words predict the next speaker if roles are fixed: after "query" the database
// agent speaks. A word has a weight for each candidate and for each recency rank.
// The weights share slots by their hashes (feature hashing).

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

// teamWords sets the feature of the words: the sum of their weights divided by
// the square root of their number.
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
