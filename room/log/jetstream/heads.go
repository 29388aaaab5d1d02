package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// A headRow is the last event of a room that is known to be stored. Heads are in another
// stream than the events, because a stream cannot detect that its own end, or all of it,
// is missing. A log that ends before its head has lost events. A log that is longer is
// intact: heads are written after the events, the first one before its append is
// acknowledged and the others at most headsEvery later.
type headRow struct {
	Room string `json:"room"`
	Seq  uint64 `json:"seq"`

	tok uint64 // of the stored message; 0 is none
}

// headsEvery is the time between two writes of the heads that have changed.
const headsEvery = time.Second

// heads are the heads that this handle knows.
type heads struct {
	mu      sync.Mutex
	seen    map[string]uint64 // the last event that this handle has seen of a room
	changed map[string]headRow
}

// see notes the last event of a room, and reports whether it may be one: false says that the room
// had a later one, or that this handle has not compared it with its head.
func (h *heads) see(room string, seq uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, ok := h.seen[room]
	if !ok || seq < known {
		return false
	}
	h.seen[room] = seq
	return true
}

// set makes seq the last event that was seen.
func (h *heads) set(room string, seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen == nil {
		h.seen = map[string]uint64{}
	}
	if seq == 0 {
		delete(h.seen, room)
		return
	}
	h.seen[room] = seq
}

// reached checks that a room whose last event is seq has not lost later ones.
func (d *DB) reached(ctx context.Context, name string, seq uint64) error {
	if d.heads.see(name, seq) {
		return nil
	}
	// Appends of others go on meanwhile, and write heads: the head is read first.
	head, err := d.readHead(ctx, name)
	if err != nil {
		return err
	}
	if head.Seq > seq {
		stream, subject := d.place(name)
		if m, err := d.last(ctx, stream, subject); err == nil {
			if r, err := decodeRecord(m.Data); err == nil && r.room == name {
				seq = r.state.seq
			}
		}
	}
	if head.Seq > seq {
		return log.Short(name, seq, head.Seq)
	}
	d.heads.set(name, seq)
	return nil
}

// readHead returns the stored head of a room, the zero one if there is none.
func (d *DB) readHead(ctx context.Context, name string) (h headRow, err error) {
	m, err := d.last(ctx, d.stream(indexStream), d.subject("head", name))
	switch {
	case errors.Is(err, errNoStream):
		return h, lost(d.stream(indexStream))
	case isNotFound(err):
		return h, nil
	case err != nil:
		return h, unreachable("room "+name, err)
	}
	if err := json.Unmarshal(m.Data, &h); err != nil || h.Room != name {
		return h, log.Corrupt(name, 0, "its head is damaged")
	}
	h.tok = m.Seq
	return h, nil
}

// noteHead stores the head of a room that has none before it returns, and has that of
// others stored later.
func (d *DB) noteHead(ctx context.Context, r *roomState) error {
	d.heads.set(r.name, r.last.state.seq)
	if r.head.Seq == 0 {
		head, err := d.readHead(ctx, r.name)
		if err != nil {
			return err
		}
		if head.Seq == 0 {
			head = headRow{Room: r.name, Seq: r.last.state.seq}
			// One that is stored although no answer came is another last message.
			if err := d.retry(ctx, func() error { return d.putHead(ctx, &head) }); err != nil && !errors.Is(err, errWrongLast) {
				return err
			}
		}
		r.head = head
	}
	r.head.Seq = r.last.state.seq
	d.heads.mu.Lock()
	defer d.heads.mu.Unlock()
	if d.heads.changed == nil {
		d.heads.changed = map[string]headRow{}
	}
	d.heads.changed[r.name] = r.head
	return nil
}

// putHead stores a head in the place of the one it was read from.
func (d *DB) putHead(ctx context.Context, h *headRow) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	tok, err := d.publish(ctx, d.subject("head", h.Room), data, h.tok)
	if err == nil {
		h.tok = tok
	}
	return err
}

// dropHead removes the head of a room that is being removed.
func (d *DB) dropHead(ctx context.Context, r *roomState) error {
	d.heads.mu.Lock()
	delete(d.heads.changed, r.name)
	d.heads.mu.Unlock()
	d.heads.set(r.name, 0)
	r.head = headRow{}
	return d.purge(ctx, d.stream(indexStream), d.subject("head", r.name))
}

// writeHeads stores the heads that have changed, until the log is closed.
func (d *DB) writeHeads() {
	ticker := time.NewTicker(headsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-d.life.Done():
			if !d.nc.IsConnected() {
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), d.timeout)
			defer cancel()
			d.flushHeads(ctx)
			return
		case <-ticker.C:
			d.flushHeads(d.life)
		}
	}
}

// flushHeads stores the changed heads. One that cannot be stored is tried again with the
// next append: an old head is right, but misses the last events.
func (d *DB) flushHeads(ctx context.Context) {
	d.heads.mu.Lock()
	changed := d.heads.changed
	d.heads.changed = nil
	d.heads.mu.Unlock()
	for name, want := range changed {
		head, err := d.readHead(ctx, name)
		if err != nil || head.tok == 0 || head.Seq >= want.Seq {
			continue // the room was removed, or another process knows a later event
		}
		head.Seq = want.Seq
		d.putHead(ctx, &head)
		if ctx.Err() != nil {
			return
		}
	}
}
