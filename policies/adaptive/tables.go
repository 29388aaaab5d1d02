package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Bounds of what is remembered.
const (
	cellCount = 4096 // counters of one byte
	maxPeople = 48   // most recent speakers; the next is forgotten
)

// room is what has been learnt.
type room struct {
	agents []policy.Agent // of the input at hand

	turns     int      // consecutive messages of one speaker are one turn
	people    []person // who has spoken, the latest first
	kinds     [2]int   // classes of the last two transitions
	fast      [buckets]float64
	cells     [cellCount / 8]uint64 // counters, eight a word
	weights   [ruleCount]float64    // of the rules; 0 throughout before the first turn
	addressed string                // by the last turn
	lastNamed string                // in the last turn

	rows []row
}

// A person is somebody who has spoken.
type person struct {
	id    string
	turns float64
	fast  float64 // turns, each counting less by fastShare with every later one
}

// Buckets of recency: how many others have spoken since somebody last did.
const (
	buckets = 12
	never   = -1 // the rank of who has not spoken
)

// bucket puts rank 1, the speaker before the last one, into 0.
func bucket(rank int) int {
	switch {
	case rank == never:
		return buckets - 1
	case rank <= 8:
		return rank - 1
	case rank <= 12:
		return 8
	case rank <= 20:
		return 9
	}
	return 10
}

// classOf is the class of a transition to somebody in bucket b.
func classOf(b int) int {
	switch b {
	case 0, 1:
		return b
	case buckets - 1:
		return 4
	}
	return 2
}

const noClass = 3

// How fast the fast counts forget, with every turn.
const (
	fastRank  = 0.85
	fastShare = 0.92
)

// rank returns how many others have spoken since id did, or never.
func (r *room) rank(id string) int {
	for i := range r.people {
		if r.people[i].id == id {
			return i
		}
	}
	return never
}

// hear learns from one message: first what the rules had foreseen, then the
// counts.
func (r *room) hear(e *policy.Event) {
	if len(r.people) == 0 || r.people[0].id != e.From {
		r.weigh(e.From)
		r.count(e.From)
		r.addressed, r.lastNamed = "", ""
	}
	if n := len(e.Addressed); n > 0 {
		r.addressed = e.Addressed[n-1]
	}
	if n := len(e.Mentions); n > 0 {
		r.lastNamed = e.Mentions[n-1]
	}
}

// count adds a turn of id.
func (r *room) count(id string) {
	rank := r.rank(id)
	if r.turns > 0 {
		b := bucket(rank)
		last, before := r.speakers()
		for _, k := range [...]uint64{
			key(tagRank, 0, 0, b), key(tagRank1, r.kinds[0], 0, b), key(tagRank2, r.kinds[0], r.kinds[1], b),
			pair(last, id), triple(before, last, id),
		} {
			r.add(k)
		}
		for i := range r.fast {
			r.fast[i] *= fastRank
		}
		r.fast[b]++
		r.kinds = [2]int{classOf(b), r.kinds[0]}
	}
	r.turns++
	for i := range r.people {
		r.people[i].fast *= fastShare
	}
	p := person{id: id}
	if rank != never {
		p = r.people[rank]
		copy(r.people[1:rank+1], r.people[:rank])
	} else {
		if len(r.people) < maxPeople {
			r.people = append(r.people, person{})
		}
		copy(r.people[1:], r.people)
	}
	p.turns++
	p.fast++
	r.people[0] = p
}

// speakers returns the last speaker and the one before.
func (r *room) speakers() (last, before string) {
	if len(r.people) > 0 {
		last = r.people[0].id
	}
	if len(r.people) > 1 {
		before = r.people[1].id
	}
	return last, before
}

// The counters are cells of a hash table: two contexts that meet in a cell
// are added up, which costs less than a table without bounds.

// add counts one more; before a cell overflows all are halved.
func (r *room) add(k uint64) {
	i, shift := cell(k)
	if r.cells[i]>>shift&255 == 255 {
		for j := range r.cells {
			r.cells[j] = r.cells[j] >> 1 & 0x7f7f7f7f7f7f7f7f
		}
	}
	r.cells[i] += 1 << shift
}

func (r *room) get(k uint64) float64 {
	i, shift := cell(k)
	return float64(r.cells[i] >> shift & 255)
}

// cell returns the word and the place in it of a counter.
func cell(k uint64) (word, shift int) {
	at := int((k ^ k>>32) % cellCount)
	return at / 8, at % 8 * 8
}

// Tags keep contexts of one kind apart from those of another.
const (
	tagRank = iota + 1
	tagRank1
	tagRank2
	tagPair
	tagTriple
)

func key(tag, a, b, c int) uint64 {
	return mix(mix(mix(mix(0, uint64(tag)), uint64(a)), uint64(b)), uint64(c))
}

func pair(last, id string) uint64 { return mixText(mixText(mix(0, tagPair), last), id) }

func triple(before, last, id string) uint64 {
	return mixText(mixText(mixText(mix(0, tagTriple), before), last), id)
}

// mix is one step of FNV-1a on a word, with the high bits folded in.
func mix(h, x uint64) uint64 {
	h = (h ^ 14695981039346656037 ^ x) * 1099511628211
	return (h ^ h>>29) * 0x9e3779b97f4a7c15
}

func mixText(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h, uint64(len(s)))
}
