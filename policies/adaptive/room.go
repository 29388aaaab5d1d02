package adaptive

import (
	"slices"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
)

// Bounds of the state of a room.
const (
	maxPeople = 48 // most recent speakers; an older one counts as one that never spoke
	maxNamed  = 12 // latest participants that were named
)

// room holds all that the policy has learned. It is encoded as the state, but for
// its last fields. Sequences of speakers are not in it: the input has them (see
// policy.Followed).
//
// Consecutive messages of one speaker are one turn. Turns count from 1; 0 means
// never.
type room struct {
	turns   int
	people  []person              // speakers, the latest first
	named   []naming              // participants that were named, the latest last
	last    turn                  // the latest turn
	class   int                   // the bucket that took the latest turn
	recency [buckets][buckets]int // turns, by the class before them and the bucket that took them

	weights [laws]float64 // of the laws; they sum to 1
	note    note          // the prediction for the next turn
	topics  []topic       // of the newest text

	team      *Team
	noRoles   bool
	agents    []policy.Agent
	rows      []row
	newest    string   // the text of the newest message of the input, or ""
	newcomers int      // rows of participants that have not spoken
	labels    []uint64 // stems of what participants are called
	ends      []int    // where those of each participant end

	// Memory of the state, and of the one before, which ids point into.
	text, spare, numbers []byte
}

// A person is a participant who has spoken.
type person struct {
	id   string
	turn int            // latest turn
	fast float64        // turns with exponential decay: the recent airtime
	part [parts]float64 // of the latest prediction
}

// A naming says in which turns a participant was named last.
type naming struct {
	id     string
	turn   int
	before int // the one before, or 0
}

// A turn holds what the laws need of the messages of one turn.
type turn struct {
	addressed string   // the participant that was addressed last, or ""
	named     string   // the one that was named last, or ""
	code      bool     // has a code fence
	question  bool     // has a question mark
	short     bool     // has at most three words
	words     []uint16 // hashes of words; only with a team
}

// fastDecay is the factor of the recent airtime for each turn: about the last
// dozen turns count.
const fastDecay = 0.92

func (r *room) lastID() string {
	if len(r.people) == 0 {
		return ""
	}
	return r.people[0].id
}

// rank returns the number of others who have spoken since the latest turn of id, or
// -1 if it has not spoken.
func (r *room) rank(id string) int {
	for i := range r.people {
		if r.people[i].id == id {
			return i
		}
	}
	return -1
}

// count adds a turn of id.
func (r *room) count(id string) {
	rank := r.rank(id)
	if bucket := bucketOf(rank); r.turns > 0 {
		r.recency[r.class][bucket]++
		r.class = bucket
	}
	r.turns++
	for i := range r.people {
		r.people[i].fast *= fastDecay
	}
	p := person{id: id}
	if rank >= 0 {
		p = r.people[rank]
		r.people = slices.Delete(r.people, rank, rank+1)
	}
	p.turn, p.fast = r.turns, p.fast+1
	r.people = slices.Insert(r.people, 0, p)
	if len(r.people) > maxPeople {
		r.people = r.people[:maxPeople]
	}
	r.last = turn{words: r.last.words[:0]}
	r.note = note{}
}

// addNames adds whom a message of the latest turn names.
func (r *room) addNames(e *policy.Event) {
	t := &r.last
	for _, id := range e.Mentions {
		t.named = id
		r.name(id)
	}
	if n := len(e.Addressed); n > 0 {
		t.addressed = e.Addressed[n-1]
	}
}

// addText adds the text of a message of the latest turn.
func (r *room) addText(e *policy.Event) {
	t := &r.last
	t.code = t.code || strings.Contains(e.Text, "```")
	t.question = t.question || strings.Contains(e.Text, "?")
	if r.team != nil {
		t.short = shortText(e.Text)
		t.words = appendWords(t.words[:0], e.Text)
	}
}

// name notes that id is named in the latest turn.
func (r *room) name(id string) {
	n := naming{id: id, turn: r.turns}
	if at := slices.IndexFunc(r.named, func(n naming) bool { return n.id == id }); at >= 0 {
		if n.before = r.named[at].turn; n.before == r.turns {
			n.before = r.named[at].before
		}
		r.named = slices.Delete(r.named, at, at+1)
	} else if len(r.named) == maxNamed {
		r.named = slices.Delete(r.named, 0, 1)
	}
	r.named = append(r.named, n)
}

// pendingTurns is how many turns a name waits for an answer.
const pendingTurns = 3

// pending reports whether id, whose latest turn was the turn spoke, was named in one
// of the turns before the latest one and has not spoken since.
func (r *room) pending(id string, spoke int) bool {
	for i := range r.named {
		n := &r.named[i]
		if n.id != id {
			continue
		}
		turn := n.turn
		if turn == r.turns {
			turn = n.before
		}
		return turn > spoke && turn >= r.turns-pendingTurns
	}
	return false
}
