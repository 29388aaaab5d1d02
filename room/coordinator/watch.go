package coordinator

import (
	"sync"

	"github.com/folkmoot/moot/room"
)

// A hub wakes the watchers of a room. Watchers read the events from the log, so
// a slow watcher does not delay the room and misses no event. It may miss live
// text.
type hub struct {
	log      Log
	room     string
	mu       sync.Mutex
	tail     int64
	ended    bool
	watchers map[*watcher]struct{}
}

// liveUpdates is the number of unread live updates kept for each watcher.
const liveUpdates = 64

// A watcher is one call of [Room.Watch].
type watcher struct {
	wake chan struct{} // holds a token when there are new events
	live chan Update
}

// publish tells the watchers that events are stored.
func (h *hub) publish(events []room.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tail = events[len(events)-1].Seq
	for w := range h.watchers {
		w.nudge()
	}
}

// setTail records that events up to seq are stored.
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

// tell sends an update that is not in the log. A watcher whose buffer is full
// misses it.
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

// end lets the watchers return once they have read all events.
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

func (h *hub) watched() bool { return h.count() > 0 }

// count returns the number of watchers.
func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers)
}

func (h *hub) status() (tail int64, ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tail, h.ended
}
