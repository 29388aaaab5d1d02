package relay

// A fate is what became of a request.
type fate int

const (
	answered  fate = iota
	abandoned      // nobody waits, and an answer may still come
)

// remembered bounds a history.
const remembered = 256

// A history is the fates of the newest requests of a seat. The zero history is
// empty.
type history struct {
	fates map[string]fate
	order []string
	more  map[string]int // answers that may still come, because it was asked again
}

func (h *history) state(id string) (fate, bool) {
	f, ok := h.fates[id]
	return f, ok
}

func (h *history) put(id string, f fate) {
	if h.fates == nil {
		h.fates = map[string]fate{}
	}
	if _, ok := h.fates[id]; !ok {
		h.order = append(h.order, id)
	}
	h.fates[id] = f
	if len(h.order) > remembered {
		delete(h.fates, h.order[0])
		delete(h.more, h.order[0])
		h.order = h.order[1:]
	}
}

// expect says that so many answers more may come to a request that has ended.
func (h *history) expect(id string, n int) {
	if n == 0 {
		return
	}
	if h.more == nil {
		h.more = map[string]int{}
	}
	h.more[id] = n
}
