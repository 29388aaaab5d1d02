package ndjson

// What became of a request.
type state int

const (
	unknown   state = iota
	asked           // in flight
	abandoned       // ended without an answer, which may still come
	answered        // had its answer, in time or late
)

// remembered is how many requests of the past a wire tells apart; a response
// to an older one counts as a response to an unknown one.
const remembered = 128

// A history says what became of the latest requests.
type history struct {
	order []string
	past  map[string]record
}

type record struct {
	state state
	left  *exchange // of an abandoned request
}

func (h *history) state(id string) state { return h.past[id].state }

// settle records that an abandoned request has had its late answer, and
// returns its exchange.
func (h *history) settle(id string) *exchange {
	r := h.past[id]
	if r.state == abandoned {
		h.put(id, record{state: answered})
	}
	return r.left
}

func (h *history) put(id string, r record) {
	if h.past == nil {
		h.past = map[string]record{}
	}
	if _, ok := h.past[id]; !ok {
		h.order = append(h.order, id)
		if len(h.order) > remembered {
			delete(h.past, h.order[0])
			h.order = h.order[1:]
		}
	}
	h.past[id] = r
}
