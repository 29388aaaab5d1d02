package sqlite

import (
	"database/sql/driver"
	"math"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/rows"
)

func TestNanos(t *testing.T) {
	if n := rows.Nanos(time.Time{}); n != 0 || !rows.Time(n).IsZero() {
		t.Errorf("the zero time is %d", n)
	}
	now := time.Now()
	if got := rows.Time(rows.Nanos(now)); !got.Equal(now) {
		t.Errorf("%v came back as %v", now, got)
	}
	for at, want := range map[time.Time]int64{
		time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC): math.MaxInt64,
		time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC): 1,
	} {
		if got := rows.Nanos(at); got != want {
			t.Errorf("%v is %d, want %d", at, got, want)
		}
	}
}

// FuzzTail checks that a changed row of the index is refused.
func FuzzTail(f *testing.F) {
	f.Add(int64(1), "a", int64(7), []byte("0123456789abcdef0123456789abcdef"), int64(5), int64(6), int64(7), []byte("12345678"), uint8(0))
	f.Add(int64(1), "a", int64(-7), []byte("short"), int64(5), int64(0), int64(-7), []byte{}, uint8(9))
	f.Fuzz(func(t *testing.T, id int64, name string, last int64, hash []byte, updated, wake, bytes int64, sum []byte, other uint8) {
		row := []driver.Value{id, name, last, hash, updated, wake, bytes, sum}
		if other < 8 {
			row[other] = nil
		}
		if got, err := scanTail(row); err == nil && (got.name != name || other < 8 && other != 5) {
			t.Fatalf("%v was taken as %+v", row, got)
		}
		if len(hash) != 32 || other < 8 {
			return
		}
		whole := tail{id: id, name: name, last: uint64(last), hash: [32]byte(hash), updated: updated, wake: wake, bytes: bytes}
		want := whole.sum()
		row[7] = want[:]
		if got, err := scanTail(row); err != nil || got != whole {
			t.Fatalf("%+v came back as %+v, %v", whole, got, err)
		}
	})
}

// FuzzEntry checks that no row makes reading panic, and that an accepted row is a
// link of the chain.
func FuzzEntry(f *testing.F) {
	entries, err := log.Seal(0, []room.Event{logtest.Event("1", "x")})
	if err != nil {
		f.Fatal(err)
	}
	e := &entries[0]
	e.Hash = log.Link([32]byte{}, 1, e.Commit)
	f.Add(key(3, 1), "1", rows.Proof(e, nil), e.Raw)
	stub, err := room.MarshalEvent(e.Event.Redacted())
	if err != nil {
		f.Fatal(err)
	}
	e.Redacted = true
	f.Add(key(3, 1), "1", rows.Proof(e, stub), stub)
	f.Add(int64(-1), "", []byte{}, []byte("{}"))
	f.Fuzz(func(t *testing.T, k int64, id string, proof, raw []byte) {
		e, err := scanEntry([]driver.Value{k, id, proof, raw})
		if err != nil {
			return
		}
		got := []log.Entry{e}
		if _, err := rows.Verified("a", 0, [32]byte{}, got); err != nil {
			return
		}
		if err := log.Check("a", 0, [32]byte{}, got); err != nil || got[0].Event.ID != id {
			t.Fatalf("taken although: %v", err)
		}
	})
}
