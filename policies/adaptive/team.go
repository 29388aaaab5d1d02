package adaptive

// A Team is what past talks of the same people and agents taught: counts of
// who followed in which context, weights of words, and three components that
// use them. It is made by package training, and is part of the settings.
type Team struct {
	Vectors [TeamVectors][TeamFeatures]float64
	Words   []float64 // WordSlots of them, or none; see words.go
	counts  countTable

	// Own, when set, is how often the talk at hand itself counted a key. It is
	// subtracted, so that training does not trust counts that it made itself.
	Own func(key uint32) float64
}

// The vectors of a team: from the room's features only, with the team's
// counts, and with words too.
const (
	TeamVectors  = taughtMost
	TeamFeatures = correctable
)

// taughtShare is how much the components of a team are trusted before the
// first turn; the rest is the others'.
var taughtShare = [taughtMost]float64{.2, .35, .35}

// Contexts in which a team's turns are counted, in the order of the features
// from fTeamTurns on.
const (
	afterAny = iota
	afterOne
	afterTwo
	afterThree
	atPlace
	afterNaming
	afterText
	afterKind // counts kinds, not people
	contexts
)

// lastPlace is the turn from which on all are the same place.
const lastPlace = 12

// context returns the keys of the contexts of the turn that is to come.
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

// third is who spoke before the last two; 0 for nobody.
func (r *room) third() uint32 {
	switch {
	case r.before.number > 0 && r.before.number == r.turns-2:
		return r.people[0].id
	case len(r.people) > 2 && r.people[2].turn == r.turns-2:
		return r.people[2].id
	}
	return 0
}

// keyOf is the key of a context with what followed.
func keyOf(context uint64, next uint32) uint32 {
	h := mix(context, next)
	return uint32(h>>32) ^ uint32(h)
}

// teamFeatures sets what the team's past says: estimates that back off from
// longer contexts to shorter ones and to the room's own, each renormalised
// over the candidates:
//
//	(n + alpha base) / (sum n + alpha)
func (r *room) teamFeatures() {
	keys := r.context()
	n := len(r.rows)
	var counts [contexts][mostRows]float64
	for c := range contexts - 1 {
		for i := range n {
			counts[c][i] = r.team.count(keyOf(keys[c], r.rows[i].id))
		}
	}
	everybody := 1 / float64(max(r.others(), 1))
	var base, turns, two, three, other [mostRows]float64
	for i := range n {
		base[i] = everybody
	}
	turns = r.teamLaw(fTeamTurns, &counts[afterAny], &base, 2)
	for i := range n {
		base[i] = float64(.5*turns[i]) + float64(.5*r.rows[i].byPair)
	}
	two = r.teamLaw(fTeamPair, &counts[afterOne], &base, 1)
	for i := range n {
		base[i] = float64(.7*two[i]) + float64(.3*r.rows[i].byTriple)
	}
	three = r.teamLaw(fTeamTriple, &counts[afterTwo], &base, 1)
	for i := range n {
		other[i] = float64(.7*three[i]) + float64(.3*r.rows[i].byTriple)
	}
	r.teamLaw(fTeamFour, &counts[afterThree], &other, 1)
	r.teamLaw(fTeamPlace, &counts[atPlace], &two, 2)
	r.teamLaw(fTeamNamed, &counts[afterNaming], &two, 1)
	r.teamLaw(fTeamText, &counts[afterText], &two, 1)
	r.teamKinds(keys[afterKind])
	r.teamWords()
}

// teamLaw sets a feature of all rows to ln of the estimate, and returns that.
func (r *room) teamLaw(feature int, n, base *[mostRows]float64, alpha float64) (p [mostRows]float64) {
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

// teamKinds sets what kind followed: the counts and two turns spread as the
// candidates are, shared among those of the kind.
func (r *room) teamKinds(context uint64) {
	var n [kindCount]float64
	sum, all := 2.0, 0.0
	for k, some := range r.candidates[:] {
		if some > 0 {
			n[k] = r.team.count(keyOf(context, uint32(k)))
			sum += n[k]
			all += some
		}
	}
	for k, some := range r.candidates[:] {
		if some > 0 {
			n[k] = ln((n[k] + 2*some/all) / sum / some)
		}
	}
	for i := range r.rows {
		r.rows[i].set(fTeamKind, n[r.rows[i].kind])
	}
}

// count is how often what key stands for was seen.
func (t *Team) count(key uint32) float64 {
	n := t.counts.get(key)
	if n > 0 && t.Own != nil {
		n -= t.Own(key)
	}
	return max(n, 0)
}

// A countTable is a hash table that is read only.
type countTable struct {
	keys []uint32 // 0 for an empty place
	n    []uint16
}

// MaxCounts bounds the counts of a team, so that its settings stay below 1
// MiB.
const MaxCounts = 50_000

// SetCounts takes the counts. Of too many those of 1 should be left out first.
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
