package jetstream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A replacement has the entries of one message that had a redacted event.
type replacement struct {
	first    uint64   // the first event
	last     uint64   // the last event
	previous [32]byte // hash before the first
	seqs     []uint64 // the message and its parts, in the stream
	entries  []log.Entry
	damage   error // why entries are missing
}

// replacements are all of a room. Its newest message of redactKind has all of
// them, because the one before is erased.
type replacements struct{ list []replacement }

// of returns the replacement with an event.
func (r *replacements) of(seq uint64) *replacement {
	for i := range r.list {
		if g := &r.list[i]; g.first <= seq && seq <= g.last {
			return g
		}
	}
	return nil
}

// has reports whether the message seq is replaced.
func (r *replacements) has(seq uint64) bool {
	for i := range r.list {
		if slices.Contains(r.list[i].seqs, seq) {
			return true
		}
	}
	return false
}

func (r *replacements) encode() ([]byte, error) {
	b := binary.AppendUvarint(nil, uint64(len(r.list)))
	for i := range r.list {
		g := &r.list[i]
		b = binary.AppendUvarint(b, g.first)
		b = binary.AppendUvarint(b, g.last)
		b = append(b, g.previous[:]...)
		b = appendSeqs(b, g.seqs)
		body, err := appendEntries(nil, g.entries)
		if err != nil {
			return nil, err
		}
		b = appendBytes(b, body)
	}
	return b, nil
}

func decodeReplacements(b []byte) (*replacements, error) {
	d := decoder{b: b}
	r := &replacements{}
	for range d.count() {
		g := replacement{first: d.uvarint(), last: d.uvarint(), previous: d.hash(), seqs: d.seqs()}
		body := decoder{b: d.take(d.uvarint())}
		if d.failed || g.first == 0 || g.last < g.first {
			return r, errDamaged
		}
		g.entries, g.damage = body.entries(g.first)
		if g.damage == nil && uint64(len(g.entries)) != g.last-g.first+1 {
			g.damage = errDamaged
		}
		r.list = append(r.list, g)
	}
	if d.failed {
		return r, errDamaged
	}
	return r, nil
}

// replacements reads the message with the redactions of a room. With a [log.ErrCorrupt] it
// returns those before the damage: the other messages are missing then.
func (d *DB) replacements(ctx context.Context, stream string, seq uint64) (*replacements, error) {
	if seq == 0 {
		return &replacements{}, nil
	}
	r, err := d.redactRecord(ctx, stream, seq)
	if err != nil {
		return &replacements{}, err
	}
	body, err := d.body(ctx, stream, r)
	if err != nil && !isNotFound(err) {
		return &replacements{}, unreachable("room "+r.room, err)
	}
	all, err := decodeReplacements(body)
	if err != nil {
		return all, log.Corrupt(r.room, 0, "its redactions: "+err.Error())
	}
	return all, nil
}

func (d *DB) redactRecord(ctx context.Context, stream string, seq uint64) (record, error) {
	m, err := d.at(ctx, stream, seq)
	if isNotFound(err) {
		return record{}, log.Corrupt("", 0, "redactions of a room are missing")
	}
	if err != nil {
		return record{}, unreachable("stream "+stream, err)
	}
	r, err := openRecord(m)
	if err == nil && r.kind != redactKind {
		err = errDamaged
	}
	if err != nil {
		return record{}, log.Corrupt("", 0, "redactions of a room: "+err.Error())
	}
	return r, nil
}

// Redact implements [log.Redactor]. It takes the lock of the room if this handle does not
// hold it. Replacements of the messages with the events are stored first, in one
// message; then the old messages are erased, which overwrites their bytes in the files of
// the stream.
func (d *DB) Redact(ctx context.Context, name string, stubs ...room.Event) error {
	return d.holding(ctx, name, func(ctx context.Context, r *roomState) error {
		if err := d.load(ctx, r); err != nil {
			return err
		}
		if r.last.state.seq == 0 {
			return fmt.Errorf("redacting: room %s: %w", name, log.ErrNotFound)
		}
		c := redaction{d: d, r: r, next: r.last.state}
		if err := c.plan(ctx, stubs); err != nil {
			return err
		}
		if err := c.store(ctx); err != nil {
			return err
		}
		d.announce(name)
		return d.eraseSnapshot(ctx, name)
	})
}

