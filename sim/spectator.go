package sim

import (
	"fmt"

	"github.com/folkmoot/moot/room"
)

// A spectator reads the events of a room, and goes on at its cursor after its connection
// was lost.
type spectator struct {
	s         *simulation
	name      string
	of        *facts
	level     room.Visibility
	cursor    int64 // newest event that it has read
	connected bool
}

// readerActs lets a spectator connect, read or lose its connection.
func (s *simulation) readerActs() {
	r := one(s.src, s.readers...)
	switch {
	case !r.connected:
		r.connect()
	case s.fault(Readers, 15):
		r.connected = false
	default:
		r.read(1 + s.src.below(20))
	}
}

// connect begins to read after the cursor. Sometimes the last page did not arrive.
func (r *spectator) connect() {
	h := r.s.room(r.of.spec.Room)
	if h == nil {
		return
	}
	if r.cursor > 0 && r.s.fault(Readers, 20) {
		r.cursor -= int64(r.s.src.below(int(min(r.cursor, 5)) + 1))
	}
	r.connected = true
	if r.cursor > 0 {
		r.s.at(moment{kind: onReconnect, room: h})
	}
	r.of.check.Watches(r.name, r.level, r.cursor)
	if r.s.cfg.flaws.skipOne && r.cursor > 0 {
		r.cursor++
	}
}

// read reads at most n of the events that the process shows: those that it has applied.
func (r *spectator) read(n int) {
	h := r.s.room(r.of.spec.Room)
	if h == nil || !r.connected {
		r.connected = false
		return
	}
	l := r.s.disk.logs[h.id]
	if r.s.cfg.flaws.readEarly && h.batch != nil && r.cursor == h.state.Seq {
		for _, e := range h.batch.events {
			r.s.report(h.id, r.of.check.Shown(r.name, e))
		}
	}
	for ; n > 0 && r.cursor < h.state.Seq; n-- {
		if l == nil || r.cursor >= int64(len(l.raws)) {
			r.s.violate("G4", h.id, fmt.Sprintf("event %d was applied and is not durable", r.cursor+1))
			return
		}
		e := l.events[r.cursor]
		r.cursor++
		if e.Seq != r.cursor {
			r.s.violate("G1", h.id, fmt.Sprintf("a spectator got event %d at its place %d", e.Seq, r.cursor))
		}
		if r.s.cfg.flaws.showAll {
			r.s.report(h.id, r.of.check.Shown(r.name, e))
		} else if shown, ok := e.VisibleAt(r.level); ok {
			r.s.report(h.id, r.of.check.Shown(r.name, shown))
		}
	}
}

// readAll reads to the end.
func (r *spectator) readAll() {
	if !r.connected {
		r.connect()
	}
	r.read(1 << 20)
}
