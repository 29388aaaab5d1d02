package jetstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// Rooms implements [log.Reader]. It lists the rooms that have messages or heads, and
// reads the last message of each.
func (d *DB) Rooms(ctx context.Context) ([]log.Info, error) {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	names, err := d.names(ctx)
	if err != nil {
		return nil, err
	}
	infos := make([]log.Info, len(names))
	errs := make([]error, len(names))
	each(len(names), func(i int) {
		infos[i], errs[i] = d.info(ctx, names[i])
	})
	var all []log.Info
	var damage []error
	for i := range infos {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if infos[i].Damage != nil {
			damage = append(damage, infos[i].Damage)
		}
		if infos[i].Room != "" {
			all = append(all, infos[i])
		}
	}
	return all, errors.Join(damage...)
}

// parallel is how many requests are in flight at once where there are many to make.
const parallel = 64

// each runs run for 0 to n-1.
func each(n int, run func(int)) {
	var all sync.WaitGroup
	for first := range min(n, parallel) {
		all.Go(func() {
			for i := first; i < n; i += parallel {
				run(i)
			}
		})
	}
	all.Wait()
}

// names returns the rooms with messages or heads, sorted.
func (d *DB) names(ctx context.Context) ([]string, error) {
	streams := append([]string{d.stream(indexStream)}, d.shards...)
	found := make([][]string, len(streams))
	errs := make([]error, len(streams))
	each(len(streams), func(i int) {
		filter := d.prefix + "." + roomStream + ".*.*"
		if i == 0 {
			filter = d.prefix + ".head.*"
		}
		found[i], errs[i] = d.subjects(ctx, streams[i], filter)
		if errors.Is(errs[i], errNoStream) {
			errs[i] = lost(streams[i])
		}
	})
	if err := errors.Join(errs...); err != nil {
		if errors.Is(err, log.ErrCorrupt) {
			return nil, err
		}
		return nil, unreachable("streams "+d.prefix, err)
	}
	var names []string
	for _, subject := range slices.Concat(found...) {
		if name, ok := decodeName(subject[strings.LastIndexByte(subject, '.')+1:]); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// info returns a room's entry in the index, the zero Info when there is no such room.
func (d *DB) info(ctx context.Context, name string) (log.Info, error) {
	last, err := d.tail(ctx, name)
	if errors.Is(err, log.ErrCorrupt) {
		head, _ := d.readHead(ctx, name) // a lower bound
		return log.Info{Room: name, Last: head.Seq, Damage: err}, nil
	}
	if err != nil || last.state.seq == 0 {
		return log.Info{}, err
	}
	s := last.state
	return log.Info{Room: name, Last: s.seq, Updated: rows.Time(s.updated), Wake: rows.Time(s.wake), Bytes: s.bytes}, nil
}

// Due implements [log.Reader].
func (d *DB) Due(ctx context.Context, now time.Time) ([]string, error) {
	rooms, err := d.Rooms(ctx)
	var due []string
	for _, r := range rooms {
		if !r.Wake.IsZero() && !r.Wake.After(now) {
			due = append(due, r.Room)
		}
	}
	if rooms != nil && errors.Is(err, log.ErrCorrupt) {
		err = nil // Rooms reports it
	}
	return due, err
}
