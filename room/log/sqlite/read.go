package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/room/log"
)

const (
	maxReaders  = 4    // connections that read at once
	defaultPage = 1000 // entries, for a caller that gives no bound
)

// A reader is a connection for reading, used by one goroutine at a time.
type reader struct {
	*conn
	begin, commit, find, page, hashAt *statement
}

func (d *DB) openReader() (*reader, error) {
	c, err := dialReader(d.path, d.readOnly)
	if err != nil {
		return nil, err
	}
	r := &reader{conn: c}
	for _, p := range []struct {
		to  **statement
		sql string
	}{
		{&r.begin, "begin"},
		{&r.commit, "commit"},
		{&r.find, "select " + columnsOfRoom + " from rooms where name = ?"},
		{&r.page, "select key, id, proof, raw from events where key > ? and key <= ? order by key limit ?"},
		{&r.hashAt, "select proof from events where key = ?"},
	} {
		if *p.to, err = c.prepare(p.sql); err != nil {
			return nil, errors.Join(err, c.Close())
		}
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
	if primary(err) == cantOpenCode && emptyFile(path+"-wal") {
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

// Tail implements [log.Reader]. The tail of a room that does not exist is the
// zero Pos. The last event is looked at, so that a log which lost its end is
// found out here.
func (d *DB) Tail(ctx context.Context, name string) (log.Pos, error) {
	var p log.Pos
	err := d.read(ctx, func(r *reader) error {
		t, err := r.room(name)
		if err != nil {
			if errors.Is(err, log.ErrNotFound) {
				return nil
			}
			return err
		}
		if err := r.checkEnd(&t); err != nil {
			return err
		}
		p = log.Pos{Seq: t.last, Tok: t.last}
		return nil
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
	var previous [32]byte
	err := d.read(ctx, func(r *reader) (err error) {
		t, err := r.room(name)
		if err != nil {
			return err
		}
		if after.Seq > t.last {
			return fmt.Errorf("room %s ends at event %d, before %d: %w", name, t.last, after.Seq, log.ErrNotFound)
		}
		if previous, err = r.hash(&t, after.Seq); err != nil {
			return err
		}
		entries, err = r.scan(&t, after.Seq, page)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := open(name, after.Seq, previous, entries); err != nil {
		return nil, err
	}
	return entries, nil
}

// scan returns up to max entries as they are stored, and checks that none is
// missing at the end of the page.
func (r *reader) scan(t *tail, after uint64, page int) ([]log.Entry, error) {
	expect := min(uint64(page), t.last-after)
	entries := make([]log.Entry, 0, expect)
	err := r.page.each(func(row []driver.Value) error {
		e, err := scanEntry(row)
		if err != nil {
			return log.Corrupt(t.name, after+1+uint64(len(entries)), err.Error())
		}
		entries = append(entries, e)
		return nil
	}, key(t.id, after), key(t.id, maxSeq), int64(page))
	if err != nil {
		return nil, blame(err, t.name, after+1+uint64(len(entries)))
	}
	switch n := uint64(len(entries)); {
	case n < expect:
		return nil, log.Corrupt(t.name, after+n+1, fmt.Sprintf("event %d is missing", after+n+1))
	case n > expect:
		return nil, log.Corrupt(t.name, t.last, "there are events after the one that the index names as the last")
	}
	if n := len(entries); n > 0 && entries[n-1].Seq == t.last && entries[n-1].Hash != t.hash {
		return nil, log.Corrupt(t.name, t.last, "it is not the event that the index names as the last")
	}
	return entries, nil
}

// blame turns SQLite's word that the file is damaged into one of where.
func blame(err error, room string, seq uint64) error {
	if code := primary(err); code == corruptCode {
		return log.Corrupt(room, seq, "the page that holds it is damaged: "+err.Error())
	}
	return err
}

// scanEntry takes a row of the table events. The id is kept in Event until
// open has compared it with the body. Raw is the stub of a redacted event.
func scanEntry(row []driver.Value) (log.Entry, error) {
	var e log.Entry
	var k int64
	var b []byte
	if !get(row[0], &k) || !get(row[1], &e.Event.ID) || !get(row[2], &b) || !get(row[3], &e.Raw) {
		return e, errors.New("its row has wrong types")
	}
	e.Seq = uint64(k) & maxSeq
	e.Tok = e.Seq
	return e, split(b, e.Raw, &e)
}
