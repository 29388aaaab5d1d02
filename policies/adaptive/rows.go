package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Bounds of the rows. In a larger room those who never spoke share one.
const (
	smallRoom  = 20 // candidates
	recentRows = 12
	mostRows   = 20
)

// scratch is what one decision works with; nothing of it is kept.
type scratch struct {
	agents     []policy.Agent // of the input at hand
	ids        []uint64       // their hashes
	rows       []row
	available  [buckets]float64   // candidates in each bucket
	candidates [kindCount]float64 // of each kind
	each       [][components]float64
	team       *team  // nil when nothing was taught
	packed     []byte // the state
}

// seat tells who is in the room.
func (r *room) seat(agents []policy.Agent) {
	r.agents, r.ids = agents, r.ids[:0]
	for i := range agents {
		r.ids = append(r.ids, hash(agents[i].ID))
	}
}

// seatOf returns the place of id in the roster, or -1.
func (r *room) seatOf(id uint64) int {
	for i, other := range r.ids {
		if other == id {
			return i
		}
	}
	return -1
}

// lastKind is the kind of the last speaker; a person who is not in the roster
// is one.
func (r *room) lastKind() int {
	if len(r.people) > 0 {
		return r.kindOf(r.people[0].id)
	}
	return humanKind
}

func (r *room) kindOf(id uint64) int {
	if s := r.seatOf(id); s >= 0 {
		return kindOf(&r.agents[s])
	}
	return humanKind
}

// seatRows makes the rows: most recent speakers first, then who never spoke,
// in the order of the roster.
func (r *room) seatRows() {
	r.rows = r.rows[:0]
	last, _ := r.speakers()
	n := len(r.ids)
	if r.seatOf(last) >= 0 {
		n--
	}
	if n <= smallRoom {
		r.recentRows(smallRoom)
		for i := range r.ids {
			if r.ids[i] != last && r.rank(r.ids[i]) == neverSpoke {
				r.addRow(i, neverSpoke)
			}
		}
	} else {
		r.recentRows(recentRows)
		r.namedRows()
		r.groupRow(last)
	}
	r.available, r.candidates = [buckets]float64{}, [kindCount]float64{}
	for i := range r.rows {
		w := &r.rows[i]
		r.available[bucketOf(w.rank)] += w.size
		r.candidates[w.kind] += w.size
	}
}

func (r *room) recentRows(most int) {
	for rank := 1; rank < len(r.people) && len(r.rows) < most; rank++ {
		if s := r.seatOf(r.people[rank].id); s >= 0 {
			r.addRow(s, rank)
		}
	}
}

func (r *room) addRow(seat, rank int) {
	a := &r.agents[seat]
	r.rows = append(r.rows, row{})
	w := &r.rows[len(r.rows)-1]
	w.seat, w.id, w.rank, w.size, w.kind, w.tool = seat, r.ids[seat], rank, 1, kindOf(a), runs(a)
	if rank != neverSpoke {
		w.turn = r.people[rank].turn
	}
}

// namedRows adds those who were named in the last three turns, and puts those
// who have spoken where they belong.
func (r *room) namedRows() {
	spoken := len(r.rows)
	for at := r.turns; at > r.turns-3 && at > 0; at-- {
		for i := range r.ids {
			who := r.ids[i]
			if len(r.rows) >= mostRows {
				return
			}
			if len(r.people) > 0 && who == r.people[0].id || r.rowOf(uint32(who)) != nil {
				continue
			}
			if at == r.turns && r.last.names(uint32(who)) || at < r.turns && r.namedAt(at, uint32(who)) {
				rank := r.rank(who)
				r.addRow(i, rank)
				if rank == neverSpoke {
					continue
				}
				for j := len(r.rows) - 1; j > spoken && after(&r.rows[j-1], &r.rows[j]); j-- {
					r.rows[j-1], r.rows[j] = r.rows[j], r.rows[j-1]
				}
			}
		}
	}
}

// after reports whether a stands behind b: b has spoken more recently.
func after(a, b *row) bool { return a.turn < b.turn }

// groupRow adds one row for all who never spoke and have none.
func (r *room) groupRow(last uint64) {
	size, first := 0, 0
	for i := range r.ids {
		if r.ids[i] == last || r.rank(r.ids[i]) != neverSpoke || r.rowOf(uint32(r.ids[i])) != nil {
			continue
		}
		if size++; size == 1 {
			first = i
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
	for word, rest := nextWord(a.ID); word != ""; word, rest = nextWord(rest) {
		for _, t := range [...]string{"terminal", "execut", "tool", "interpreter", "runner", "shell", "console"} {
			if startsFold(word, t) {
				return true
			}
		}
	}
	return false
}
