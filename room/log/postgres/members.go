package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/folkmoot/moot/room/log"
)

// announced returns what this handle announces, nil for one that only holds locks.
func (l *locks) announced() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.info
}

func (l *locks) announce(info []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.info = info
}

// Self implements [log.Members].
func (d *DB) Self() string { return d.id }

// Announce implements [log.Members]. After an error the outcome is not known; it can be
// called again.
func (d *DB) Announce(ctx context.Context, info string) error {
	if err := log.CheckInfo(info); err != nil {
		return err
	}
	return d.change(ctx, "announcing", func(ctx context.Context) error {
		stored := append([]byte{}, info...) // not nil, also when it is empty
		d.locks.announce(stored)            // first: a row that may be stored is renewed, and removed by Close
		return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
			if err := d.hold(ctx, tx); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "update moot_holders set info = $2 where id = $1", d.id, stored)
			return err
		})
	})
}

// A holder is a row of moot_holders.
type holder struct {
	id, machine string
	pid         int
	info        []byte
}

// Members implements [log.Members]. A process of this machine that has died is none.
func (d *DB) Members(ctx context.Context) (members []log.Member, err error) {
	all, err := d.holders(ctx, "select id, machine, pid, info from moot_holders where info is not null and until > current_timestamp")
	for _, h := range all {
		members = append(members, log.Member{ID: h.id, Info: string(h.info)})
	}
	slices.SortFunc(members, func(a, b log.Member) int { return strings.Compare(a.ID, b.ID) })
	return members, err
}

// HeldBy implements [log.Members].
func (d *DB) HeldBy(ctx context.Context, room string) (id string, err error) {
	if err := log.CheckName(room); err != nil {
		return "", err
	}
	all, err := d.holders(ctx, `select h.id, h.machine, h.pid, h.info from moot_locks l join moot_holders h on h.id = l.holder
		where l.room = $1 and h.until > current_timestamp`, room)
	if len(all) == 0 {
		return "", err
	}
	return all[0].id, err
}

// holders returns the rows of a query, without those of processes of this machine that have
// died.
func (d *DB) holders(ctx context.Context, sql string, args ...any) (all []holder, err error) {
	err = d.read(ctx, func(ctx context.Context) error {
		found, err := d.pool.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(found, func(row pgx.CollectableRow) (h holder, err error) {
			return h, row.Scan(&h.id, &h.machine, &h.pid, &h.info)
		})
		return err
	})
	return slices.DeleteFunc(all, func(h holder) bool { return d.died(h.machine, h.pid) }), err
}
