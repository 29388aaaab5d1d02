// Package postgres keeps rooms in a PostgreSQL database: the engine for more than one
// machine, where a database server is at hand.
//
// An append is one round trip: a compare-and-set on the room's row and the events, in one
// transaction. The writer whose events come second finds another row and gets
// [log.ErrConflict]. The server's own commit makes the events durable, on a quorum of
// servers where synchronous_standby_names asks for one. An append that waits for standbys
// and is cut off may be stored without them; the retry of an append is therefore answered
// only after another commit, which waits for all commits before it.
//
// Locks are leases: each handle keeps one row alive, and the locks that name it hold for
// as long as it does. They say which process tries; safety is the compare-and-set. The row
// is the entry of the process in the registry, too.
//
// All SQL is plain: tables, transactions and row locks, no extensions, no advisory locks
// and no notifications. Changes by other processes are found by polling.
package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// Config says where the log is.
type Config struct {
	URL      string        // of the database, as libpq reads it: postgres://user@host/db
	ReadOnly bool          // never change the log
	Poll     time.Duration // how often Follow looks for what other processes appended; 0 is 200 ms
	Lease    time.Duration // after which the locks of a process that has died end; 0 is 6 s
	RetryFor time.Duration // how long a call waits for a server that cannot be reached; 0 is 10 s
}

// limit bounds one call. Without it, one on a connection that was cut silently would wait
// until TCP gives up.
const limit = 30 * time.Second

// A DB is an open log. It is safe for concurrent use.
type DB struct {
	pool     *pgxpool.Pool
	where    string // the address without the password, for errors
	readOnly bool
	poll     time.Duration
	lease    time.Duration
	retryFor time.Duration

	id       string // of this handle, as a holder of locks
	machine  string // where process ids mean the same
	tails    tails
	news     rows.News
	locks    locks
	renewals *time.Ticker // when the lease is renewed

	closing chan struct{} // closed by Close
	once    sync.Once
	workers sync.WaitGroup
}

var (
	_ log.Log     = (*DB)(nil)
	_ log.Members = (*DB)(nil)
)

// Open opens the log at c.URL, and makes its tables when there are none. The caller must
// Close it. It checks that the server keeps what it acknowledges: see LOG-UNSAFE.
func Open(c Config) (*DB, error) {
	d := &DB{
		readOnly: c.ReadOnly, poll: c.Poll, lease: c.Lease, retryFor: c.RetryFor,
		id: rand.Text(), machine: machine(), closing: make(chan struct{}),
	}
	for t, standard := range map[*time.Duration]time.Duration{
		&d.poll: 200 * time.Millisecond, &d.lease: 6 * time.Second, &d.retryFor: 10 * time.Second,
	} {
		if *t <= 0 {
			*t = standard
		}
	}
	d.renewals = time.NewTicker(d.lease / 3)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := d.connect(ctx, c.URL); err != nil {
		return nil, err
	}
	prepare := d.migrate
	if c.ReadOnly {
		prepare = d.checkVersion
	}
	if err := prepare(ctx); err != nil {
		d.pool.Close()
		return nil, d.explain("opening the log", err)
	}
	d.workers.Go(d.watch)
	d.workers.Go(d.renew)
	return d, nil
}

// Close waits for what is being written, gives up all locks and ends every Follow.
func (d *DB) Close() error {
	d.once.Do(func() {
		close(d.closing)
		d.workers.Wait()
		d.leave()
		d.pool.Close()
	})
	return nil
}

// do calls f within the limit of a call. It calls f again for as long as no connection can
// be made, up to d.retryFor: then nothing was sent.
func (d *DB) do(ctx context.Context, doing string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for began := time.Now(); ; {
		select {
		case <-d.closing:
			return errClosed
		default:
		}
		err := f(ctx)
		if !unreachable(err) || ctx.Err() != nil || time.Since(began) >= d.retryFor {
			return d.explain(doing, err)
		}
		select {
		case <-ctx.Done():
		case <-d.closing:
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// change is do for a call that writes.
func (d *DB) change(ctx context.Context, doing string, f func(context.Context) error) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	return d.do(ctx, doing, f)
}

// read is do for a call that only reads. It is repeated when its connection was cut, up to
// d.retryFor: after a restart of the server each connection of the pool is cut.
func (d *DB) read(ctx context.Context, f func(context.Context) error) error {
	for began := time.Now(); ; {
		err := d.do(ctx, "reading", f)
		if !errors.Is(err, log.ErrUnknown) || ctx.Err() != nil || time.Since(began) >= d.retryFor {
			return err
		}
	}
}

// machine names this machine since it was started, and where Linux tells it, the set of
// process ids that this process sees. Two containers may have one host name.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pids, _ := os.Readlink("/proc/self/ns/pid")
	return fmt.Sprintf("%s %.36s %s", name, boot, pids)
}
