package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Bounds of what is remembered of a room.
const (
	maxPeople = 48   // most recent speakers; the next is forgotten, and has then never spoken
	maxNames  = 6    // people named in one turn; of more, the last
	cellCount = 4096 // counters of pairs and triples of speakers
	cellMost  = 255
)

// room is what has been learnt. It is the state, and nothing else is kept.
//
// Consecutive messages of one speaker are one turn. Turns count from 1, so
// that 0 means never.
type room struct {
	turns  int
	people []person // who has spoken, the latest first
	last   turn     // the latest turn
	before earlier  // the turn that its speaker had before

	streak int    // transitions of class back in a row
	class  [2]int // of the last transition and the one before

	// How recency goes here: which bucket takes the turn, always, lately, after
	// the class of one transition and of two.
	law     [buckets]uint32
	law1    [classes][buckets]uint32
	law2    [classes * classes * buckets]uint16 // see after
	inLaw2  marks                               // which of them are not 0
	lawFast [buckets]float64
	kinds   [kindCount][kindCount]uint16 // of the speaker, of the next
	inCells marks                        // which words of them are not 0
	cells   [cellCount / 8]uint64        // pairs and triples of speakers, eight counters each

	learnt   // what the mixture has learnt
	foreseen // what it foresaw for the turn that is to come

	scratch
}

// A person is somebody who has spoken.
type person struct {
	id     uint32 // a hash
	slot   int    // stands for it in the cells: in the order of first turns
	turn   int    // the latest
	count  int    // turns
	fast   float64
	marked bool // has spoken in this round: since somebody spoke a second time
	asked  bool // the latest turn ends in a question mark
	named  group
}

// A group is some people, by their hashes. It has its own memory, because the
// first allocations of a decision cost more than all else.
type group struct {
	n   int
	who [maxNames]uint32
}

func (g *group) list() []uint32 { return g.who[:g.n] }

func (g *group) has(who uint32) bool {
	for _, id := range g.list() {
		if id == who {
			return true
		}
	}
	return false
}

// A turn is what is kept of a text.
type turn struct {
	names    int
	name     [maxNames]name // in the order in which they were named last
	voc      uint32         // the one addressed; 0 for nobody
	question bool           // has a question mark
	asks     bool           // ends in one
	code     bool           // has a code fence
	words    int            // counted up to shortTurn+1
	bag      []uint16
}

