package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Bounds of the rows. In a room with more than smallRoom candidates, those that
// never spoke share one row.
const (
	smallRoom  = 20 // candidates
	recentRows = 12
	namedRows  = 20
	maxRows    = namedRows + 1
)

// scratch is the working memory of a decision. Fields that most decisions write
// come first, because the sandbox restores each written page.
type scratch struct {
	used   bool           // by an earlier decision, so it must be reset
	agents []policy.Agent // of the current input
	seats  rosterIndex
	team   *Team  // nil without a team
	packed []byte // the decoded state, then the encoded one
	text   []byte // text of the encoded state
	scan   scan

	available  [buckets]float64    // candidates in each bucket
	candidates [kindCount]float64  // of each kind
	sums       [components]float64 // ln of the softmax denominators
	rows       []row               // the used part of all
	all        [maxRows]row
	owners     owners
}

// seat sets the participants of the room.
func (r *room) seat(agents []policy.Agent) {
	r.agents = agents
	r.seats.fill(agents)
	r.owners.filled = false
}

// kindOf returns the kind of a participant. An unknown id counts as a person.
func (r *room) kindOf(id uint32) int {
	if s := r.seats.find(id); s >= 0 {
		return kindOf(&r.agents[s])
	}
	return humanKind
}

// lastKind returns the kind of the last speaker.
func (r *room) lastKind() int {
	last, _ := r.speakers()
	return r.kindOf(last)
}

// others returns the number of candidates for the next turn.
func (r *room) others() int {
	n := len(r.agents)
	if last, _ := r.speakers(); r.seats.find(last) >= 0 {
		n--
	}
	return n
}

// seatRows makes the rows: first the speakers, the most recent first, then the
// candidates that never spoke, in the order of the agents.
func (r *room) seatRows() {
	r.rows = r.all[:0]
	r.seats.clear()
	large := r.others() > smallRoom
	for rank := range r.people {
		s := r.seats.find(r.people[rank].id)
		if s < 0 {
			continue
		}
		r.seats.spoke[s] = true
		if rank > 0 && (!large || len(r.rows) < recentRows) {
			r.addRow(s, rank)
		}
	}
	if large {
		r.addNamed()
		r.addGroup()
	} else {
		for s, spoke := range r.seats.spoke {
			if !spoke {
				r.addRow(s, neverSpoke)
			}
		}
	}
	r.available, r.candidates = [buckets]float64{}, [kindCount]float64{}
	for i := range r.rows {
		w := &r.rows[i]
		r.available[w.bucket] += w.size
		r.candidates[w.kind] += w.size
	}
}

func (r *room) addRow(seat, rank int) {
	a := &r.agents[seat]
	r.rows = r.all[:len(r.rows)+1]
	w := &r.rows[len(r.rows)-1]
	w.seat, w.id, w.rank, w.bucket, w.size = seat, r.seats.ids[seat], rank, bucketOf(rank), 1
	w.has, w.x = 0, [features]float64{}
	w.kind, w.tool, w.turn = kindOf(a), runs(a), 0
	if rank != neverSpoke {
		w.turn = r.people[rank].turn
	}
	r.seats.shown[seat] = true
}

// addNamed adds the candidates named in the last three turns and keeps the rows
// in the order of seatRows.
func (r *room) addNamed() {
	for back := range 3 {
		var named []uint32
		if back == 0 && len(r.people) > 0 {
			named = r.people[0].named.list()
		} else if back > 0 {
			named = r.namedAt(r.turns - back)
		}
		for _, id := range named {
			s := r.seats.find(id)
			if s < 0 || r.seats.shown[s] || id == r.people[0].id || len(r.rows) == namedRows {
				continue
			}
			r.addRow(s, r.rank(id))
			for j := len(r.rows) - 1; j > 0 && r.rows[j-1].turn < r.rows[j].turn; j-- {
				r.rows[j-1], r.rows[j] = r.rows[j], r.rows[j-1]
			}
		}
	}
}

// addGroup adds one row for all candidates that never spoke and have no row.
func (r *room) addGroup() {
	size, first := 0, 0
	for s, spoke := range r.seats.spoke {
		if !spoke && !r.seats.shown[s] {
			if size++; size == 1 {
				first = s
			}
		}
	}
	if size > 0 {
		r.addRow(first, neverSpoke)
		r.rows[len(r.rows)-1].size = float64(size)
	}
}

// runs reports whether a participant is a tool, by its role or its name.
func runs(a *policy.Agent) bool {
	if a.Role == "tool" {
		return true
	}
	for i := range len(a.ID) {
		if i > 0 && wordBytes[a.ID[i-1]] && a.ID[i] >= 'a' {
			continue // inside of a word
		}
		word := ""
		switch a.ID[i] | 0x20 {
		case 't':
			if word = "terminal"; startsFold(a.ID[i:], "tool") {
				word = "tool"
			}
		case 'e':
			word = "execut"
		case 'i':
			word = "interpreter"
		case 'r':
			word = "runner"
		case 's':
			word = "shell"
		case 'c':
			word = "console"
		}
		if word != "" && startsFold(a.ID[i:], word) && startsWord(a.ID, i) {
			return true
		}
	}
	return false
}

// A seating finds participants by the hashes of their ids.
type rosterIndex struct {
	ids   []uint32 // by seat
	spoke []bool   // by seat
	shown []bool   // by seat: has a row
	table []int16  // open addressing: seat+1 at the index of the hash or after it; 0 is empty
}

// fill sets the participants.
func (t *rosterIndex) fill(agents []policy.Agent) {
	t.ids = t.ids[:0]
	for i := range agents {
		t.ids = append(t.ids, hash(agents[i].ID))
	}
	size := 64
	for size < 2*len(agents) {
		size *= 2
	}
	if cap(t.table) < size {
		t.table = make([]int16, size)
	}
	t.table = t.table[:size]
	clear(t.table)
	for i, id := range t.ids {
		at := int(id>>1) & (size - 1)
		for t.table[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		t.table[at] = int16(i + 1)
	}
}

// find returns the seat of id, or -1.
func (t *rosterIndex) find(id uint32) int {
	mask := len(t.table) - 1
	for at := int(id>>1) & mask; at <= mask; at = (at + 1) & mask {
		s := int(t.table[at]) - 1
		if s < 0 || t.ids[s] == id {
			return s
		}
	}
	return -1
}

// clear resets spoke and shown.
func (t *rosterIndex) clear() {
	n := len(t.ids)
	if cap(t.spoke) < n {
		t.spoke, t.shown = make([]bool, n), make([]bool, n)
	}
	t.spoke, t.shown = t.spoke[:n], t.shown[:n]
	clear(t.spoke)
	clear(t.shown)
}
