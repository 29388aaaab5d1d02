package logtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

func testAppend(t *testing.T, f *fixture) {
	tail, err := f.Tail(f.ctx, "a")
	must(t, err)
	if tail != (log.Pos{}) {
		t.Fatalf("the tail of no room is %v", tail)
	}
	p1 := f.append("a", log.Pos{}, Event("1", "one"))
	f.conflict("a", log.Pos{}, Event("2", "two"))
	p2 := f.append("a", p1, Event("2", "two"))
	f.conflict("a", p1, Event("3", "three"))
	ahead := log.Pos{Seq: p2.Seq + 1, Tok: p2.Tok + 1}
	f.conflict("a", ahead, Event("3", "three"))
	f.conflict("no such room", p2, Event("3", "three"))
	if tail, err = f.Tail(f.ctx, "a"); err != nil || tail != p2 {
		t.Fatalf("tail is %v, %v, want %v", tail, err, p2)
	}
	if got := f.all("a"); len(got) != 2 {
		t.Fatalf("%d events, want 2", len(got))
	}
}

func testRetry(t *testing.T, f *fixture) {
	events := Events("e", 4)
	p1 := f.append("a", log.Pos{}, events[0])
	p4 := f.append("a", p1, events[1:]...)
	for _, c := range []struct {
		after, want log.Pos
		events      []room.Event
	}{{log.Pos{}, p1, events[:1]}, {p1, p4, events[1:]}, {log.Pos{}, p4, events}} {
		p, dup, err := f.Append(f.ctx, "a", c.after, time.Time{}, c.events...)
		if err != nil || !dup || p != c.want {
			t.Errorf("retry after %d: %v, dup %v, %v; want %v", c.after.Seq, p, dup, err, c.want)
		}
	}
	f.reopen()
	if p, dup, err := f.Append(f.ctx, "a", p1, time.Time{}, events[1:]...); err != nil || !dup || p != p4 {
		t.Errorf("retry after reopening: %v, dup %v, %v", p, dup, err)
	}
	if got := f.all("a"); len(got) != 4 {
		t.Fatalf("%d events, want 4", len(got))
	}
}

// A retry has the same events. If fewer or others are stored, it is a conflict.
func testRetryOfPart(t *testing.T, f *fixture) {
	p1 := f.append("a", log.Pos{}, Event("1", "one"))
	f.conflict("a", log.Pos{}, Event("1", "one"), Event("2", "two"))
	f.append("a", p1, Event("other", "two"))
	f.conflict("a", log.Pos{}, Event("1", "one"), Event("2", "two"))
}

// Two coordinators that claim a room at once may give one id to different events.
// The second must not take the first's event for its own.
func testOtherWords(t *testing.T, f *fixture) {
	f.append("a", log.Pos{}, Event("1", "mine"), Event("2", "mine"))
	f.conflict("a", log.Pos{}, Event("1", "mine"), Event("2", "yours"))
	f.conflict("a", log.Pos{}, Event("1", "yours"))
}

func testIDElsewhere(t *testing.T, f *fixture) {
	tail := f.fill("a", 3)
	f.conflict("a", tail, Event("a-2", "again"))
	f.conflict("a", tail, Event("x", "1"), Event("x", "2"))
	f.append("a", tail, Event("x", "once"))
}

func testAtomic(t *testing.T, f *fixture) {
	tail := f.fill("a", 3)
	_, _, err := f.Append(f.ctx, "a", tail, time.Now(), Event("x", "1"), Event("y", "2"), Event("a-1", "3"))
	want(t, err, log.ErrConflict)
	if now, err := f.Tail(f.ctx, "a"); err != nil || now != tail {
		t.Fatalf("the tail moved to %v, %v", now, err)
	}
	if due, err := f.Due(f.ctx, time.Now().Add(time.Hour)); err != nil || len(due) != 0 {
		t.Fatalf("the wake time was stored without the events: %v, %v", due, err)
	}
	f.append("a", tail, Event("x", "1"), Event("y", "2"))
	f.all("a")
}

