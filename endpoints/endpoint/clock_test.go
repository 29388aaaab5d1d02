package endpoint

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, stop := WithClock(t.Context(), time.Minute)
		defer stop()
		ctx, cancel := WithClock(outer, 10*time.Second)
		defer cancel()
		child, cancelChild := context.WithCancel(ctx)
		defer cancelChild()
		time.Sleep(4 * time.Second)
		first, second := Hold(child), Hold(child)
		time.Sleep(time.Hour)
		first()
		first()
		time.Sleep(time.Hour)
		second()
		time.Sleep(6*time.Second - 1)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Fatalf("the clock has run while it was held: %v", ctx.Err())
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) || outer.Err() != nil {
			t.Fatalf("after 10 s: %v, and above it %v", ctx.Err(), outer.Err())
		}
		select {
		case <-child.Done():
		default:
			t.Error("the child goes on")
		}
		if err := child.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the child has ended with %v", err)
		}
		Hold(child)()
		time.Sleep(50 * time.Second)
		synctest.Wait()
		if !errors.Is(outer.Err(), context.DeadlineExceeded) {
			t.Errorf("after 60 s: %v", outer.Err())
		}
	})
}

func TestClockCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("paused")
		parent, cancelParent := context.WithCancelCause(t.Context())
		stop := func() { cancelParent(reason) }
		ctx, cancel := WithClock(parent, time.Second)
		defer cancel()
		release := Hold(ctx)
		stop()
		synctest.Wait()
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("got %v", ctx.Err())
		}
		child, cancelChild := context.WithCancel(ctx)
		defer cancelChild()
		synctest.Wait()
		if err := context.Cause(child); err != reason {
			t.Errorf("the child has ended because of %v", err)
		}
		release()
		Hold(t.Context())() // a context without a clock
	})
}
