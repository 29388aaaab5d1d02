package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// A node is this handle as a holder of locks and as a member. Its lease is one message, which
// it stores again every third of the lease's time. So a process that holds 10,000 rooms writes
// as little as one that holds one.
type node struct {
	id       string
	renewals *time.Ticker // when the lease is stored again
	storing  sync.Mutex   // held while it is stored: an older info must not come after a newer one

	mu      sync.Mutex
	held    map[string]uint64 // by room: the epoch of the lock
	running bool              // the lease is stored
	info    []byte            // what the handle announces; nil for one that only holds locks
}

// A lockRow is the stored lock of a room. It is held while the lease of its holder lasts.
// An epoch is never used twice in a room: who unlocks does so with the epoch of the lock.
type lockRow struct {
	Epoch  uint64 `json:"epoch"`
	Holder string `json:"holder,omitempty"` // id of a node; empty when free
}

// A nodeRow is the stored lease of a node.
type nodeRow struct {
	Host string `json:"host"`
	PID  int    `json:"pid"`
	Info []byte `json:"info"` // what a member announces; null for a handle that only holds locks

	at  time.Time // when the servers stored it
	seq uint64    // of its message
}

func (r nodeRow) String() string { return fmt.Sprintf("process %d of %s", r.PID, r.Host) }

func (n *node) holds(room string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.held[room] != 0
}

