package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Restore puts a whole room back as it was exported: with the salts and
// commitments of its entries, and stubs where it was redacted, so that its
// chain is the one it had. All of it is stored or none. The chain is checked
// first; a room that exists already is [log.ErrConflict].
func (d *DB) Restore(ctx context.Context, name string, entries []log.Entry) error {
	if err := log.CheckName(name); err != nil {
		return err
	}
	if len(entries) == 0 {
		return errors.New("restoring: no events")
	}
	if err := log.Check(name, 0, [32]byte{}, entries); err != nil {
		return err
	}
	raws := make([][]byte, len(entries))
	for i := range entries {
		var err error
		if raws[i], err = stored(&entries[i]); err != nil {
			return fmt.Errorf("restoring event %d of room %s: %w", entries[i].Seq, name, err)
		}
	}
	return d.submit(ctx, func(w *writer) error {
		t, err := w.room(name)
		if err != nil {
			return err
		}
		if t != nil {
			return fmt.Errorf("restoring: room %s exists: %w", name, log.ErrConflict)
		}
		id, err := integer(w.insertRoom.one(name))
		if err != nil {
			return err
		}
		if err := w.c.exec("insert into imported values(?)", id); err != nil {
			return err
		}
		t = &tail{id: id, name: name}
		w.change(t)
		for i := range entries {
			if err := w.insert("restoring", t, &entries[i], raws[i]); err != nil {
				return err
			}
		}
		w.pages += 2
		t.updated = time.Now().UnixNano()
		return nil
	})
}

// Imported reports whether the room was restored. The log of such a room was
// written elsewhere, so its commands are not trusted on this machine.
func (d *DB) Imported(ctx context.Context, name string) (bool, error) {
	found := false
	err := d.read(ctx, func(r *reader) error {
		return r.list("select 1 from imported join rooms on rooms.id = imported.room where name = ?", func([]driver.Value) error {
			found = true
			return nil
		}, name)
	})
	return found, err
}

// stored returns the column raw: the event or, if it is redacted, its stub.
func stored(e *log.Entry) ([]byte, error) {
	switch {
	case !e.Redacted:
		return e.Raw, nil
	case e.Event.Body == nil:
		return nil, errors.New("it was redacted and no stub is left of it")
	}
	return room.MarshalEvent(e.Event)
}
