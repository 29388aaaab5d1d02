package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/room/log"
	codes "modernc.org/sqlite/lib"
)

// check reports a log that does not reach its head: [log.ErrShort]. t is nil
// when the database has no such room; hashAt returns the hash at a place of the
// chain.
func (h *headFile) check(name string, t *tail, hashAt func(*tail, uint64) ([32]byte, error)) error {
	want, ok := h.of(name)
	if !ok {
		return nil
	}
	if t == nil || t.last < want.seq {
		var last uint64
		if t != nil {
			last = t.last
		}
		return log.Short(name, last, want.seq)
	}
	hash, err := hashAt(t, want.seq)
	if err != nil {
		return err
	}
	if hash != want.hash {
		return log.Corrupt(name, want.seq, "it is not the event that was acknowledged")
	}
	h.reached(name)
	return nil
}

// confirmed calls read, and again when it found a log too short and the head has
// changed since: another process may have removed the room.
func (d *DB) confirmed(name string, read func() error) error {
	err := read()
	if errors.Is(err, log.ErrShort) && d.heads.reload(name) {
		return read()
	}
	return err
}

// checkHead is check for the writer, whose transaction excludes other writers.
func (w *writer) checkHead(name string, t *tail) error {
	return w.d.confirmed(name, func() error { return w.d.heads.check(name, t, w.hash) })
}

// openHeads opens the file of heads for appending. It makes the file where it is
// missing, as in a data folder of an earlier release, and where it is damaged.
func (w *writer) openHeads() error {
	s, err := w.d.heads.load()
	if err != nil {
		return err
	}
	if !s.exists || s.damaged > 0 || len(s.heads) == 0 { // without a head it may have been emptied
		return w.rewriteHeads()
	}
	return w.d.heads.open()
}

// rewriteHeads writes the file of heads again, with one record for each room:
// the last event in the database or, where that does not reach the head, the head.
// It holds the database's write lock, so that no commit comes between.
func (w *writer) rewriteHeads() error {
	if err := w.begin.exec(); err != nil {
		return err
	}
	records, err := w.mergedHeads()
	if err == nil {
		var b []byte
		for i := range records {
			b = records[i].append(b)
		}
		err = atomicfile.WriteDurable(w.d.heads.path, b)
	}
	if primary(err) == codes.SQLITE_CORRUPT {
		err = nil // the file stays as it is; readers report the damage
	}
	return errors.Join(err, w.rollback.exec(), w.d.heads.open())
}

// mergedHeads returns the records of all rooms.
func (w *writer) mergedHeads() ([]headRecord, error) {
	s, err := readHeads(w.d.heads.path)
	if err != nil {
		return nil, err
	}
	var tails []tail
	err = w.c.list("select "+columnsOfRoom+" from rooms not indexed", func(row []driver.Value) error {
		if t, err := scanTail(row); err == nil { // Rooms reports a damaged row
			tails = append(tails, t)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range tails {
		t := &tails[i]
		if old, ok := s.heads[t.name]; ok {
			hash, err := w.hash(t, old.seq)
			if err != nil {
				return nil, err
			}
			if old.seq > t.last || hash != old.hash {
				continue
			}
		}
		s.heads[t.name] = head{t.last, t.hash}
	}
	var records []headRecord
	for _, name := range slices.Sorted(maps.Keys(s.heads)) {
		records = append(records, headRecord{headKind, name, s.heads[name]})
		if snapshot, ok := s.snapshots[name]; ok {
			records = append(records, headRecord{snapshotKind, name, snapshot})
		}
	}
	return records, nil
}

// keepHeads writes the heads of the rooms that a transaction has changed.
func (w *writer) keepHeads(changed []*tail) error {
	records := make([]headRecord, 0, len(changed))
	for _, t := range changed {
		if t.removed || t.last == 0 {
			continue
		}
		if t.restored { // a removal of the same chain would make its head a late one
			records = append(records, headRecord{kind: removedKind, room: t.name})
		}
		records = append(records, headRecord{headKind, t.name, head{t.last, t.hash}})
	}
	if err := w.d.heads.append(records...); err != nil {
		return w.d.fileError("writing "+HeadsName, err)
	}
	if w.d.heads.size <= w.d.heads.most {
		return nil
	}
	return w.d.fileError("writing "+HeadsName+" again", w.shrinkHeads())
}

// shrinkHeads writes the file of heads again. When another process holds the write
// lock, it leaves that to a later commit: all records are written.
func (w *writer) shrinkHeads() error {
	err := w.waiting(0, w.rewriteHeads)
	if primary(err) == codes.SQLITE_BUSY {
		return nil
	}
	return err
}

// checkHeads returns what is known of rooms that have not been compared with
// their heads, and adds those that the database lacks.
func (d *DB) checkHeads(ctx context.Context, infos []log.Info) ([]log.Info, error) {
	at := make(map[string]int, len(infos))
	for i := range infos {
		at[infos[i].Room] = i
	}
	var found error
	for _, name := range d.heads.rooms() {
		_, err := d.Tail(ctx, name)
		if err == nil {
			continue
		}
		found = errors.Join(found, err)
		i, ok := at[name]
		if !ok {
			i, infos = len(infos), append(infos, log.Info{Room: name})
		}
		infos[i].Damage = err
	}
	return infos, found
}

// fileError explains an error of a file that SQLite does not write.
func (d *DB) fileError(doing string, err error) error {
	if err == nil {
		return nil
	}
	if primary(err) != 0 {
		return d.explain(doing, err)
	}
	code := codes.SQLITE_IOERR
	switch {
	case isFull(err):
		code = codes.SQLITE_FULL
	case isReadOnly(err):
		code = codes.SQLITE_READONLY
	}
	return d.problem(code, fmt.Errorf("%s: %w", doing, err))
}
