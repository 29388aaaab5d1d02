package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Bounds of what is remembered of a room.
const (
	maxPeople = 48   // most recent speakers; the next is forgotten, and has then never spoken
	maxNames  = 6    // people named in one turn; of more, the last
	cellCount = 4096 // counters of one byte for pairs and triples of speakers
)

// room is what has been learnt. It is the state, and nothing else is kept.
//
// Consecutive messages of one speaker are one turn. Turns count from 1, so
// that 0 means never.
type room struct {
	turns  int
	people []person // who has spoken, the latest first
	last   turn     // the latest turn
	before turn     // the turn that its speaker had before; only names and number

	streak int    // transitions of class back in a row
	class  [2]int // of the last transition and the one before

	// How recency goes here: which bucket takes the turn, always, lately, after
	// the class of one transition and of two.
	law     [buckets]uint16
	lawFast [buckets]float32
	law1    [classes][buckets]uint16
	law2    [classes][classes][buckets]uint16
	kinds   [kindCount][kindCount]uint16 // of the speaker, of the next
	cells   [cellCount]uint8             // pairs and triples of speakers

	learnt // what the mixture has learnt

	scratch
}

// A person is somebody who has spoken.
type person struct {
	id     uint64 // a hash
	turn   int    // the latest
	count  int    // turns
	fast   float32
	marked bool // has spoken in this round: since somebody spoke a second time
	asked  bool // the latest turn ends in a question mark
	named  []uint32
}

// A turn is what is kept of a text.
type turn struct {
	number   int
	named    []name // in the order of the last mention
	voc      uint32 // the one addressed; 0 for nobody
	question bool   // has a question mark
	asks     bool   // ends in one
	code     bool   // has a code fence
	words    int    // counted up to shortTurn+1
	bag      []uint16
}

// A name is somebody named in a turn, with what the place says.
type name struct {
	who  uint32 // a hash
	sign uint8  // of the signs below
}

// Signs of a name.
const (
	namedFirst = 1 << iota // nobody was named before
	namedLate              // in the last fifth of the words
	namedHand              // behind or before a word that hands over
	namedColon             // a comma or a colon follows
)

// shortTurn is how many words a short turn has at most.
const shortTurn = 3

// Buckets of recency: how many others have spoken since somebody last did.
const (
	buckets    = 12
	neverSpoke = 0 // the rank of who has not spoken
)

// bucketOf puts rank 1, who spoke before the last speaker, into 0.
func bucketOf(rank int) int {
	switch {
	case rank == neverSpoke:
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

// Classes of a transition, by the bucket of who took the turn.
const (
	back    = iota // to the speaker before: A, B, A
	second         // to the one before that
	farther        // to somebody else who has spoken
	noClass        // there was none yet
	newcomer
	classes
)

func classOf(bucket int) int {
	switch bucket {
	case 0:
		return back
	case 1:
		return second
	case buckets - 1:
		return newcomer
	}
	return farther
}

// How fast the fast counts forget, with every turn.
const (
	fastLaw   = 0.85
	fastCount = 0.92
)

// rank returns how many others have spoken since id did: 1 for who spoke
// before the last speaker.
func (r *room) rank(id uint64) int {
	for i := range r.people {
		if r.people[i].id == id {
			return i
		}
	}
	return neverSpoke
}

// speakers returns who had the latest turn and the one before; 0 for nobody.
func (r *room) speakers() (last, before uint64) {
	if len(r.people) > 0 {
		last = r.people[0].id
	}
	if len(r.people) > 1 {
		before = r.people[1].id
	}
	return last, before
}

// count adds a turn of id, of kind k.
func (r *room) count(id uint64, from, k int) {
	rank := r.rank(id)
	if r.turns > 0 {
		r.transit(id, bucketOf(rank))
		add16(r.kinds[from][:], k)
	}
	r.turns++
	if rank != neverSpoke && r.people[rank].marked {
		for i := range r.people {
			r.people[i].marked = false
		}
	}
	for i := range r.people {
		r.people[i].fast *= fastCount
	}
	r.toFront(id, rank)
	p := &r.people[0]
	r.before = turn{number: p.turn, named: r.before.named[:0]}
	for _, who := range p.named {
		r.before.named = append(r.before.named, name{who: who})
	}
	p.turn, p.marked, p.asked, p.named = r.turns, true, false, p.named[:0]
	p.count++
	p.fast++
}

// toFront moves id, who has that rank or is new, to the front of people.
func (r *room) toFront(id uint64, rank int) {
	if rank == neverSpoke {
		if rank = len(r.people); rank < maxPeople {
			r.people = append(r.people, person{})
		} else {
			rank--
		}
		names := r.people[rank].named[:0]
		r.people[rank] = person{id: id, named: names}
	}
	p := r.people[rank]
	copy(r.people[1:rank+1], r.people[:rank])
	r.people[0] = p
}

// transit counts the transition to id, who is in that bucket.
func (r *room) transit(id uint64, bucket int) {
	add16(r.law[:], bucket)
	add16(r.law1[r.class[0]][:], bucket)
	add16(r.law2[r.class[0]][r.class[1]][:], bucket)
	for i := range r.lawFast {
		r.lawFast[i] *= fastLaw
	}
	r.lawFast[bucket]++
	last, before := r.speakers()
	r.add(pair(last, id))
	if before != 0 {
		r.add(triple(before, last, id))
	}
	r.class = [2]int{classOf(bucket), r.class[0]}
	if r.class[0] == back {
		r.streak++
	} else {
		r.streak = 0
	}
}

// add16 counts one more of i; before a counter overflows all are halved.
func add16(n []uint16, i int) {
	if n[i] == 1<<16-1 {
		for j := range n {
			n[j] /= 2
		}
	}
	n[i]++
}

// The cells are a hash table without keys: two contexts that meet in a cell
// are added up, which costs less than a table without bounds.

// add counts one more; before a cell overflows all are halved.
func (r *room) add(key uint64) {
	c := cell(key)
	if r.cells[c] == 255 {
		for i := range r.cells {
			r.cells[i] /= 2
		}
	}
	r.cells[c]++
}

func (r *room) get(key uint64) float64 { return float64(r.cells[cell(key)]) }

func cell(key uint64) int { return int((key ^ key>>32) % cellCount) }

// Tags keep contexts of one kind apart from those of another.
const (
	tagPair = iota + 1
	tagTriple
)

func pair(last, id uint64) uint64 { return mix(mix(tagPair, last), id) }

func triple(before, last, id uint64) uint64 { return mix(mix(mix(tagTriple, before), last), id) }

// mix is one step of FNV-1a on a word, with the high bits folded in.
func mix(h, x uint64) uint64 {
	h = (h ^ 14695981039346656037 ^ x) * 1099511628211
	return (h ^ h>>29) * 0x9e3779b97f4a7c15
}

// hash is never 0.
func hash(s string) uint64 {
	h := uint64(len(s))
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h, 0) | 1
}

// Kinds of participants.
const (
	agentKind = iota
	humanKind
	toolKind
	kindCount
)

func kindOf(a *policy.Agent) int {
	switch {
	case a.Kind == policy.Human:
		return humanKind
	case a.Role == "tool":
		return toolKind
	}
	return agentKind
}
