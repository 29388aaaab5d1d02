package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Bounds of the rows. In a larger room those who never spoke share one.
const (
	smallRoom  = 20 // candidates
	recentRows = 12
	namedRows  = 20
	mostRows   = namedRows + 1
)

// scratch is what one decision works with; nothing of it is kept. What most
// decisions write to comes first: a sandbox puts back every page of memory that
// was written to.
type scratch struct {
	used   bool           // by a decision before, so that not all is 0
	agents []policy.Agent // of the input at hand
	seats  seating
	team   *Team  // nil when nothing was taught
	packed []byte // the state that was read, then the one that is written
	text   []byte // of the latter
	scan   scan

	available  [buckets]float64    // candidates in each bucket
	candidates [kindCount]float64  // of each kind
	sums       [components]float64 // ln of what each component's probabilities were divided by
	rows       []row               // in all
	all        [mostRows]row
	owners     owners
}

// seat tells who is in the room.
func (r *room) seat(agents []policy.Agent) {
	r.agents = agents
	r.seats.fill(agents)
	r.owners.filled = false
}

// kindOf is the kind of somebody. Who is not in the roster is a person.
func (r *room) kindOf(id uint32) int {
	if s := r.seats.find(id); s >= 0 {
		return kindOf(&r.agents[s])
	}
	return humanKind
}

// lastKind is the kind of the last speaker.
func (r *room) lastKind() int {
	last, _ := r.speakers()
	return r.kindOf(last)
}

// others is how many could have the next turn.
func (r *room) others() int {
	n := len(r.agents)
	if last, _ := r.speakers(); r.seats.find(last) >= 0 {
		n--
	}
	return n
}

// seatRows makes the rows: most recent speakers first, then who never spoke,
// in the order of the roster.
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

// addNamed adds those who were named in the last three turns, and puts those
// who have spoken where they belong.
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

// addGroup adds one row for all who never spoke and have none.
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

// runs reports whether a participant runs things rather than talks, which its
// kind or its name tells.
func runs(a *policy.Agent) bool {
	if a.Role == "tool" {
		return true
	}
	for i := range len(a.ID) {
		if i > 0 && wordBytes[a.ID[i-1]] && a.ID[i] >= 'a' {
			continue // within a word
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

// A seating is the roster by the hashes of its ids.
type seating struct {
	ids   []uint32 // by seat
	spoke []bool   // by seat
	shown []bool   // by seat: has a row
	table []int16  // seat+1 at the place of its hash, or behind it; 0 for none
}

// fill takes a roster.
func (t *seating) fill(agents []policy.Agent) {
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
func (t *seating) find(id uint32) int {
	mask := len(t.table) - 1
	for at := int(id>>1) & mask; at <= mask; at = (at + 1) & mask {
		s := int(t.table[at]) - 1
		if s < 0 || t.ids[s] == id {
			return s
		}
	}
	return -1
}

// clear forgets who spoke and who has a row.
func (t *seating) clear() {
	n := len(t.ids)
	if cap(t.spoke) < n {
		t.spoke, t.shown = make([]bool, n), make([]bool, n)
	}
	t.spoke, t.shown = t.spoke[:n], t.shown[:n]
	clear(t.spoke)
	clear(t.shown)
}
