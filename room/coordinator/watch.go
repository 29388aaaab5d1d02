package coordinator

import (
	"runtime"
	"sync"

	"github.com/folkmoot/moot/room"
)

// A hub wakes the watchers of a room. Watchers read the newest events from the hub and
// all others from the log, so a slow watcher does not delay the room and misses no event.
// It may miss live text.
type hub struct {
	log    Log
	room   string
	worker func(func()) // runs a function outside the loop

	mu       sync.Mutex
	tail     int64
	ended    bool
	watchers []*watcher
	recent   recentEvents
	waking   bool // a worker wakes the watchers
	again    bool // it has to begin again
}

// liveUpdates is the number of unread live updates kept for each watcher.
const liveUpdates = 64

// A watcher is one call of [Room.Watch].
type watcher struct {
	wake  chan struct{} // holds a token when there are new events
	live  chan Update
	place int // in the list of the hub
}

// publish tells the watchers that events are stored.
func (h *hub) publish(events []room.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tail = events[len(events)-1].Seq
	if len(h.watchers) == 0 {
		h.recent = recentEvents{}
		return
	}
	h.recent.add(events)
	switch {
	case len(h.watchers) <= wakeAtOnce:
		h.nudge(h.watchers)
	case h.waking:
		h.again = true
	default:
		h.waking = true
		h.worker(h.wakeAll)
	}
}

// wakeAtOnce is how many watchers are woken before other goroutines run.
const wakeAtOnce = 64

// wakeAll wakes the watchers in groups, so that the loop of the room, and those of other
// rooms, need not wait until thousands of watchers have run.
func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := 0; i < len(h.watchers) || h.again; i += wakeAtOnce {
		if i >= len(h.watchers) {
			i, h.again = 0, false
		}
		h.nudge(h.watchers[i:min(i+wakeAtOnce, len(h.watchers))])
		h.mu.Unlock()
		runtime.Gosched()
		h.mu.Lock()
	}
	h.waking = false
}

func (h *hub) nudge(watchers []*watcher) {
	for _, w := range watchers {
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
	for _, w := range h.watchers {
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
	h.nudge(h.watchers)
}

func (h *hub) add() *watcher {
	w := &watcher{wake: make(chan struct{}, 1), live: make(chan Update, liveUpdates)}
	w.nudge()
	h.mu.Lock()
	defer h.mu.Unlock()
	w.place = len(h.watchers)
	h.watchers = append(h.watchers, w)
	return w
}

// remove takes w from the list. The last watcher takes its place, and is woken because
// wakeAll may have passed that place.
func (h *hub) remove(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := len(h.watchers) - 1
	moved := h.watchers[last]
	h.watchers[w.place], moved.place = moved, w.place
	h.watchers[last] = nil
	if h.watchers = h.watchers[:last]; last == 0 {
		h.watchers, h.recent = nil, recentEvents{}
	}
	moved.nudge()
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

// after returns the newest events after the one with that seq, nil unless the hub has them
// all. The caller only reads them.
func (h *hub) after(seq int64) []room.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recent.after(seq)
}

// forget makes watchers read the log, because stored events have changed.
func (h *hub) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recent = recentEvents{}
}

// Bounds of the newest events that a room with watchers keeps for them, so that not
// each watcher reads and decodes them.
const (
	keptEvents = 16
	keptBytes  = 64 << 10 // as they are stored
)

// recentEvents are the newest events of a room, without a gap. An event in it never
// changes.
type recentEvents struct {
	events []room.Event // oldest first
	sizes  []int
	bytes  int
}

// add adds events as a reader of the log gets them, and drops the oldest ones over the
// bounds. Slices that after has returned keep their content.
func (q *recentEvents) add(events []room.Event) {
	for _, e := range events {
		b, err := room.MarshalEvent(e)
		if err == nil {
			e, err = room.UnmarshalEvent(b)
		}
		if err != nil {
			*q = recentEvents{} // readers of the log are told
			continue
		}
		q.events, q.sizes, q.bytes = append(q.events, e), append(q.sizes, len(b)), q.bytes+len(b)
	}
	for len(q.events) > keptEvents || q.bytes > keptBytes {
		q.bytes -= q.sizes[0]
		q.events, q.sizes = q.events[1:], q.sizes[1:]
	}
}

func (q *recentEvents) after(seq int64) []room.Event {
	if len(q.events) == 0 || seq < q.events[0].Seq-1 {
		return nil
	}
	return q.events[min(int64(len(q.events)), seq-q.events[0].Seq+1):]
}
