package adaptive

import (
	"slices"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
)

// maxPeople bounds the state: the most recent speakers. An older one counts as one that
// never spoke.
const maxPeople = 48

// room holds all that the policy has learned. It is encoded as the state, but for
// its last fields. Sequences of speakers are not in it: the input has them (see
// policy.Followed).
//
// Consecutive messages of one speaker are one turn. Turns count from 1; 0 means
// never.
type room struct {
	turns   int
	people  []person              // speakers, the latest first
	last    turn                  // the latest turn
	class   int                   // the bucket that took the latest turn
	recency [buckets][buckets]int // turns, by the class before them and the bucket that took them

	weights [laws]float64 // of the laws; they sum to 1
	note    note          // the prediction for the next turn

	team      *Team
	noRoles   bool
	agents    []policy.Agent
	newcomers int // rows of participants that have not spoken
	memory
}

// memory is reused by all decisions, because allocations are slow in the sandbox.
type memory struct {
	rows        []row
	labels      [][]int   // stems of what each participant is called
	features    []Feature // of a row
	scores      []float64 // by the law of the team
	text, spare []byte    // the state, and the one before, which ids point into

	numbers, coded []byte // of the state
	ids            []string
}

// A person is a participant who has spoken.
type person struct {
	id   string
	turn int            // latest turn
	fast float64        // turns with exponential decay: the recent airtime
	part [parts]float64 // of the latest prediction
}

// A turn holds what the laws need of the messages of one turn.
type turn struct {
	addressed string // the participant that was addressed last, or ""
	named     string // the one that was named last, or ""
	code      bool   // has a code fence
	words     []int  // of the newest message, the last one first: see addText
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

// addText adds a message of the latest turn.
func (r *room) addText(e *policy.Event) {
	t := &r.last
	if n := len(e.Mentions); n > 0 {
		t.named = e.Mentions[n-1]
	}
	if n := len(e.Addressed); n > 0 {
		t.addressed = e.Addressed[n-1]
	}
	t.code = t.code || strings.Contains(e.Text, "```")
	t.words = t.words[:0]
	if r.team != nil || !r.noRoles && r.turns <= roleTurns && len(r.people)+1 < len(r.agents) {
		t.words = appendWords(t.words, e.Text)
	}
	if r.team != nil {
		t.words = appendStems(t.words, e.Text[:min(len(e.Text), wordBytes/4)]) // of the beginning, too
	}
}
