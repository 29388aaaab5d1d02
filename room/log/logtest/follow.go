package logtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// follow reads a room from a place until it has event last, and checks that
// there is no gap and no duplicate.
func follow(ctx context.Context, r log.Reader, name string, after log.Pos, last uint64) error {
	seq := after.Seq
	for e, err := range r.Follow(ctx, name, after) {
		if err != nil {
			return err
		}
		if seq++; e.Seq != seq {
			return fmt.Errorf("event %d follows %d", e.Seq, seq-1)
		}
		if seq == last {
			return nil
		}
	}
	return fmt.Errorf("following ended after event %d: %w", seq, context.Cause(ctx))
}

// Stored events come first, then live ones, while a writer appends.
func testFollow(t *testing.T, f *fixture) {
	const stored, all = 50, 350
	at := f.fill("a", stored)
	ctx, cancel := context.WithTimeout(f.ctx, time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			if err := follow(ctx, f, "a", log.Pos{Seq: uint64(w * 10)}, all); err != nil {
				t.Errorf("follower %d: %v", w, err)
			}
		})
	}
	for at.Seq < all {
		at = f.append("a", at, Event(fmt.Sprint("live", at.Seq), "x"))
	}
	wg.Wait()

	ctx, cancel = context.WithCancel(f.ctx)
	ended := make(chan error, 1)
	go func() {
		for _, err := range f.Follow(ctx, "a", at) {
			ended <- err
			return
		}
		ended <- nil
	}()
	cancel()
	if err := <-ended; err != nil {
		t.Fatalf("a follower whose context ended got %v", err)
	}
}

func testFollowFuture(t *testing.T, f *fixture) {
	ctx, cancel := context.WithTimeout(f.ctx, time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- follow(ctx, f, "a", log.Pos{}, 3) }()
	f.fill("b", 1)
	f.fill("a", 3)
	must(t, <-ended)
}

func testFollowRemoved(t *testing.T, f *fixture) {
	at := f.fill("a", 2)
	ctx, cancel := context.WithTimeout(f.ctx, time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- follow(ctx, f, "a", at, 3) }()
	must(t, f.Remove(f.ctx, "a"))
	want(t, <-ended, log.ErrNotFound)
}

// testFollowOther checks that Follow yields events that another handle appends.
func testFollowOther(t *testing.T, f *fixture) {
	if !f.Shared {
		t.Skip("the engine does not share a folder between handles")
	}
	at := f.fill("a", 1)
	other := f.Open(t, f.dir)
	defer other.Close()
	ctx, cancel := context.WithTimeout(f.ctx, time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- follow(ctx, f, "a", log.Pos{}, 20) }()
	for at.Seq < 20 {
		p, _, err := other.Append(f.ctx, "a", at, time.Time{}, Event(fmt.Sprint(at.Seq), "x"))
		must(t, err)
		at = p
	}
	must(t, <-ended)
	f.append("a", at, Event("back", "x")) // this handle knows of the other's events
	_, _, err := other.Append(f.ctx, "a", at, time.Time{}, Event("late", "x"))
	want(t, err, log.ErrConflict)
}
