package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// defaultPage is how many entries Read returns to a caller that gives no bound.
const defaultPage = 1000

// tail returns the row of a room, or ErrNotFound.
func (d *DB) tail(ctx context.Context, name string) (tail, error) {
	var s scannedTail
	err := d.pool.QueryRow(ctx, "select "+columnsOfRoom+" from moot_rooms r where r.name = $1", name).Scan(s.fields()...)
	if noRow(err) {
		return tail{}, fmt.Errorf("room %s: %w", name, log.ErrNotFound)
	}
	if err != nil {
		return tail{}, err
	}
	return s.checked()
}

// Tail implements [log.Reader]. The tail of a room that does not exist is the zero Pos.
// The last event is compared with the room's row.
func (d *DB) Tail(ctx context.Context, name string) (p log.Pos, err error) {
	err = d.read(ctx, func(ctx context.Context) error {
		p = log.Pos{}
		v, err := d.view(ctx, name, 0, 1, true)
		if errors.Is(err, log.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(v.entries) == 0 || v.entries[0].Hash != v.tail.hash {
			return notLast(&v.tail)
		}
		p = v.tail.pos()
		return nil
	})
	return p, err
}

func notLast(t *tail) error {
	return log.Corrupt(t.name, uint64(t.last), "it is not the event that the index names as the last")
}

// Read implements [log.Reader]. A page of 0 is 1,000 entries. It is [log.ErrNotFound] to
// read a room that does not exist, or from a place after its tail.
func (d *DB) Read(ctx context.Context, name string, after log.Pos, page int) ([]log.Entry, error) {
	if page <= 0 {
		page = defaultPage
	}
	var entries []log.Entry
	err := d.read(ctx, func(ctx context.Context) error {
		v, err := d.view(ctx, name, int64(after.Seq), page, false)
		whole, damaged := rows.Verified(name, after.Seq, v.previous, v.entries)
		entries = v.entries[:whole]
		return cmp.Or(damaged, err)
	})
	return entries, err
}

// A view is what one statement has read of a room: its row, and entries as they are stored.
type view struct {
	tail     tail
	previous [32]byte // the chain's hash before the entries
	entries  []log.Entry
}

// view reads up to page entries after a place, or the last one. With an error it returns
// the entries before the damage. It is one statement, so that all of it is of one moment.
func (d *DB) view(ctx context.Context, name string, after int64, page int, last bool) (v view, err error) {
	sql, args := "e.seq >= $2 where r.name = $1 order by e.seq limit $3", []any{name, after, page + 1}
	if last {
		sql, args = "e.seq = r.last where r.name = $1", args[:1]
	}
	found, err := d.pool.Query(ctx, "select e.seq, e.id, e.proof, e.raw, "+columnsOfRoom+" from moot_rooms r left join moot_events e on e.room = r.id and "+sql, args...)
	if err != nil {
		return v, err
	}
	entries, s, err := scanEntries(found)
	if s == nil {
		return v, cmp.Or(err, fmt.Errorf("room %s: %w", name, log.ErrNotFound))
	}
	t, damaged := s.checked()
	v.tail, v.entries = t, entries
	if after > 0 {
		if len(entries) > 0 && entries[0].Seq == uint64(after) {
			v.previous, v.entries = entries[0].Hash, entries[1:]
		} else if damaged == nil && after > t.last {
			v.entries = nil
			return v, fmt.Errorf("room %s ends at event %d, before %d: %w", name, t.last, after, log.ErrNotFound)
		} else {
			v.entries = nil
			return v, cmp.Or(err, log.Corrupt(name, uint64(after), fmt.Sprintf("event %d is missing", after)))
		}
	}
	v.entries = v.entries[:min(page, len(v.entries))]
	switch {
	case err != nil:
		return v, err
	case damaged != nil && !last && len(v.entries) == page: // the events may be intact
		return v, nil
	case damaged != nil || last:
		return v, damaged
	}
	return v, checkPage(&t, uint64(after), page, v.entries)
}

// checkPage checks that no entry is missing at the end of a page, and that the last page
// ends where the room's row does. A gap within the page is left to rows.Verified.
func checkPage(t *tail, after uint64, page int, entries []log.Entry) error {
	n, last := uint64(len(entries)), uint64(t.last)
	if expect := min(uint64(page), last-min(after, last)); n < expect {
		seq := after + n + 1
		for i := range entries {
			if want := after + 1 + uint64(i); entries[i].Seq != want {
				seq = want
				break
			}
		}
		return log.Corrupt(t.name, seq, fmt.Sprintf("event %d is missing", seq))
	}
	switch {
	case after+n > last:
		return log.Corrupt(t.name, last, "there are events after the one that the index names as the last")
	case n > 0 && entries[n-1].Seq == last && entries[n-1].Hash != t.hash:
		return notLast(t)
	}
	return nil
}

// scanEntries reads seq, id, proof and raw of events, and the room's row if the query has
// its columns too: nil if it gave no row at all. The id is kept in Event until rows.Verified
// has compared it with the body. With an error it returns the entries before the damage.
func scanEntries(found pgx.Rows) (entries []log.Entry, s *scannedTail, err error) {
	defer found.Close()
	wide := len(found.FieldDescriptions()) > 4
	for found.Next() {
		var seq *int64
		var id, proof, raw []byte
		into := []any{&seq, &id, &proof, &raw}
		if wide {
			s = &scannedTail{}
			into = append(into, s.fields()...)
		}
		if err := found.Scan(into...); err != nil {
			return entries, s, err
		}
		if seq == nil {
			continue // the room's row alone
		}
		e := log.Entry{Pos: log.Pos{Seq: uint64(*seq), Tok: uint64(*seq)}, Raw: raw}
		e.Event.ID = string(id)
		if split := rows.Split(proof, raw, &e); split != nil {
			name := ""
			if s != nil {
				name = s.name
			}
			return entries, s, log.Corrupt(name, e.Seq, split.Error())
		}
		entries = append(entries, e)
	}
	return entries, s, found.Err()
}

// Rooms implements [log.Reader].
func (d *DB) Rooms(ctx context.Context) ([]log.Info, error) {
	var infos []log.Info
	var damage error
	err := d.read(ctx, func(ctx context.Context) error {
		infos, damage = nil, nil
		found, err := d.pool.Query(ctx, "select "+columnsOfRoom+" from moot_rooms r")
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var s scannedTail
			if err := found.Scan(s.fields()...); err != nil {
				return err
			}
			t, damaged := s.checked()
			damage = errors.Join(damage, damaged)
			infos = append(infos, log.Info{
				Room: t.name, Last: uint64(t.last), Updated: rows.Time(t.updated), Wake: rows.Time(t.wake), Bytes: t.bytes, Damage: damaged,
			})
		}
		return found.Err()
	})
	slices.SortFunc(infos, func(a, b log.Info) int { return strings.Compare(a.Room, b.Room) })
	return infos, errors.Join(err, damage)
}

// Due implements [log.Reader]; the room that has waited longest comes first.
func (d *DB) Due(ctx context.Context, now time.Time) (names []string, err error) {
	err = d.read(ctx, func(ctx context.Context) error {
		found, err := d.pool.Query(ctx, "select name from moot_rooms where wake <> 0 and wake <= $1 order by wake, name", rows.Nanos(now))
		if err != nil {
			return err
		}
		names, err = pgx.CollectRows(found, pgx.RowTo[string])
		return err
	})
	return names, err
}
