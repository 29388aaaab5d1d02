package logtest

import (
	"slices"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
)

func testRooms(t *testing.T, f *fixture) {
	infos, err := f.Rooms(f.ctx)
	if err != nil || len(infos) != 0 {
		t.Fatalf("a new log has %d rooms, %v", len(infos), err)
	}
	start := time.Now().Add(-time.Second)
	wake := time.Date(2027, 1, 2, 3, 4, 5, 678, time.UTC)
	at := f.fill("b", 3)
	_, _, err = f.Append(f.ctx, "b", at, wake, Event("x", "x"))
	must(t, err)
	f.fill("a", 2)
	f.reopen()
	infos, err = f.Rooms(f.ctx)
	must(t, err)
	if len(infos) != 2 || infos[0].Room != "a" || infos[1].Room != "b" {
		t.Fatalf("rooms are %+v, want a and b", infos)
	}
	for i, last := range []uint64{2, 4} {
		bytes := int64(0)
		for _, e := range f.all(infos[i].Room) {
			bytes += int64(len(e.Raw))
		}
		if infos[i].Last != last || infos[i].Bytes != bytes || infos[i].Updated.Before(start) || infos[i].Updated.After(time.Now()) {
			t.Errorf("info is %+v, want last %d and %d bytes", infos[i], last, bytes)
		}
	}
	if !infos[0].Wake.IsZero() || !infos[1].Wake.Equal(wake) {
		t.Errorf("wake times are %v and %v", infos[0].Wake, infos[1].Wake)
	}
}

func testDue(t *testing.T, f *fixture) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	tails := map[string]log.Pos{}
	wake := func(name string, at time.Time) {
		t.Helper()
		p, _, err := f.Append(f.ctx, name, tails[name], at, Event(time.Now().String()+name, "x"))
		must(t, err)
		tails[name] = p
	}
	due := func(at time.Time, names ...string) {
		t.Helper()
		got, err := f.Due(f.ctx, at)
		must(t, err)
		slices.Sort(got)
		if !slices.Equal(got, names) {
			t.Fatalf("due at %v: %v, want %v", at, got, names)
		}
	}
	wake("never", time.Time{})
	wake("soon", now.Add(time.Second))
	wake("now", now)
	wake("far", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	due(now.Add(-1))
	due(now, "now")
	due(now.Add(time.Minute), "now", "soon")
	f.reopen()
	due(now.Add(time.Minute), "now", "soon")
	wake("now", time.Time{})
	wake("soon", now.Add(time.Hour))
	due(now.Add(time.Minute))
	due(now.Add(time.Hour), "soon")
}
