package rows

import (
	"maps"
	"slices"
	"sync"
)

// News wakes goroutines that wait for a room to change.
type News struct {
	mu      sync.Mutex
	waiting map[string]*Wait
}

// A Wait is shared by all goroutines that wait for one room.
type Wait struct {
	Changed chan struct{} // closed by the change
	count   int           // of the goroutines that wait
}

// Ask registers for the next change of a room. It must be called before the log
// is read, or a change in between would be missed.
func (n *News) Ask(room string) *Wait {
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.waiting[room]
	if w == nil {
		if n.waiting == nil {
			n.waiting = map[string]*Wait{}
		}
		w = &Wait{Changed: make(chan struct{})}
		n.waiting[room] = w
	}
	w.count++
	return w
}

// Leave undoes Ask.
func (n *News) Leave(room string, w *Wait) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if w.count--; w.count == 0 && n.waiting[room] == w {
		delete(n.waiting, room)
	}
}

// Tell wakes the goroutines that wait for one of rooms.
func (n *News) Tell(rooms []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, room := range rooms {
		if w := n.waiting[room]; w != nil {
			close(w.Changed)
			delete(n.waiting, room)
		}
	}
}

// TellAll wakes all goroutines, because the changes of another process are not
// known.
func (n *News) TellAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for room, w := range n.waiting {
		close(w.Changed)
		delete(n.waiting, room)
	}
}

// Wanted reports whether a goroutine waits.
func (n *News) Wanted() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.waiting) > 0
}

// Names returns the rooms that a goroutine waits for.
func (n *News) Names() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Keys(n.waiting))
}