// Lock implements [log.Appender]. A lock only decides which process tries to run a room: an
// append is safe without it, because it expects the room's last message.
func (d *DB) Lock(ctx context.Context, name string) (unlock func(), err error) {
	if err := log.CheckName(name); err != nil {
		return nil, err
	}
	ctx, done, err := d.beginWriting(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := d.retry(ctx, func() error { return d.keepLease(ctx) }); err != nil {
		return nil, unreachable("room "+name, err)
	}
	for end := time.Now().Add(d.timeout); ; {
		epoch, err := d.tryLock(ctx, name)
		if errors.Is(err, errWrongLast) || errors.Is(err, errNoAnswer) && time.Now().Before(end) {
			continue // another process has just taken or freed it, or this one has it
		}
		if err != nil {
			return nil, err
		}
		return sync.OnceFunc(func() { d.unlock(name, epoch) }), nil
	}
}

// tryLock takes the lock if it is free.
func (d *DB) tryLock(ctx context.Context, name string) (epoch uint64, err error) {
	row, seq, err := d.readLock(ctx, name)
	if err != nil {
		return 0, err
	}
	switch {
	case d.node.holds(name):
		return 0, locked(name, "this process")
	case row.Holder != "" && row.Holder != d.node.id:
		if by, alive, err := d.alive(ctx, row.Holder); err != nil {
			return 0, err
		} else if alive {
			return 0, locked(name, by.String())
		}
	}
	row = lockRow{Epoch: row.Epoch + 1, Holder: d.node.id}
	// Two goroutines of this process may be here: the stored message decides.
	if _, err := d.putLock(ctx, name, row, seq); errors.Is(err, errWrongLast) {
		return 0, err
	} else if err != nil {
		return 0, unreachable("room "+name, err)
	}
	d.node.mu.Lock()
	defer d.node.mu.Unlock()
	if d.node.held == nil {
		d.node.held = map[string]uint64{}
	}
	d.node.held[name] = row.Epoch
	return row.Epoch, nil
}

func locked(name, by string) error {
	return &problem.Error{
		Code: "LOG-LOCKED", What: fmt.Sprintf("room %s is held by %s", name, by), Where: "room " + name, Kind: log.ErrLocked,
		Fix: "end that process, wait for it, or use its room",
	}
}

// readLock returns the lock of a room and the number of its message.
func (d *DB) readLock(ctx context.Context, name string) (row lockRow, seq uint64, err error) {
	m, err := d.last(ctx, d.stream(indexStream), d.subject("lock", name))
	if isNotFound(err) {
		return row, 0, nil
	}
	if err != nil {
		return row, 0, unreachable("room "+name, err)
	}
	if err := json.Unmarshal(m.Data, &row); err != nil {
		return row, 0, log.Corrupt(name, 0, "its lock is damaged")
	}
	return row, m.Seq, nil
}

func (d *DB) putLock(ctx context.Context, name string, row lockRow, expected uint64) (uint64, error) {
	data, err := json.Marshal(row)
	if err != nil {
		return 0, err
	}
	return d.publish(ctx, d.subject("lock", name), data, expected)
}

// unlock frees the lock with that epoch. If the servers cannot be reached it is free when
// this process ends or takes it again.
func (d *DB) unlock(name string, epoch uint64) {
	d.node.mu.Lock()
	mine := d.node.held[name] == epoch
	d.node.mu.Unlock()
	if !mine || d.life.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(d.life, d.timeout)
	defer cancel()
	d.free(ctx, name, epoch)
	d.node.mu.Lock()
	defer d.node.mu.Unlock()
	if d.node.held[name] == epoch {
		delete(d.node.held, name)
	}
	d.forgetRoom(name)
}

// free stores that the lock is free, if it is still the one with that epoch.
func (d *DB) free(ctx context.Context, name string, epoch uint64) {
	row, seq, err := d.readLock(ctx, name)
	if err == nil && row.Epoch == epoch && row.Holder == d.node.id {
		d.putLock(ctx, name, lockRow{Epoch: epoch}, seq)
	}
}

// alive reports whether a node has a lease, and where it runs.
func (d *DB) alive(ctx context.Context, id string) (row nodeRow, alive bool, err error) {
	row, err = d.readLease(ctx, id)
	if isNotFound(err) {
		return row, false, nil
	}
	var now time.Time
	if err == nil {
		now, err = d.now(ctx)
	}
	if err != nil {
		return row, false, unreachable("stream "+d.stream(indexStream), err)
	}
	return row, d.seen.lasts(id, row, now, d.lease), nil
}

// readLease returns the lease of a node. errNoMessage: it has none.
func (d *DB) readLease(ctx context.Context, id string) (row nodeRow, err error) {
	m, err := d.last(ctx, d.stream(indexStream), d.subject("node", id))
	if err != nil {
		return row, err
	}
	if err := json.Unmarshal(m.Data, &row); err != nil {
		row.Host = "an unknown host"
	}
	row.at, row.seq = m.Time, m.Seq
	return row, nil
}

// now returns the time by the servers' clock.
func (d *DB) now(ctx context.Context) (time.Time, error) {
	var info streamInfo
	err := d.call(ctx, "INFO", d.stream(indexStream), struct{}{}, &info)
	return info.Time, err
}

// keepLease stores the lease of a handle that has none.
func (d *DB) keepLease(ctx context.Context) error {
	d.node.mu.Lock()
	running := d.node.running
	d.node.mu.Unlock()
	if running {
		return nil
	}
	return d.startLease(ctx)
}

// startLease stores the lease, and starts the goroutine that renews it.
func (d *DB) startLease(ctx context.Context) error {
	if err := d.putLease(ctx); err != nil {
		return err
	}
	d.node.mu.Lock()
	defer d.node.mu.Unlock()
	if !d.node.running && d.life.Err() == nil {
		d.node.running = true
		d.workers.Go(d.renew)
	}
	return nil
}

func (d *DB) putLease(ctx context.Context) error {
	d.node.storing.Lock()
	defer d.node.storing.Unlock()
	d.node.mu.Lock()
	info := d.node.info
	d.node.mu.Unlock()
	host, _ := os.Hostname() // for messages only
	data, err := json.Marshal(nodeRow{Host: host, PID: os.Getpid(), Info: info})
	if err != nil {
		return err
	}
	_, err = d.publish(ctx, d.subject("node", d.node.id), data, anySeq)
	return err
}

// renew keeps the lease until the log is closed. A renewal that fails is tried again at
// once: when the servers are back, the other processes must see it before they take the
// rooms. If they take them, this process is fenced.
func (d *DB) renew() {
	for {
		select {
		case <-d.life.Done():
			return
		case <-d.node.renewals.C:
		}
		ctx, cancel := context.WithTimeout(d.life, d.lease/3)
		d.retry(ctx, func() error { return d.putLease(ctx) })
		cancel()
	}
}

// freeAll gives up the lease, and with it all locks. It runs after life has ended.
func (d *DB) freeAll() {
	d.node.mu.Lock()
	defer d.node.mu.Unlock()
	clear(d.node.held)
	if d.node.running && d.nc.IsConnected() {
		ctx, cancel := context.WithTimeout(context.Background(), d.timeout)
		defer cancel()
		d.purge(ctx, d.stream(indexStream), d.subject("node", d.node.id))
	}
}
