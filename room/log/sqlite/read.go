package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
	codes "modernc.org/sqlite/lib"
)

// maxReaders is how many connections read at once.
const maxReaders = 4

// A reader is a connection for reading, used by one goroutine at a time.
type reader struct {
	*conn
	d                                 *DB
	begin, commit, find, page, hashAt *statement
}

func (d *DB) openReader() (*reader, error) {
	c, err := dialReader(d.path, d.readOnly)
	if err != nil {
		return nil, err
	}
	r := &reader{conn: c, d: d}
	if err := c.prepareAll([]prepared{
		{&r.begin, "begin"},
		{&r.commit, "commit"},
		{&r.find, "select " + columnsOfRoom + " from rooms where name = ?"},
		{&r.page, "select key, id, proof, raw from events where key > ? and key <= ? order by key limit ?"},
		{&r.hashAt, "select proof from events where key = ?"},
	}); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return r, nil
}

// dialReader opens the file for a reader. Next to a writer of this process it
// may make the files that SQLite shares between connections; in a folder that
// cannot be written it reads the file as it stands.
func dialReader(path string, readOnly bool) (*conn, error) {
	if !readOnly {
		return dial(path, "rw", "_pragma=query_only(1)")
	}
	c, err := dial(path, "ro")
	if err == nil {
		if _, err = c.one("select count(*) from rooms"); err == nil {
			return c, nil
		}
		err = errors.Join(err, c.Close())
	}
	if primary(err) == codes.SQLITE_CANTOPEN && emptyFile(path+"-wal") {
		return dial(path, "ro", "immutable=1")
	}
	return nil, err
}

