package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// Append implements [log.Appender]. The ids of a room's last 10,000 events are compared.
func (d *DB) Append(ctx context.Context, name string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	if err := log.CheckName(name); err != nil {
		return log.Pos{}, false, err
	}
	if len(evs) == 0 {
		return log.Pos{}, false, errors.New("appending: no events")
	}
	entries, err := log.Seal(after.Seq, evs)
	if err != nil {
		return log.Pos{}, false, fmt.Errorf("appending to room %s: %w", name, err)
	}
	ctx, done, err := d.beginWriting(ctx)
	if errors.Is(err, log.ErrFailed) {
		return log.Pos{}, false, err
	}
	if err != nil {
		return log.Pos{}, false, unknown(err)
	}
	defer done()
	r := d.room(name)
	if err := r.take(ctx); err != nil {
		return log.Pos{}, false, unknown(err)
	}
	defer r.give()
	a := appending{d: d, r: r, after: after.Seq, wake: rows.Nanos(wake), entries: entries}
	p, dup, err := a.run(ctx)
	if err != nil {
		r.forget()
	}
	return p, dup, a.explain(err)
}

// An appending is one append.
type appending struct {
	d       *DB
	r       *roomState
	after   uint64
	wake    int64
	entries []log.Entry
}

// explain makes the error of servers that do not answer an outcome that is not known: a
// message that was sent may still be stored.
func (a *appending) explain(err error) error {
	switch {
	case err == nil, errors.Is(err, log.ErrConflict), errors.Is(err, log.ErrCorrupt), errors.Is(err, log.ErrUnknown), errors.Is(err, errRefused):
		return err
	case errors.Is(err, errNoAnswer):
		return unreachable("room "+a.r.name, err)
	}
	return unknown(err)
}

// errRefused is of appends that can never be stored.
var errRefused = errors.New("the append is refused")

// run tries until the events are stored, or the room has other ones. A conflict with what
// this handle knew says only that it knew an old state.
func (a *appending) run(ctx context.Context) (p log.Pos, dup bool, err error) {
	r := a.r
	end := time.Now().Add(a.d.timeout)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		fresh := !r.known
		if err := a.d.load(ctx, r); err != nil {
			return p, false, err
		}
		if r.last.state.seq != a.after {
			if !fresh {
				r.forget()
				continue
			}
			return a.again(ctx)
		}
		if err := a.compareIDs(ctx); err != nil {
			if !fresh { // the room may be another one of the same name
				r.forget()
				continue
			}
			return p, false, err
		}
		p, err = a.store(ctx)
		if errors.Is(err, errNoAnswer) && time.Now().Before(end) && ctx.Err() == nil {
			r.forget() // whether it was stored shows in what the room has then
			continue
		}
		if !errors.Is(err, errWrongLast) {
			return p, false, err
		}
		before := r.last.seq
		r.forget()
		if err := a.d.load(ctx, r); err != nil {
			return p, false, err
		}
		if r.last.seq == before { // an append that is in flight, or a leader that has just been elected
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return p, false, context.Cause(ctx)
			}
		}
	}
}

// again distinguishes a retry, whose events are all stored at their places, from a writer
// that has lost the room.
func (a *appending) again(ctx context.Context) (log.Pos, bool, error) {
	conflict := fmt.Errorf("appending to room %s after event %d, which ends at %d: %w", a.r.name, a.after, a.r.last.state.seq, log.ErrConflict)
	if a.r.last.state.seq < a.after+uint64(len(a.entries)) {
		return log.Pos{}, false, conflict
	}
	stored, err := a.d.Read(ctx, a.r.name, log.Pos{Seq: a.after}, len(a.entries))
	if err != nil && !errors.Is(err, log.ErrCorrupt) {
		return log.Pos{}, false, err
	}
	if len(stored) < len(a.entries) {
		return log.Pos{}, false, conflict // a damaged event is no retry; readers report it
	}
	own := true // the salts are of this call: an attempt of which no answer came was stored
	for i := range a.entries {
		if !rows.Same(&stored[i], &a.entries[i]) {
			return log.Pos{}, false, conflict
		}
		own = own && stored[i].Commit == a.entries[i].Commit
	}
	if own {
		if err := a.d.noteHead(ctx, a.r); err != nil {
			return log.Pos{}, false, err
		}
		a.d.announce(a.r.name)
	}
	return stored[len(stored)-1].Pos, !own, nil
}

// compareIDs refuses ids that the room has, or that the append has twice.
func (a *appending) compareIDs(ctx context.Context) error {
	if err := a.d.loadIDs(ctx, a.r); err != nil {
		return err
	}
	own := map[string]bool{}
	for i := range a.entries {
		id := a.entries[i].Event.ID
		if own[id] || a.r.ids.has(id) {
			return fmt.Errorf("appending: room %s has event id %q at another place: %w", a.r.name, id, log.ErrConflict)
		}
		own[id] = true
	}
	return nil
}

// store publishes the events directly after the last message.
func (a *appending) store(ctx context.Context) (log.Pos, error) {
	r, d := a.r, a.d
	next := record{kind: eventsKind, room: r.name, state: r.last.state, previous: r.last.state.hash}
	for i := range a.entries {
		e := &a.entries[i]
		e.Hash = log.Link(next.state.hash, e.Seq, e.Commit)
		next.state.hash, next.state.seq = e.Hash, e.Seq
		next.state.bytes += int64(len(e.Raw))
	}
	next.state.wake, next.state.updated = a.wake, time.Now().UnixNano()
	var err error
	if next.body, err = appendEntries(nil, a.entries); err != nil {
		return log.Pos{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	if err := d.write(ctx, r, &next); err != nil {
		return log.Pos{}, err
	}
	for i := range a.entries {
		r.ids.add(a.entries[i].Event.ID)
	}
	r.ids.tail = next.state.hash
	if err := d.noteHead(ctx, r); err != nil {
		return log.Pos{}, err // the events are stored: a retry is a duplicate
	}
	d.announce(r.name)
	return log.Pos{Seq: next.state.seq, Tok: next.seq}, nil
}

// write publishes a record after the room's last message, which it becomes. A large body
// goes before it in parts. Each part repeats the state before, so that parts alone change
// nothing.
func (d *DB) write(ctx context.Context, r *roomState, next *record) error {
	body, last := next.body, r.last.seq
	if len(body) > d.most {
		next.body = nil
		for len(body) > 0 {
			n := min(len(body), d.most)
			part := record{kind: partKind, room: r.name, state: r.last.state, body: body[:n]}
			seq, err := d.publish(ctx, r.subject, part.encode(), last)
			if err != nil {
				return err
			}
			next.parts, body, last = append(next.parts, seq), body[n:], seq
		}
	}
	seq, err := d.publish(ctx, r.subject, next.encode(), last)
	if err != nil {
		return err
	}
	next.seq, next.body = seq, nil
	r.last = *next
	return nil
}
