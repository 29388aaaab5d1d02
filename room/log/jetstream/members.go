package jetstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// memberKept is how long the lease of a process that ended without removing it is kept.
const memberKept = 24 * time.Hour

// Self implements [log.Members].
func (d *DB) Self() string { return d.node.id }

// Announce implements [log.Members]. After an error the outcome is not known; it can be
// called again.
func (d *DB) Announce(ctx context.Context, info string) error {
	if err := log.CheckInfo(info); err != nil {
		return err
	}
	ctx, done, err := d.beginWriting(ctx)
	if err != nil {
		return err
	}
	defer done()
	d.node.mu.Lock()
	first := d.node.info == nil
	d.node.info = append([]byte{}, info...) // not nil, also when it is empty
	d.node.mu.Unlock()
	err = d.retry(ctx, func() error { return d.startLease(ctx) })
	if err == nil && first {
		err = d.forgetMembers(ctx, memberKept)
	}
	if err != nil {
		return unreachable("registry of processes", err)
	}
	return nil
}

// Members implements [log.Members].
func (d *DB) Members(ctx context.Context) ([]log.Member, error) {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	all, now, err := d.leases(ctx)
	if err != nil {
		return nil, unreachable("registry of processes", err)
	}
	var members []log.Member
	for id, row := range all {
		if d.seen.lasts(id, row, now, d.lease) && row.Info != nil {
			members = append(members, log.Member{ID: id, Info: string(row.Info)})
		}
	}
	slices.SortFunc(members, func(a, b log.Member) int { return strings.Compare(a.ID, b.ID) })
	return members, nil
}

// HeldBy implements [log.Members].
func (d *DB) HeldBy(ctx context.Context, room string) (id string, err error) {
	if err := log.CheckName(room); err != nil {
		return "", err
	}
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	lock, _, err := d.readLock(ctx, room)
	if err != nil || lock.Holder == "" {
		return "", err
	}
	if _, alive, err := d.alive(ctx, lock.Holder); err != nil || !alive {
		return "", err
	}
	return lock.Holder, nil
}

// leases returns all stored leases, by id, and the time of the servers after they were read.
func (d *DB) leases(ctx context.Context) (all map[string]nodeRow, now time.Time, err error) {
	subjects, err := d.subjects(ctx, d.stream(indexStream), d.prefix+".node.*")
	if err != nil {
		return nil, now, err
	}
	all = map[string]nodeRow{}
	var mu sync.Mutex
	errs := make([]error, len(subjects))
	each(len(subjects), func(i int) { // each process that was killed has one, for a day
		id, ok := decodeName(subjects[i][strings.LastIndexByte(subjects[i], '.')+1:])
		if !ok {
			return
		}
		row, err := d.readLease(ctx, id)
		if isNotFound(err) {
			return // removed meanwhile
		}
		errs[i] = err
		mu.Lock()
		defer mu.Unlock()
		all[id] = row
	})
	if err := errors.Join(errs...); err != nil {
		return nil, now, err
	}
	d.seen.keep(all)
	now, err = d.now(ctx)
	return all, now, err
}

// forgetMembers removes leases that were stored longer ago than kept: their processes were
// killed.
func (d *DB) forgetMembers(ctx context.Context, kept time.Duration) error {
	all, now, err := d.leases(ctx)
	if err != nil {
		return err
	}
	for _, row := range all {
		if now.Sub(row.at) < kept {
			continue
		}
		if err := d.erase(ctx, d.stream(indexStream), row.seq); err != nil {
			return err
		}
	}
	return nil
}