// read calls f with a reader, within one transaction: f sees one state.
func (d *DB) read(ctx context.Context, f func(*reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-d.closing:
		return errClosed
	default:
	}
	var r *reader
	select {
	case r = <-d.readers:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { d.readers <- r }()
	select { // again: Close may have taken all readers meanwhile
	case <-d.closing:
		return errClosed
	default:
	}
	if r == nil {
		var err error
		if r, err = d.openReader(); err != nil {
			return d.explain("opening log for reading", err)
		}
	}
	if err := r.begin.exec(); err != nil {
		return d.explain("reading", err)
	}
	err := f(r)
	return errors.Join(d.explain("reading", err), d.explain("reading", r.commit.exec()))
}

// room returns the row of a room, or ErrNotFound.
func (r *reader) room(name string) (tail, error) {
	row, err := r.find.one(name)
	if errors.Is(err, errNoRow) {
		return tail{}, fmt.Errorf("room %s: %w", name, log.ErrNotFound)
	}
	if err != nil {
		return tail{}, err
	}
	return scanTail(row)
}

// hash returns the chain's hash at seq.
func (r *reader) hash(t *tail, seq uint64) ([32]byte, error) {
	if seq == 0 {
		return [32]byte{}, nil
	}
	row, err := r.hashAt.one(key(t.id, seq))
	if errors.Is(err, errNoRow) {
		return [32]byte{}, log.Corrupt(t.name, seq, fmt.Sprintf("event %d is missing", seq))
	}
	if err != nil {
		return [32]byte{}, blame(err, t.name, seq)
	}
	var b []byte
	if !get(row[0], &b) || len(b) < 32 {
		return [32]byte{}, log.Corrupt(t.name, seq, "its proof is damaged")
	}
	return [32]byte(b[:32]), nil
}

// defaultPage is how many entries Read returns to a caller that gives no bound.
const defaultPage = 1000

// Tail implements [log.Reader]. The tail of a room that does not exist is the
// zero Pos. The last event is looked at, so that a log which lost its end is
// found out here.
func (d *DB) Tail(ctx context.Context, name string) (log.Pos, error) {
	var p log.Pos
	err := d.confirmed(name, func() error {
		return d.read(ctx, func(r *reader) error {
			t, err := r.room(name)
			if errors.Is(err, log.ErrNotFound) {
				return d.heads.check(name, nil, nil)
			}
			if err != nil {
				return err
			}
			if err := errors.Join(r.checkEnd(&t), d.heads.check(name, &t, r.hash)); err != nil {
				return err
			}
			p = log.Pos{Seq: t.last, Tok: t.last}
			return nil
		})
	})
	return p, err
}

// checkEnd checks that the last event is the one that the index names.
func (r *reader) checkEnd(t *tail) error {
	hash, err := r.hash(t, t.last)
	if err != nil {
		return err
	}
	if hash != t.hash {
		return log.Corrupt(t.name, t.last, "it is not the event that the index names as the last")
	}
	return nil
}

// Read implements [log.Reader]. A page of 0 is 1,000 entries. It is
// [log.ErrNotFound] to read a room that does not exist, or from a place after
// its tail.
func (d *DB) Read(ctx context.Context, name string, after log.Pos, page int) ([]log.Entry, error) {
	if page <= 0 {
		page = defaultPage
	}
	var entries []log.Entry
	err := d.confirmed(name, func() error {
		var previous [32]byte
		err := d.read(ctx, func(r *reader) (err error) {
			entries, previous, err = r.scan(name, after.Seq, page)
			return err
		})
		whole, damaged := rows.Verified(name, after.Seq, previous, entries)
		entries = entries[:whole]
		return cmp.Or(damaged, err)
	})
	return entries, err
}

// scan returns up to page entries as they are stored, and the hash before them.
// With an error it returns those before the damage.
func (r *reader) scan(name string, after uint64, page int) (entries []log.Entry, previous [32]byte, err error) {
	t, err := r.room(name)
	switch {
	case errors.Is(err, log.ErrNotFound):
		return nil, previous, cmp.Or(r.d.heads.check(name, nil, nil), err)
	case err != nil && t.id == 0:
		return nil, previous, err
	case err != nil: // its row in the index is damaged; its events may be intact
		if previous, entries, _ = r.events(&t, after, page); len(entries) == page {
			err = nil
		}
		return entries, previous, err
	case after > t.last:
		missing := fmt.Errorf("room %s ends at event %d, before %d: %w", name, t.last, after, log.ErrNotFound)
		return nil, previous, cmp.Or(r.d.heads.check(name, &t, r.hash), missing)
	}
	previous, entries, err = r.events(&t, after, page)
	return entries, previous, cmp.Or(err, r.checkPage(&t, after, page, entries))
}

// events returns up to page stored entries and the hash before them.
func (r *reader) events(t *tail, after uint64, page int) (previous [32]byte, entries []log.Entry, err error) {
	if previous, err = r.hash(t, after); err != nil {
		return previous, nil, err
	}
	err = r.page.each(func(row []driver.Value) error {
		e, err := scanEntry(row)
		if err != nil {
			return log.Corrupt(t.name, after+1+uint64(len(entries)), err.Error())
		}
		entries = append(entries, e)
		return nil
	}, key(t.id, after), key(t.id, maxSeq), int64(page))
	if err != nil {
		err = blame(err, t.name, after+1+uint64(len(entries)))
	}
	return previous, entries, err
}

// checkPage checks that no entry is missing at the end of a page, and that the
// last page ends where the index and the head of the room do. A gap within the
// page is left to rows.Verified.
func (r *reader) checkPage(t *tail, after uint64, page int, entries []log.Entry) error {
	n := uint64(len(entries))
	if expect := min(uint64(page), t.last-after); n < expect {
		seq := after + n + 1
		for i := range entries {
			if want := after + 1 + uint64(i); entries[i].Seq != want {
				seq = want
				break
			}
		}
		return log.Corrupt(t.name, seq, fmt.Sprintf("event %d is missing", seq))
	}
	if after+n < t.last {
		return nil
	}
	switch {
	case after+n > t.last:
		return log.Corrupt(t.name, t.last, "there are events after the one that the index names as the last")
	case n > 0 && entries[n-1].Seq == t.last && entries[n-1].Hash != t.hash:
		return log.Corrupt(t.name, t.last, "it is not the event that the index names as the last")
	case n < uint64(page): // the caller is told that the log ends here
		return r.d.heads.check(t.name, t, r.hash)
	}
	return nil
}

// blame turns SQLite's word that the file is damaged into one of where.
func blame(err error, room string, seq uint64) error {
	if primary(err) == codes.SQLITE_CORRUPT {
		return log.Corrupt(room, seq, "a page that it needs is damaged: "+err.Error())
	}
	return err
}

// scanEntry takes a row of the table events. The id is kept in Event until
// rows.Verified has compared it with the body. Raw is the stub of a redacted event.
func scanEntry(row []driver.Value) (log.Entry, error) {
	var e log.Entry
	var k int64
	var b []byte
	if !get(row[0], &k) || !get(row[1], &e.Event.ID) || !get(row[2], &b) || !get(row[3], &e.Raw) {
		return e, errors.New("its row has wrong types")
	}
	e.Seq = uint64(k) & maxSeq
	e.Tok = e.Seq
	return e, rows.Split(b, e.Raw, &e)
}

// Rooms implements [log.Reader].
func (d *DB) Rooms(ctx context.Context) ([]log.Info, error) {
	var infos []log.Info
	err := d.read(ctx, func(r *reader) error {
		return r.list("select "+columnsOfRoom+" from rooms order by name", func(row []driver.Value) error {
			t, err := scanTail(row)
			infos = append(infos, log.Info{
				Room: t.name, Last: t.last, Updated: rows.Time(t.updated), Wake: rows.Time(t.wake), Bytes: t.bytes, Damage: err,
			})
			return err
		})
	})
	infos, short := d.checkHeads(ctx, infos)
	slices.SortStableFunc(infos, func(a, b log.Info) int { return strings.Compare(a.Room, b.Room) })
	return infos, errors.Join(err, short)
}

// Due implements [log.Reader]; the room that has waited longest comes first.
func (d *DB) Due(ctx context.Context, now time.Time) ([]string, error) {
	var names []string
	err := d.read(ctx, func(r *reader) error {
		return r.list("select name from rooms where wake is not null and wake <= ? order by wake, name", func(row []driver.Value) error {
			var name string
			if get(row[0], &name) {
				names = append(names, name)
			}
			return nil
		}, rows.Nanos(now))
	})
	return names, err
}
