package plugins

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// TestQueueIsFair: with one place, three rooms take turns in any order of
// arrival, however many calls each has.
func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		ctx := context.Background()
		if err := q.enter(ctx, "first"); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		var wg sync.WaitGroup
		ask := func(room string) {
			wg.Go(func() {
				if err := q.enter(ctx, room); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, room)
				mu.Unlock()
				q.leave()
			})
			synctest.Wait() // in this order
		}
		for range 3 {
			ask("a")
		}
		for range 2 {
			ask("b")
		}
		ask("c")
		q.leave()
		wg.Wait()
		if want := []string{"a", "b", "c", "a", "b", "a"}; !slices.Equal(order, want) {
			t.Errorf("%v, want %v", order, want)
		}
		if q.free != 1 || len(q.rooms) != 0 {
			t.Errorf("%d places free, %d rooms wait", q.free, len(q.rooms))
		}
	})
}

// TestQueueGivesUp: a call that stops waiting leaves the queue, and a place that
// is given at that moment is not lost.
func TestQueueGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		if err := q.enter(context.Background(), "a"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		got := make(chan error)
		go func() { got <- q.enter(ctx, "b") }()
		synctest.Wait()
		cancel()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := q.enter(ctx, "c"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		q.leave()
		if q.free != 1 || len(q.rooms) != 0 {
			t.Errorf("%d places free, %d rooms wait", q.free, len(q.rooms))
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