// An earlier turn is of who speaks again.
type earlier struct {
	number int // 0 for none
	named  group
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
func (r *room) rank(id uint32) int {
	for i := range r.people {
		if r.people[i].id == id {
			return i
		}
	}
	return neverSpoke
}

// speakers returns who had the latest turn and the one before; 0 for nobody.
func (r *room) speakers() (last, before uint32) {
	if len(r.people) > 0 {
		last = r.people[0].id
	}
	if len(r.people) > 1 {
		before = r.people[1].id
	}
	return last, before
}

// count adds a turn of id, of kind k.
func (r *room) count(id uint32, from, k int) {
	rank := r.rank(id)
	if r.turns > 0 {
		r.transit(bucketOf(rank))
		if n := &r.kinds[from][k]; *n < most16 {
			*n++
		}
	}
	r.turns++
	r.noted, r.current = nil, false
	if rank != neverSpoke && r.people[rank].marked {
		for i := range r.people {
			r.people[i].marked = false
		}
	}
	for i := range r.people {
		r.people[i].fast = fraction(r.people[i].fast * fastCount)
	}
	r.toFront(id, rank)
	p := &r.people[0]
	r.before = earlier{p.turn, p.named}
	p.turn, p.marked, p.asked, p.named.n = r.turns, true, false, 0
	p.count++
	r.follow()
	p.fast = fraction(p.fast + 1)
}

// toFront moves id, who has that rank or is new, to the front of people.
func (r *room) toFront(id uint32, rank int) {
	if rank == neverSpoke {
		slot := len(r.people)
		if rank = slot; rank < maxPeople {
			r.people = append(r.people, person{})
		} else {
			rank--
			slot = r.people[rank].slot // of the one who is forgotten
		}
		r.people[rank] = person{id: id, slot: slot}
	}
	p := r.people[rank]
	copy(r.people[1:rank+1], r.people[:rank])
	r.people[0] = p
}

// transit counts the transition to somebody in that bucket.
func (r *room) transit(bucket int) {
	at := r.after() + bucket
	if n := &r.law2[at]; *n < most16 {
		r.inLaw2.set(at)
		*n++
		r.law1[r.class[0]][bucket]++
		r.law[bucket]++
	}
	for i := range r.lawFast {
		r.lawFast[i] = fraction(r.lawFast[i] * fastLaw)
	}
	r.lawFast[bucket] = fraction(r.lawFast[bucket] + 1)
	r.class = [2]int{classOf(bucket), r.class[0]}
	if r.class[0] == back {
		r.streak++
	} else {
		r.streak = 0
	}
}

// after returns where the law after the last two transitions stands.
func (r *room) after() int { return (r.class[0]*classes + r.class[1]) * buckets }

// most16 is where counters of 16 bits stay.
const most16 = 1<<16 - 1

// follow counts who has the turn after the last speaker and the last two.
func (r *room) follow() {
	if len(r.people) > 1 {
		r.add(pairCell(r.people[1].slot, r.people[0].slot))
	}
	if last := r.beforeLast(); last >= 0 {
		r.add(tripleCell(last, r.people[1].slot, r.people[0].slot))
	}
}

// beforeLast returns the slot of who had the turn before the last two, or -1.
func (r *room) beforeLast() int {
	switch {
	case r.before.number > 0 && r.before.number == r.turns-2:
		return r.people[0].slot
	case len(r.people) > 2 && r.people[2].turn == r.turns-2:
		return r.people[2].slot
	}
	return -1
}

// The cells hold counters of pairs and triples of speakers. The first twelve
// to speak have a cell for each; in larger rooms others share the rest of the
// cells by a hash, and two contexts that meet in a cell are added up. People
// are told apart by the order in which they first spoke: what they are called
// has no bearing on what is foreseen.
const (
	exact       = 12
	firstTriple = exact * exact
	firstHashed = firstTriple + exact*exact*exact
)

func pairCell(last, next int) int {
	if last < exact && next < exact {
		return last*exact + next
	}
	return hashedCell(uint64(last*maxPeople + next))
}

func tripleCell(before, last, next int) int {
	if before < exact && last < exact && next < exact {
		return firstTriple + (before*exact+last)*exact + next
	}
	return hashedCell(uint64(((before+1)*maxPeople+last)*maxPeople + next))
}

func hashedCell(n uint64) int {
	return firstHashed + int((n+1)*0x9e3779b97f4a7c15>>33%(cellCount-firstHashed))
}

// add counts one more; before a cell overflows all are halved.
func (r *room) add(cell int) {
	word, shift := cell/8, cell%8*8
	if r.cells[word]>>shift&255 == cellMost {
		r.halve()
	}
	r.inCells.set(word)
	r.cells[word] += 1 << shift
}

func (r *room) get(cell int) float64 { return float64(r.cells[cell/8] >> (cell % 8 * 8) & 255) }

// Tags keep what is hashed of one sort apart from that of another.
const (
	tagTeam = iota + 1
	tagWord
	tagClass
)

// mix is one step of FNV-1a on a word, with the high bits folded in.
func mix(h uint64, x uint32) uint64 {
	h = (h ^ 14695981039346656037 ^ uint64(x)) * 1099511628211
	return (h ^ h>>29) * 0x9e3779b97f4a7c15
}

// hash stands for an id. It is never 0, which is nobody. Of a hundred
// participants two have the same once in a million rooms, and then count as
// one.
func hash(s string) uint32 {
	h := uint64(len(s))
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h = (h ^ h>>29) * 0x9e3779b97f4a7c15
	return uint32(h>>32) | 1
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
