package jetstream

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/folkmoot/moot/room/log"
)

// A roomState is what this handle knows of a room.
type roomState struct {
	name, stream, subject string
	turn                  chan struct{} // held by the one append, redaction or removal that runs

	// The fields below belong to the holder of turn.
	known bool    // last is the room's last message, as far as this handle knows
	last  record  // of no room: the zero record
	ids   *idSet  // nil until an append needs it
	head  headRow // what the room must reach
}

// room returns the state of a room, made when it is new.
func (d *DB) room(name string) *roomState {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.rooms[name]
	if r == nil {
		r = &roomState{name: name, turn: make(chan struct{}, 1)}
		r.stream, r.subject = d.place(name)
		d.rooms[name] = r
	}
	return r
}

// take waits for the turn to change the room.
func (r *roomState) take(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *roomState) give() { <-r.turn }

// forget makes the next append read the room again.
func (r *roomState) forget() { r.known, r.last = false, record{} }

// forgetRoom frees what an unlocked room takes in memory, unless it is in use.
func (d *DB) forgetRoom(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.rooms[name]
	if r == nil {
		return
	}
	select {
	case r.turn <- struct{}{}:
		r.forget()
		r.ids = nil
		r.give()
	default:
	}
}

// tail reads the last message of a room at the leader. The zero record is the tail of a
// room that does not exist. With a [log.ErrCorrupt] it returns the last message that can be
// read, if there is one.
func (d *DB) tail(ctx context.Context, name string) (record, error) {
	stream, subject := d.place(name)
	m, err := d.last(ctx, stream, subject)
	switch {
	case errors.Is(err, errNoStream):
		return record{}, lost(stream)
	case isNotFound(err):
		return d.lastReadable(ctx, name)
	case err != nil:
		return record{}, unreachable("room "+name, err)
	}
	last, err := openRecord(m)
	if err == nil && last.room != name {
		err = fmt.Errorf("it is of room %q", last.room)
	}
	if err != nil {
		return record{}, log.Corrupt(name, 0, "its last message: "+err.Error())
	}
	if last.kind == removedKind || last.state.restoring {
		return record{seq: m.Seq, kind: removedKind}, nil // a restore that goes on fails if this is removed
	}
	return last, d.reached(ctx, name, last.state.seq)
}

// lastReadable is the tail of a room of which the server gives no last message: there is none,
// or it is damaged.
func (d *DB) lastReadable(ctx context.Context, name string) (last record, err error) {
	stream, subject := d.place(name)
	stored, err := d.subjects(ctx, stream, subject)
	if err != nil {
		return last, unreachable("room "+name, err)
	}
	if len(stored) == 0 {
		return last, d.reached(ctx, name, 0)
	}
	if _, err := d.last(ctx, stream, subject); !isNotFound(err) {
		return d.tail(ctx, name) // the first append came meanwhile
	}
	for {
		page, err := d.batch(ctx, stream, subject, last.seq+1, 256)
		if err != nil {
			return last, unreachable("room "+name, err)
		}
		for _, m := range page {
			r, err := openRecord(m)
			if err != nil || r.room != name {
				page = nil
				break
			}
			last = r
		}
		if len(page) == 0 {
			return last, log.Corrupt(name, last.state.seq+1, "the servers cannot read its message")
		}
	}
}

// load makes the last message known.
func (d *DB) load(ctx context.Context, r *roomState) error {
	if r.known {
		return nil
	}
	last, err := d.tail(ctx, r.name)
	if err != nil {
		return err
	}
	if last.kind == removedKind { // its removal, or a restore, was interrupted
		if err := d.finishRemoval(ctx, r, last.seq+1); err != nil {
			return err
		}
		last = record{}
	}
	if last.state.seq == 0 {
		last = record{seq: last.seq} // a removed room, or parts of a first append that was not completed
	}
	if last.state.erasing {
		if err := d.eraseReplaced(ctx, r, last.state.redact); err != nil {
			return err
		}
		last.state.erasing = false // with the next append
	}
	if r.ids != nil && r.ids.tail != last.state.hash {
		r.ids = nil
	}
	r.last, r.known = last, true
	return nil
}

// idsKept is how many ids of a room's last events are kept at least. An event with one of
// them is refused; the ids before are not compared.
const idsKept = 10_000

// An idSet has the ids of the last events of a room, as hashes of 64 bits.
type idSet struct {
	tail        [32]byte // the room's hash that it was made or extended for
	young, aged map[uint64]struct{}
}

// idSeed is of this process: hashes of ids are not stored.
var idSeed = maphash.MakeSeed()

func (s *idSet) has(id string) bool {
	h := maphash.String(idSeed, id)
	if _, ok := s.young[h]; ok {
		return true
	}
	_, ok := s.aged[h]
	return ok
}

func (s *idSet) add(id string) {
	if len(s.young) >= idsKept {
		s.young, s.aged = nil, s.young
	}
	if s.young == nil {
		s.young = map[uint64]struct{}{}
	}
	s.young[maphash.String(idSeed, id)] = struct{}{}
}

// loadIDs reads the ids of the room's last events.
func (d *DB) loadIDs(ctx context.Context, r *roomState) error {
	if r.ids != nil {
		return nil
	}
	ids := &idSet{tail: r.last.state.hash}
	from := log.Pos{}
	if r.last.state.seq > idsKept {
		from.Seq = r.last.state.seq - idsKept
	}
	for from.Seq < r.last.state.seq {
		entries, err := d.Read(ctx, r.name, from, 0)
		if err != nil {
			return err
		}
		for i := range entries {
			ids.add(entries[i].Event.ID)
		}
		from = entries[len(entries)-1].Pos
	}
	r.ids = ids
	return nil
}
