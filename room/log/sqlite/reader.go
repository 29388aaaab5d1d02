package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/room/log"
	codes "modernc.org/sqlite/lib"
)

// maxReaders is how many connections read at once.
const maxReaders = 4

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
