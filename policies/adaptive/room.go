package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Bounds of the state of a room.
const (
	maxPeople = 48   // most recent speakers; an older one counts as one that never spoke
	maxNames  = 6    // mentions of one turn; of more, the last ones
	cellCount = 4096 // counters of pairs and triples of speakers
	cellMost  = 255
)

// room holds all that the policy has learned. It is encoded as the state.
//
// Consecutive messages of one speaker are one turn. Turns count from 1; 0 means
// never.
type room struct {
	turns  int
	people []person // speakers, the latest first
	last   turn     // the latest turn
	before earlier  // the previous turn of its speaker

	streak int    // consecutive transitions of class back
	class  [2]int // of the latest two transitions

	// Counts of the recency bucket that took the turn: of all turns, after the
	// class of one transition, after the classes of two, and with decay.
	law     [buckets]uint32
	law1    [classes][buckets]uint32
	law2    [classes * classes * buckets]uint16 // see after
	inLaw2  marks                               // entries of law2 that are not 0
	lawFast [buckets]float64
	kinds   [kindCount][kindCount]uint16 // by the kinds of a speaker and the next one
	inCells marks                        // words of cells that are not 0
	cells   [cellCount / 8]uint64        // bigrams and trigrams of speakers, eight counters in each word

	onlineWeights // what the mixture has learnt
	prediction    // what it foresaw for the turn that is to come

	scratch
}

// A person is a participant who has spoken.
type person struct {
	id     uint32  // a hash
	slot   int     // its number in the cells, in the order of first turns
	turn   int     // latest turn
	count  int     // turns
	fast   float64 // turns with exponential decay
	marked bool    // has spoken in this round; a second turn of a participant starts a new round
	asked  bool    // its latest turn ends in a question mark
	named  group
}

// A group is a set of participants, by their hashes. It is an array, because
// allocations are slow in the sandbox.
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

// A turn holds the properties of the messages of one turn.
type turn struct {
	names    int
	name     [maxNames]name // in the order of their last mention
	voc      uint32         // hash of the addressed participant, or 0
	question bool           // has a question mark
	asks     bool           // ends in one
	code     bool           // has a code fence
	words    int            // at most shortTurn+1
	bag      []uint16       // hashes of its words
}

// An earlier turn is the previous turn of the latest speaker.
type earlier struct {
	number int // 0 if there is none
	named  group
}

// A name is a mention of a participant in a turn.
type name struct {
	who  uint32 // a hash
	sign uint8  // set of the signs below
}

// Signs of a mention.
const (
	namedFirst    = 1 << iota // the first mention of the turn
	namedLate                 // in the last fifth of the text
	namedHandover             // next to a word that hands the turn over, such as "ask"
	namedColon                // a comma or a colon follows
)

// shortTurn is the largest number of words of a short turn.
const shortTurn = 3

// Recency buckets. The rank of a participant is the number of others who have
// spoken since its latest turn.
const (
	buckets    = 12
	neverSpoke = 0 // rank of a participant that has not spoken
)

// bucketOf returns the recency bucket of a rank. Rank 1, the speaker before the
// last one, has bucket 0.
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

// Classes of a transition, by the bucket of the next speaker.
const (
	back    = iota // to the previous speaker: A, B, A
	second         // to the one before that
	farther        // to another participant that has spoken
	noClass        // before the first transition
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

// Factors of the exponential decay, for each turn.
const (
	fastLaw   = 0.85
	fastCount = 0.92
)

// rank returns the recency rank of id.
func (r *room) rank(id uint32) int {
	for i := range r.people {
		if r.people[i].id == id {
			return i
		}
	}
	return neverSpoke
}

// speakers returns the speakers of the latest two turns, or 0.
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
		r.countTransition(bucketOf(rank))
		if n := &r.kinds[from][k]; *n < maxCount16 {
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
	r.moveToFront(id, rank)
	p := &r.people[0]
	r.before = earlier{p.turn, p.named}
	p.turn, p.marked, p.asked, p.named.n = r.turns, true, false, 0
	p.count++
	r.countFollowers()
	p.fast = fraction(p.fast + 1)
}

// moveToFront moves id to the front of people. A rank of neverSpoke adds it.
func (r *room) moveToFront(id uint32, rank int) {
	if rank == neverSpoke {
		slot := len(r.people)
		if rank = slot; rank < maxPeople {
			r.people = append(r.people, person{})
		} else {
			rank--
			slot = r.people[rank].slot // of the removed person
		}
		r.people[rank] = person{id: id, slot: slot}
	}
	p := r.people[rank]
	copy(r.people[1:rank+1], r.people[:rank])
	r.people[0] = p
}

// countTransition counts the transition to a speaker in the given bucket.
func (r *room) countTransition(bucket int) {
	at := r.after() + bucket
	if n := &r.law2[at]; *n < maxCount16 {
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

// after returns the index in law2 of the latest two transitions.
func (r *room) after() int { return (r.class[0]*classes + r.class[1]) * buckets }

// maxCount16 is the largest value of a 16-bit counter.
const maxCount16 = 1<<16 - 1

// countFollowers counts the bigram and the trigram of the latest speakers.
func (r *room) countFollowers() {
	if len(r.people) > 1 {
		r.add(pairCell(r.people[1].slot, r.people[0].slot))
	}
	if last := r.beforeLast(); last >= 0 {
		r.add(tripleCell(last, r.people[1].slot, r.people[0].slot))
	}
}

// beforeLast returns the slot of the speaker before the latest two, or -1.
func (r *room) beforeLast() int {
	switch {
	case r.before.number > 0 && r.before.number == r.turns-2:
		return r.people[0].slot
	case len(r.people) > 2 && r.people[2].turn == r.turns-2:
		return r.people[2].slot
	}
	return -1
}

// The cells count bigrams and trigrams of speakers. Those of the first twelve
// speakers have a cell each. Others share the remaining cells by a hash (feature
// hashing: Weinberger and others, 2009), and contexts with the same hash are
// added up. Speakers are numbered in the order of their first turns, so names do
// not change the prediction.
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

// add increments a cell. Before a cell overflows, all cells are halved.
func (r *room) add(cell int) {
	word, shift := cell/8, cell%8*8
	if r.cells[word]>>shift&255 == cellMost {
		r.halve()
	}
	r.inCells.set(word)
	r.cells[word] += 1 << shift
}

func (r *room) get(cell int) float64 { return float64(r.cells[cell/8] >> (cell % 8 * 8) & 255) }

// Tags separate the hashes of different sorts of keys.
const (
	tagTeam = iota + 1
	tagWord
	tagClass
)

// mix is a step of FNV-1a on a word, with the high bits folded in.
func mix(h uint64, x uint32) uint64 {
	h = (h ^ 14695981039346656037 ^ uint64(x)) * 1099511628211
	return (h ^ h>>29) * 0x9e3779b97f4a7c15
}

// hash returns the FNV-1a hash of an id, finished with a multiplication. It is
// never 0. In a room of a hundred participants the probability of a collision is
// about one in a million; the two then count as one participant.
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
