// Package sqlite keeps rooms in one SQLite file in the data folder. It is the
// engine for one machine.
//
// One goroutine writes. It gathers the appends of all rooms into one transaction
// with one fsync (group commit). An append returns when its transaction is on
// stable storage. Several processes may share a file: a
// transaction takes the database's write lock when it begins, and each room
// has a lock of its own. Readers take no lock and see the last commit. A long
// write-ahead log is moved into the database on another connection, while the
// writer goes on.
//
// The last event of each room is also written to a file of its own, the file of
// heads, before an append returns. It shows when the database has lost its end.
//
// After a failed write the handle acknowledges nothing any more, because the state
// of the kernel's buffers is not known. A new handle finds the last state that was
// on stable storage.
package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// FileName is the name of the database in the data folder.
const FileName = "moot.db"

// Config says where the log is.
type Config struct {
	Dir      string        // data folder; made with mode 0700 when missing
	ReadOnly bool          // never change the log; [log.ErrNotFound] when there is none
	Poll     time.Duration // how often Follow looks for what other processes appended, and heads are made durable; 0 is 200 ms
	Rest     time.Duration // without a commit, after which the write-ahead log is moved into the database; 0 is 2 s
	Pages    int           // length of the write-ahead log, in pages of 4 KiB, at which it is moved without a rest; 0 is 4000
}

// A DB is an open log. It is safe for concurrent use.
type DB struct {
	dir, path string
	readOnly  bool
	poll      time.Duration
	rest      time.Duration
	pages     int

	queue   chan *request // to the writer
	closing chan struct{} // closed by Close
	done    chan struct{} // closed when the writer, or the poller, has ended
	once    sync.Once
	end     error // of the writer; read after done

	readers chan *reader // idle ones; a nil is a place for a new one
	news    rows.News
	locks   locks
	heads   headFile
}

var _ log.Log = (*DB)(nil)

// Open opens the log in c.Dir and makes it when there is none. The caller
// must Close it.
func Open(c Config) (*DB, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening log: %w", err)
	}
	d := &DB{
		dir: dir, path: filepath.Join(dir, FileName), readOnly: c.ReadOnly, poll: c.Poll, rest: c.Rest, pages: c.Pages,
		queue: make(chan *request, queueLength), closing: make(chan struct{}), done: make(chan struct{}),
		readers: make(chan *reader, maxReaders),
		heads:   headFile{path: filepath.Join(dir, HeadsName)},
	}
	if d.poll <= 0 {
		d.poll = 200 * time.Millisecond
	}
	if d.rest <= 0 {
		d.rest = 2 * time.Second
	}
	if d.pages <= 0 {
		d.pages = checkpointPages
	}
	for range maxReaders {
		d.readers <- nil
	}
	start := d.startWriter
	if c.ReadOnly {
		start = d.startPoller
	}
	if err := start(); err != nil {
		d.locks.releaseAll()
		return nil, err
	}
	return d, nil
}

// Close waits for what is being written, gives up all locks and ends every
// Follow. Appends that have not begun answer with an error.
func (d *DB) Close() error {
	d.once.Do(func() { close(d.closing) })
	<-d.done
	err := d.end
	for range maxReaders {
		if r := <-d.readers; r != nil {
			err = errors.Join(err, r.Close())
		}
	}
	for range maxReaders { // a second Close, and reads after it, find the places
		d.readers <- nil
	}
	d.locks.releaseAll()
	return err
}