// A redaction is one call of Redact.
type redaction struct {
	d       *DB
	r       *roomState
	next    state
	all     *replacements
	changed bool
}

// plan replaces the events in memory.
func (c *redaction) plan(ctx context.Context, stubs []room.Event) (err error) {
	if c.all, err = c.d.replacements(ctx, c.r.stream, c.r.last.state.redact); err != nil {
		return err
	}
	for _, stub := range stubs {
		if err := c.replace(ctx, stub); err != nil {
			return err
		}
	}
	return nil
}

// replace puts a stub in the place of an event, after the event was checked against the
// chain. Events that are redacted already are skipped.
func (c *redaction) replace(ctx context.Context, stub room.Event) error {
	seq, name := uint64(stub.Seq), c.r.name
	if stub.Seq < 1 || seq > c.r.last.state.seq {
		return fmt.Errorf("redacting: room %s has no event %d: %w", name, stub.Seq, log.ErrNotFound)
	}
	raw, err := room.MarshalEvent(stub)
	if err != nil {
		return fmt.Errorf("redacting: encoding the stub of event %d: %w", seq, err)
	}
	g := c.all.of(seq)
	if g == nil {
		if g, err = c.message(ctx, seq); err != nil {
			return err
		}
		c.all.list = append(c.all.list, *g)
		g = &c.all.list[len(c.all.list)-1]
	}
	if g.damage != nil {
		return log.Corrupt(name, seq, g.damage.Error())
	}
	e := &g.entries[seq-g.first]
	switch {
	case e.Redacted:
		return nil
	case e.Event.ID != stub.ID:
		return fmt.Errorf("redacting: event %d of room %s is %q, not %q", seq, name, e.Event.ID, stub.ID)
	}
	c.next.bytes += int64(len(raw) - len(e.Raw))
	e.Event, e.Raw, e.Salt, e.Redacted = stub, nil, nil, true
	c.changed = true
	return nil
}

// message reads the message with an event, and checks its entries.
func (c *redaction) message(ctx context.Context, seq uint64) (*replacement, error) {
	one, err := c.d.page(ctx, c.r.last, log.Pos{Seq: seq - 1}, 1)
	if err != nil {
		return nil, err
	}
	m, err := c.d.at(ctx, c.r.stream, one[0].Tok)
	if err != nil {
		return nil, unreachable("room "+c.r.name, err)
	}
	r, err := openRecord(m)
	if err != nil {
		return nil, log.Corrupt(c.r.name, seq, err.Error())
	}
	body, err := c.d.body(ctx, c.r.stream, r)
	if err != nil {
		return nil, err
	}
	count := decoder{b: body}
	g := &replacement{last: r.state.seq, previous: r.previous, seqs: append(r.parts, m.Seq)}
	g.first = g.last - uint64(count.count()) + 1
	dec := decoder{b: body}
	if g.entries, err = dec.entries(g.first); err != nil {
		return nil, log.Corrupt(c.r.name, g.first+uint64(len(g.entries)), err.Error())
	}
	return g, log.Check(c.r.name, g.first-1, g.previous, g.entries)
}

