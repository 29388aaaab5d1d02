package postgres

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// locks are what this handle holds, by room. The number is that of the call of Lock, so
// that an old unlock frees no later lock.
type locks struct {
	mu    sync.Mutex
	rooms map[string]int64
	calls int64
	info  []byte // what the handle has announced; nil before
}

// begin notes a lock before it is taken; false: this handle holds it already.
func (l *locks) begin(room string) (claim int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, held := l.rooms[room]; held {
		return 0, false
	}
	if l.rooms == nil {
		l.rooms = map[string]int64{}
	}
	l.calls++
	l.rooms[room] = l.calls
	return l.calls, true
}

func (l *locks) end(room string, claim int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rooms[room] == claim {
		delete(l.rooms, room)
	}
}

func (l *locks) held(room string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, held := l.rooms[room]
	return held
}

// used reports whether a lock is held, or was since the log was opened.
func (l *locks) used() (now, ever bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.rooms) > 0, l.calls > 0
}

// Lock implements [log.Appender]. It does not wait. The lock is a lease: it holds for as
// long as this handle renews its row in moot_holders, and ends when the handle is closed,
// when its process has died on this machine, or when it has not been renewed for
// [Config].Lease, as of a machine that has died.
func (d *DB) Lock(ctx context.Context, room string) (unlock func(), err error) {
	if err := log.CheckName(room); err != nil {
		return nil, err
	}
	claim, ok := d.locks.begin(room)
	if !ok {
		return nil, lockedError(room, fmt.Sprintf("this process (%d)", os.Getpid()))
	}
	err = d.change(ctx, "locking", func(ctx context.Context) error {
		if done, err := d.takeFree(ctx, room, claim); done || err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return d.take(ctx, tx, room, claim) })
	})
	if err != nil {
		d.locks.end(room, claim)
		return nil, err
	}
	return sync.OnceFunc(func() {
		d.locks.end(room, claim)
		d.free("delete from moot_locks where room = $1 and holder = $2 and claim = $3", room, d.id, claim)
	}), nil
}

// takeFree takes a lock that has no row, if the lease of this handle lasts for a while. It does
// not renew the lease, whose row is one for all locks: each lock would wait for the commit of
// another one.
func (d *DB) takeFree(ctx context.Context, room string, claim int64) (done bool, err error) {
	tag, err := d.pool.Exec(ctx, `insert into moot_locks(room, holder, claim) select cast($1 as text), id, cast($3 as bigint) from moot_holders
		where id = $2 and until > current_timestamp + $4 * interval '1 second' on conflict (room) do nothing`, room, d.id, claim, (d.lease / 3).Seconds())
	return tag.RowsAffected() == 1, err
}

// take takes a lock that no live holder has. The row of the lock orders those who try; each
// statement sees what was committed before it.
func (d *DB) take(ctx context.Context, tx pgx.Tx, room string, claim int64) error {
	if err := d.hold(ctx, tx); err != nil {
		return err
	}
	done, err := tx.Exec(ctx, "insert into moot_locks(room, holder, claim) values($1, $2, $3) on conflict (room) do nothing", room, d.id, claim)
	if err != nil || done.RowsAffected() == 1 {
		return err
	}
	var holder, machine string
	var pid int
	var alive bool
	err = tx.QueryRow(ctx, "select holder from moot_locks where room = $1 for update", room).Scan(&holder)
	if noRow(err) { // freed meanwhile
		return lockedError(room, "another process")
	}
	if err == nil {
		err = tx.QueryRow(ctx, "select machine, pid, until > current_timestamp from moot_holders where id = $1", holder).Scan(&machine, &pid, &alive)
	}
	if err != nil && !noRow(err) {
		return err
	}
	if alive && holder != d.id && !d.died(machine, pid) { // its own is that of a call whose answer was lost
		where := fmt.Sprintf("process %d", pid)
		if machine != d.machine {
			where += " of another machine"
		}
		return lockedError(room, where)
	}
	_, err = tx.Exec(ctx, "update moot_locks set holder = $2, claim = $3 where room = $1", room, d.id, claim)
	return err
}

// died reports whether a process of this machine has ended.
func (d *DB) died(machine string, pid int) bool {
	return machine == d.machine && !rows.Alive(pid)
}

func lockedError(room, by string) error {
	return &problem.Error{
		Code: "LOG-LOCKED", Where: "room " + room, What: fmt.Sprintf("room %s is held by %s", room, by), Kind: log.ErrLocked,
		Fix: "use the room there; or end that process first. If its machine has died, try again after a few seconds",
	}
}

// An execer is a connection, a pool of them or a transaction.
type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// hold renews the lease of this handle. The server's clock counts.
func (d *DB) hold(ctx context.Context, to execer) error {
	_, err := to.Exec(ctx, `insert into moot_holders(id, machine, pid, until, info) values($1, $2, $3, current_timestamp + $4 * interval '1 second', $5)
		on conflict (id) do update set until = excluded.until`, d.id, d.machine, os.Getpid(), d.lease.Seconds(), d.locks.announced())
	return err
}

// renew keeps the lease of this handle until it is closed, while it holds locks or is a
// member.
func (d *DB) renew() {
	defer d.renewals.Stop()
	for {
		select {
		case <-d.closing:
			return
		case <-d.renewals.C:
		}
		if now, _ := d.locks.used(); !now && d.locks.announced() == nil {
			continue
		}
		d.renewOnce()
	}
}

// renewOnce renews the lease, and tries again at once until the next renewal is due: when the
// server is back, other processes must see it before they take the rooms. If they
// take them, the compare-and-set fences this process.
func (d *DB) renewOnce() {
	ctx, cancel := context.WithTimeout(context.Background(), d.lease/3)
	defer cancel()
	for d.hold(ctx, d.pool) != nil {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return
		case <-d.closing:
			return
		}
	}
}

// free deletes rows of locks. A failure leaves them to the end of the lease.
func (d *DB) free(sql string, args ...any) {
	ctx, cancel := context.WithTimeout(context.Background(), d.lease)
	defer cancel()
	_, _ = d.pool.Exec(ctx, sql, args...)
}

// leave gives up all locks, and forgets holders that ended long ago without doing so.
func (d *DB) leave() {
	if _, ever := d.locks.used(); ever || d.locks.announced() != nil {
		d.free("delete from moot_locks where holder = $1", d.id)
		d.free("delete from moot_holders where id = $1 or until < current_timestamp - interval '1 day'", d.id)
	}
}

// Holder returns the id of the process that holds a room, and 0 when none of this machine
// does. The answer may be old when it comes.
func (d *DB) Holder(room string) int {
	ctx, cancel := context.WithTimeout(context.Background(), d.lease)
	defer cancel()
	var pid int
	err := d.pool.QueryRow(ctx, `select h.pid from moot_locks l join moot_holders h on h.id = l.holder
		where l.room = $1 and h.machine = $2 and h.until > current_timestamp`, room, d.machine).Scan(&pid)
	if err != nil || !rows.Alive(pid) {
		return 0
	}
	return pid
}
