package sim

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A disk keeps the logs of all rooms. A batch of events is written first and durable
// after the next sync, which it shares with the batches of other rooms. A crash keeps
// what is durable and a prefix of what was only written; a batch is kept whole or not at
// all.
type disk struct {
	logs     map[string]*roomLog
	order    []string // rooms, in the order of their first event
	written  []*batch // and not durable yet, oldest first
	syncing  bool
	failed   bool // a sync has failed: this handle acknowledges nothing any more
	full     int  // writes that fail from now on
	snapshot map[string]snapshot
	ledger   ledger
}

// A roomLog is the durable log of a room.
type roomLog struct {
	raws   [][]byte
	events []room.Event   // decoded from raws
	stubs  map[int64]bool // events whose text was removed
	chain  [32]byte
	hashes [][32]byte
	torn   [][]byte // of a batch that a crash has cut off; recovery drops it
}

// A snapshot is the stored state of a room. It is disposable.
type snapshot struct {
	seq  int64
	hash [32]byte
	data []byte
}

// A batch is the events of one command, or of the end of a turn and of the decision after it.
type batch struct {
	room   *hosted
	id     string // of the room
	req    request
	after  int64
	parts  []part
	events []room.Event // of all parts
	raws   [][]byte
	since  time.Duration
	tries  int
}

// A part is a command with its events.
type part struct {
	cmd    room.Command
	events []room.Event
}

var (
	errFull    = errors.New("no space left on the device")
	errFailed  = errors.New("an earlier write failed")
	errUnknown = errors.New("outcome unknown")
)

// write appends a batch. errUnknown says that the caller has to append it again: it may
// or may not be written. Appending a batch again that is written changes nothing.
func (s *simulation) write(b *batch) error {
	d := &s.disk
	b.tries++
	switch {
	case d.failed:
		return errFailed
	case d.has(b) && !s.cfg.flaws.appendTwice: // it needs no more space
		s.at(moment{kind: onRepeat, room: b.room, batch: b})
		s.sync(0)
		return nil
	case d.full > 0:
		d.full--
		return errFull
	}
	if want := d.tail(b.id); want != b.after {
		s.violate("G1", b.id, fmt.Sprintf("an append after %d to a log that ends at %d", b.after, want))
	}
	lost := b.tries < 3 && s.fault(Disk, 2)
	if lost && s.src.percent(50) {
		return errUnknown // it was not written
	}
	d.written = append(d.written, b)
	if s.cfg.flaws.ackEarly {
		s.report(b.id, b.room.facts.check.Stored(d.tail(b.id)))
		s.after(0, func() { b.room.stored(b) })
		return nil
	}
	if lost {
		return errUnknown
	}
	latency := s.src.between(100*time.Microsecond, 3*time.Millisecond)
	if s.fault(Disk, 2) {
		latency = s.src.between(300*time.Millisecond, 30*time.Second)
	}
	s.sync(latency)
	return nil
}

// has reports whether a batch is written.
func (d *disk) has(b *batch) bool {
	for _, w := range d.written {
		if w == b {
			return true
		}
	}
	l := d.logs[b.id]
	if l == nil || int64(len(l.raws)) <= b.after {
		return false
	}
	return bytes.Equal(l.raws[b.after], b.raws[0])
}

// tail returns the seq of the last event of a room that is written.
func (d *disk) tail(id string) int64 {
	n := int64(0)
	if l := d.logs[id]; l != nil {
		n = int64(len(l.raws))
	}
	for _, b := range d.written {
		if b.id == id {
			n += int64(len(b.raws))
		}
	}
	return n
}

// sync makes all that is written durable after some time.
func (s *simulation) sync(latency time.Duration) {
	d := &s.disk
	if d.syncing {
		return
	}
	d.syncing = true
	proc := s.proc
	s.after(latency, func() {
		if s.proc == proc && proc != nil {
			d.syncing = false
			s.synced()
		}
	})
}

// synced ends a sync. A failed one ends the handle: the kernel may have dropped the
// pages, so that a second sync proves nothing.
func (s *simulation) synced() {
	d := &s.disk
	if d.failed {
		return
	}
	done := d.written
	if len(done) > 0 && s.fault(Disk, 1) {
		if s.cfg.flaws.syncAgain {
			d.written = nil
			for _, b := range done {
				b.room.stored(b)
			}
			return
		}
		d.failed = true
		s.at(moment{kind: onSyncFailed})
		for _, b := range done {
			b.room.fail(b, errFailed)
		}
		return
	}
	d.written = nil
	if len(done) > 1 {
		s.at(moment{kind: onGroup})
	}
	for _, b := range done {
		d.keep(s, b)
		s.report(b.id, b.room.facts.check.Stored(d.tail(b.id)))
	}
	for _, b := range done {
		b.room.stored(b)
	}
}

// keep adds a batch to the durable log of its room.
func (d *disk) keep(s *simulation, b *batch) {
	l := d.logs[b.id]
	if l == nil {
		l = &roomLog{}
		d.logs[b.id] = l
		d.order = append(d.order, b.id)
	}
	for _, raw := range b.raws {
		e, err := room.UnmarshalEvent(raw)
		if err != nil {
			s.violate("G7", b.id, err.Error())
		}
		l.raws, l.events = append(l.raws, raw), append(l.events, e)
		l.chain = log.Link(l.chain, uint64(len(l.raws)), log.Commit(nil, raw))
		l.hashes = append(l.hashes, l.chain)
		s.note(raw)
	}
}

// crash loses what is not durable but a prefix. Whole tells that the machine went on,
// so that the kernel writes all.
func (d *disk) crash(s *simulation, whole bool) {
	kept := len(d.written)
	if !whole {
		kept = s.src.below(len(d.written) + 1)
	}
	if kept > 0 {
		s.at(moment{kind: onKept})
	}
	if kept < len(d.written) {
		s.at(moment{kind: onLost, batch: d.written[kept]})
	}
	var cut *batch
	if kept < len(d.written) && !whole {
		cut = d.written[kept]
	}
	for _, b := range d.written[:kept] {
		d.keep(s, b)
	}
	if cut != nil && len(cut.raws) > 1 {
		d.tear(s, cut, 1+s.src.below(len(cut.raws)-1))
	}
	d.written, d.syncing, d.failed, d.full = nil, false, false, 0
}

// tear leaves the first n events of a batch, without the mark that ends it.
func (d *disk) tear(s *simulation, b *batch, n int) {
	switch l := d.logs[b.id]; {
	case l == nil: // there is no room yet
	case s.cfg.flaws.tornBatch:
		part := *b
		part.raws = b.raws[:n]
		d.keep(s, &part)
	default:
		l.torn = b.raws[:n]
	}
}

// read returns the durable events of a room.
func (d *disk) read(s *simulation, id string) ([]room.Event, error) {
	l := d.logs[id]
	if l == nil {
		return nil, nil
	}
	var chain [32]byte
	for i, raw := range l.raws {
		chain = log.Link(chain, uint64(i+1), log.Commit(nil, raw))
	}
	if len(l.torn) > 0 {
		s.at(moment{kind: onTorn})
		l.torn = nil
	}
	if chain != l.chain {
		return nil, errors.New("the chain is broken")
	}
	if s.cfg.flaws.loseLast {
		return l.events[:len(l.events)-1], nil
	}
	return l.events, nil
}