// store publishes the replacements and erases what they replace.
func (c *redaction) store(ctx context.Context) error {
	if !c.changed {
		return nil // load has erased what another call has left
	}
	before := c.r.last.state.redact
	body, err := c.all.encode()
	if err != nil {
		return err
	}
	c.next.erasing = true
	next := record{kind: redactKind, room: c.r.name, state: c.next, body: body, previous: c.next.hash}
	if before != 0 {
		old, err := c.d.redactRecord(ctx, c.r.stream, before)
		if err != nil {
			return err
		}
		// The list of what is to be erased has a place: it is that of the first replacement.
		c.all.list[0].seqs = append(append(c.all.list[0].seqs, before), old.parts...)
		if next.body, err = c.all.encode(); err != nil {
			return err
		}
	}
	if err := c.d.write(ctx, c.r, &next); err != nil {
		c.r.forget()
		if errors.Is(err, errWrongLast) {
			return fmt.Errorf("redacting: room %s: %w", c.r.name, log.ErrConflict)
		}
		return fmt.Errorf("redacting: room %s: %w: %w", c.r.name, log.ErrUnknown, err)
	}
	c.r.last.state.redact = next.seq
	if err := c.d.eraseReplaced(ctx, c.r, next.seq); err != nil {
		c.r.forget()
		return err
	}
	c.r.last.state.erasing = false // with the next append
	return nil
}

// eraseReplaced erases what the redactions of a room replace.
func (d *DB) eraseReplaced(ctx context.Context, r *roomState, seq uint64) error {
	all, err := d.replacements(ctx, r.stream, seq)
	if err != nil {
		return err
	}
	for i := range all.list {
		if err := d.erase(ctx, r.stream, all.list[i].seqs...); err != nil {
			return unreachable("room "+r.name, err)
		}
	}
	return d.eraseSnapshot(ctx, r.name)
}

// Remove implements [log.Redactor]. It takes the lock of the room if this handle does not
// hold it. A message that says so removes the room; then its messages are erased.
func (d *DB) Remove(ctx context.Context, name string) error {
	return d.holding(ctx, name, func(ctx context.Context, r *roomState) error {
		r.forget()
		err := d.load(ctx, r)
		if err != nil && !errors.Is(err, log.ErrCorrupt) {
			return err
		}
		damaged := err != nil
		if !damaged && r.last.state.seq == 0 {
			return fmt.Errorf("removing: room %s: %w", name, log.ErrNotFound)
		}
		expected := r.last.seq
		if damaged {
			expected = anySeq
		}
		gone := record{kind: removedKind, room: name, state: state{updated: time.Now().UnixNano()}}
		if err := d.dropHead(ctx, r); err != nil {
			return unreachable("room "+name, err)
		}
		seq, err := d.publish(ctx, r.subject, gone.encode(), expected) // a retry of the caller finds it
		r.forget()
		if errors.Is(err, errWrongLast) {
			return fmt.Errorf("removing: room %s: %w", name, log.ErrConflict)
		}
		if err != nil {
			return unreachable("room "+name, err)
		}
		return d.finishRemoval(ctx, r, seq)
	})
}

// finishRemoval erases the messages of a room before seq, the message that removed it,
// and then that one.
func (d *DB) finishRemoval(ctx context.Context, r *roomState, seq uint64) error {
	if err := d.eraseSnapshot(ctx, r.name); err != nil {
		return err
	}
	err := d.eraseSubject(ctx, r.stream, r.subject, seq)
	if err == nil {
		err = d.purge(ctx, r.stream, r.subject)
	}
	if err != nil {
		return unreachable("room "+r.name, err)
	}
	r.ids = nil
	d.announce(r.name)
	return nil
}

// holding runs a change that needs the room's lock. It takes the lock if this handle does
// not hold it.
func (d *DB) holding(ctx context.Context, name string, run func(context.Context, *roomState) error) error {
	if err := log.CheckName(name); err != nil {
		return err
	}
	ctx, done, err := d.beginWriting(ctx)
	if err != nil {
		return err
	}
	defer done()
	if !d.node.holds(name) {
		unlock, err := d.Lock(ctx, name)
		if err != nil {
			return err
		}
		defer unlock()
	}
	r := d.room(name)
	if err := r.take(ctx); err != nil {
		return err
	}
	defer r.give()
	return run(ctx, r)
}