func testRefused(t *testing.T, f *fixture) {
	wrong := Event("1", "one")
	wrong.Seq = 2
	for name, events := range map[string][]room.Event{
		"none": {}, "of another place": {wrong}, "no body": {{V: 1, ID: "1"}},
		"too large": {Event("1", strings.Repeat("x", room.MaxEventBytes))},
	} {
		if _, _, err := f.Append(f.ctx, "a", log.Pos{}, time.Time{}, events...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, name := range []string{"", "a\x00b", "\xff\xfe", strings.Repeat("x", 10000)} {
		if _, _, err := f.Append(f.ctx, name, log.Pos{}, time.Time{}, Event("1", "one")); err == nil {
			t.Errorf("room %.10q: accepted", name)
		}
	}
	right := Event("1", "one")
	right.Seq = 1
	f.append("a", log.Pos{}, right)
}

func testLarge(t *testing.T, f *fixture) {
	big := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	p := f.append("a", log.Pos{}, Event("1", big), Event("2", "small"))
	f.append("a", p, Event("3", big+"end"))
	f.reopen()
	got := f.all("a")
	if text := got[2].Event.Body.(room.MessagePosted).Message.Text; text != big+"end" {
		t.Fatalf("the text came back with %d bytes", len(text))
	}
}

// Any valid string can be the id of a room.
func testRoomsSeparate(t *testing.T, f *fixture) {
	names := []string{
		"a", "A", "b", "a'; drop table rooms; --", "../../etc/passwd", "a/b", "a%b", "a*", "a?", "ä", "日本",
		strings.Repeat("n", 200), ".", "..", "con", "a b", "a\nb", "-rf",
	}
	for i, name := range names {
		f.append(name, log.Pos{}, Event("1", fmt.Sprint(i)))
		unlock, err := f.Lock(f.ctx, name)
		must(t, err)
		defer unlock()
	}
	for i, name := range names {
		got := f.all(name)
		if len(got) != 1 || got[0].Event.Body.(room.MessagePosted).Message.Text != fmt.Sprint(i) {
			t.Errorf("room %q has %d events", name, len(got))
		}
	}
	if infos, err := f.Rooms(f.ctx); err != nil || len(infos) != len(names) {
		t.Errorf("%d rooms, %v; want %d", len(infos), err, len(names))
	}
}

func testManyWriters(t *testing.T, f *fixture) {
	const rooms, each = 16, 25
	var wg sync.WaitGroup
	for r := range rooms {
		wg.Go(func() {
			name := fmt.Sprint("room", r)
			at := log.Pos{}
			for i := range each {
				p, dup, err := f.Append(f.ctx, name, at, time.Time{}, Event(fmt.Sprint(i), name))
				if err != nil || dup {
					t.Errorf("%s: dup %v, %v", name, dup, err)
					return
				}
				at = p
			}
		})
	}
	wg.Wait()
	for r := range rooms {
		if got := f.all(fmt.Sprint("room", r)); len(got) != each {
			t.Errorf("room %d has %d events", r, len(got))
		}
	}
}

// Writers that fence each other leave one chain with growing epochs.
func testFencing(t *testing.T, f *fixture) {
	var wg sync.WaitGroup
	var fenced atomic.Int64
	var epochs atomic.Uint64
	for w := range 4 {
		wg.Go(func() {
			for k := range 6 {
				at, err := f.Tail(f.ctx, "f")
				if err != nil {
					t.Error(err)
					return
				}
				for i := range 10 {
					e := Event(fmt.Sprintf("%d-%d-%d", w, k, i), "x")
					e.Epoch = epochs.Load()
					if at, _, err = f.Append(f.ctx, "f", at, time.Time{}, e); err != nil {
						want(t, err, log.ErrConflict)
						fenced.Add(1)
						break
					}
				}
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, e := range f.all("f") {
		if seen[e.Event.ID] {
			t.Fatalf("event %s is stored twice", e.Event.ID)
		}
		seen[e.Event.ID] = true
	}
	t.Logf("%d events, fenced %d times", len(seen), fenced.Load())
}

func testCancelled(t *testing.T, f *fixture) {
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	_, _, err := f.Append(ctx, "a", log.Pos{}, time.Time{}, Event("1", "one"))
	want(t, err, log.ErrUnknown)
	want(t, err, context.Canceled)
	if _, _, err = f.Append(f.ctx, "a", log.Pos{}, time.Time{}, Event("1", "one")); err != nil {
		t.Fatalf("retry: %v", err)
	}
	if got := f.all("a"); len(got) != 1 {
		t.Fatalf("%d events, want 1", len(got))
	}
}

// A writer that gives up and tries again stores each event once.
func testCancelledAnyTime(t *testing.T, f *fixture) {
	at := log.Pos{}
	random := rand.New(rand.NewPCG(1, 2))
	unknown, dups := 0, 0
	for i := range 100 {
		for try := 0; ; try++ {
			limit := time.Duration(random.IntN(400)) * time.Microsecond << min(try, 20)
			ctx, cancel := context.WithTimeout(f.ctx, limit)
			p, dup, err := f.Append(ctx, "a", at, time.Time{}, Event(fmt.Sprint(i), "x"))
			cancel()
			if err != nil {
				want(t, err, log.ErrUnknown)
				unknown++
				continue
			}
			if dup {
				dups++
			}
			at = p
			break
		}
	}
	got := f.all("a")
	if len(got) != 100 {
		t.Fatalf("%d events, want 100", len(got))
	}
	t.Logf("%d outcomes unknown, %d of them stored", unknown, dups)
}
