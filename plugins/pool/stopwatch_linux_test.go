package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStopwatchKeepsThread: while a stopwatch runs, its goroutine stays on one
// thread, however often others run. Else the clock would count their work, or
// the time for which this goroutine waited.
func TestStopwatchKeepsThread(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for !done.Load() {
				runtime.Gosched()
			}
		})
	}
	for range 100 {
		watch := startStopwatch()
		thread := unix.Gettid()
		for range 10 {
			runtime.Gosched()
			if unix.Gettid() != thread {
				t.Error("the goroutine runs on another thread")
			}
		}
		watch.stop()
		if t.Failed() {
			break
		}
	}
	done.Store(true)
	wg.Wait()
}
