package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A queueRun records the order in which calls get the one place of a queue, each
// of which takes as long as it is expected to.
type queueRun struct {
	t     *testing.T
	q     *queue
	mu    sync.Mutex
	order []string
	wg    sync.WaitGroup
}

// ask makes a call of a room and returns when the call waits, or has ended.
func (r *queueRun) ask(room string, takes time.Duration) {
	r.wg.Go(func() {
		p, err := r.q.enter(context.Background(), room, takes)
		if err != nil {
			r.t.Error(err)
			return
		}
		r.mu.Lock()
		r.order = append(r.order, strings.TrimRight(room, "0123456789"))
		r.mu.Unlock()
		p.leave(takes)
	})
	synctest.Wait()
}

// expect runs calls behind a first one, and compares the order of their rooms.
func (r *queueRun) expect(want []string, asks func()) {
	r.t.Helper()
	first, err := r.q.enter(context.Background(), "first", 0)
	if err != nil {
		r.t.Fatal(err)
	}
	r.order = nil
	asks()
	first.leave(time.Millisecond)
	r.wg.Wait()
	if !slices.Equal(r.order, want) {
		r.t.Errorf("%v, want %v", r.order, want)
	}
	if r.q.free != 1 || len(r.q.waiting) != 0 || len(r.q.rooms) != 0 {
		r.t.Errorf("%d places free, %d rooms wait, %d are known", r.q.free, len(r.q.waiting), len(r.q.rooms))
	}
}

// TestQueueIsFair: with one place, three rooms with decisions of one length take
// turns, however many calls each has.
func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := queueRun{t: t, q: newQueue(1)}
		r.expect([]string{"a", "b", "c", "a", "b", "a"}, func() {
			for range 3 {
				r.ask("a", time.Millisecond)
			}
			for range 2 {
				r.ask("b", time.Millisecond)
			}
			r.ask("c", time.Millisecond)
		})
	})
}

// TestQueueSharesTime: a room whose decisions take a hundredth makes a hundred of
// them for one of another room. It does not wait for 64 rooms that ask before it.
func TestQueueSharesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := queueRun{t: t, q: newQueue(1)}
		want := slices.Repeat([]string{"good"}, 99)
		want = append(want, slices.Repeat([]string{"slow"}, 64)...)
		r.expect(append(want, slices.Repeat([]string{"good"}, 51)...), func() {
			for i := range 64 {
				r.ask(fmt.Sprint("slow", i), 100*time.Millisecond)
			}
			for range 150 {
				r.ask("good", time.Millisecond)
			}
		})
	})
}

// TestQueueCharges: a room that used more than it was expected to waits for the
// others afterwards, and one that was idle has saved nothing.
func TestQueueCharges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r := queueRun{t: t, q: newQueue(2)}
		busy, _ := r.q.enter(ctx, "busy", 0)
		slow, _ := r.q.enter(ctx, "slow", 0)
		slow.leave(100 * time.Millisecond)
		short, _ := r.q.enter(ctx, "short", 0)
		r.ask("slow", time.Millisecond)
		r.ask("idle", 2*time.Millisecond)
		r.ask("short", 3*time.Millisecond)
		short.leave(50 * time.Millisecond)
		r.wg.Wait()
		if want := []string{"idle", "short", "slow"}; !slices.Equal(r.order, want) {
			t.Errorf("%v, want %v", r.order, want)
		}
		busy.leave(0)
		if len(r.q.rooms) != 0 || r.q.now != 0 {
			t.Errorf("%d rooms are known, time %v", len(r.q.rooms), r.q.now)
		}
	})
}

// TestQueueForgets: of many rooms that come once while the queue is busy, it
// remembers no more than those that used more than the others.
func TestQueueForgets(t *testing.T) {
	q := newQueue(2)
	ctx := context.Background()
	busy, err := q.enter(ctx, "busy", 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100_000 {
		p, err := q.enter(ctx, fmt.Sprint(i), 0)
		if err != nil {
			t.Fatal(err)
		}
		p.leave(time.Microsecond)
		if i%100 == 0 { // as time goes on
			one, _ := q.enter(ctx, "steady", 0)
			one.leave(time.Millisecond)
		}
	}
	if n := len(q.rooms); n > 2*minSweep {
		t.Errorf("%d rooms are known", n)
	}
	busy.leave(0)
}

// TestQueueGivesUp: a call that stops waiting leaves the queue, and a place that
// is given at that moment is not lost.
func TestQueueGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		a, err := q.enter(context.Background(), "a", 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		got := make(chan error)
		go func() {
			_, err := q.enter(ctx, "b", 0)
			got <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := q.enter(ctx, "c", 0); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		a.leave(0)
		if q.free != 1 || len(q.waiting) != 0 {
			t.Errorf("%d places free, %d rooms wait", q.free, len(q.waiting))
		}
	})
}

// TestRefCache: callers that ask for a key at once get one value, created once.
// The last release removes it. A failed value is created again.
func TestRefCache(t *testing.T) {
	var s refCache[*int]
	made := 0
	start := make(chan struct{})
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			v, err := s.acquire("k", func() (*int, error) { <-start; made++; return &made, nil })
			if err != nil || v != &made {
				t.Error(v, err)
			}
		})
	}
	close(start)
	wg.Wait()
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	for i := range 5 {
		if last := s.release("k"); last != (i == 4) {
			t.Errorf("release %d: last %v", i, last)
		}
	}
	if s.release("k") {
		t.Error("released a value that is gone")
	}
	failure := errors.New("no")
	if _, err := s.acquire("f", func() (*int, error) { return nil, failure }); !errors.Is(err, failure) {
		t.Error(err)
	}
	if v, err := s.acquire("f", func() (*int, error) { return &made, nil }); err != nil || v == nil {
		t.Error(v, err)
	}
}
