package coordinator

import (
	"sync"

	"github.com/folkmoot/moot/room"
)

// A hub tells watchers that there is something new. Events themselves are
// read from the log, so a watcher that is slow, or stalled, costs the room
// nothing and misses no event; live text it may miss.
type hub struct {
	log      Log
	room     string
	mu       sync.Mutex
	tail     int64
	ended    bool
	watchers map[*watcher]struct{}
}

// liveUpdates is how many unread deltas are kept for a watcher.
const liveUpdates = 64

type watcher struct {
	wake chan struct{} // holds a token when there are new events
	live chan Update
}

func (h *hub) publish(events []room.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tail = events[len(events)-1].Seq
	for w := range h.watchers {
		w.nudge()
	}
}

// setTail says that events up to seq are stored.
func (h *hub) setTail(seq int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tail = seq
}

func (w *watcher) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// tell passes what is not in the log to those that have room for it.
func (h *hub) tell(u Update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		select {
		case w.live <- u:
		default:
		}
	}
}

// end lets watchers finish once they have read everything.
func (h *hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for w := range h.watchers {
		w.nudge()
	}
}

func (h *hub) add() *watcher {
	w := &watcher{wake: make(chan struct{}, 1), live: make(chan Update, liveUpdates)}
	w.nudge()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers = map[*watcher]struct{}{}
	}
	h.watchers[w] = struct{}{}
	return w
}

func (h *hub) remove(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
}

func (h *hub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers) > 0
}

func (h *hub) status() (tail int64, ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tail, h.ended
}
