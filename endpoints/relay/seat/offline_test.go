package seat

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// An offlineFloor counts how often watchers are told that a device is offline.
type offlineFloor struct {
	*floor
	told atomic.Int32
}

func (f *offlineFloor) Show(text string) {
	if text == offlineMark {
		f.told.Add(1)
	}
}

func (*offlineFloor) ShowTool(endpoint.ToolCall) {}

// TestOffline: watchers learn within a second that the device of a seat is not
// connected, once each time, and the turn goes on waiting.
func TestOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, workFor(20*time.Second, func(endpoint.Floor) {}))
		var offline atomic.Bool
		p.seat.cfg.Offline = offline.Load
		f := &offlineFloor{floor: newFloor()}
		done := make(chan error, 1)
		go func() {
			q := prompt("q", "hello")
			q.Timeout = time.Minute
			_, err := p.seat.Speak(t.Context(), q, f)
			done <- err
		}()
		told := func(after time.Duration, want int32) {
			t.Helper()
			time.Sleep(after) // in synctest time
			synctest.Wait()
			if got := f.told.Load(); got != want {
				t.Errorf("told %d times, want %d", got, want)
			}
		}
		told(3500*time.Millisecond, 0)
		offline.Store(true)
		told(time.Second, 1)
		told(3*time.Second, 1)
		offline.Store(false)
		told(2*time.Second, 1)
		offline.Store(true)
		told(time.Second, 2)
		if err := <-done; err != nil {
			t.Error(err)
		}
		p.stopHost()
		p.stopShare()
	})
}

// TestOfflineCallsDoNotOverlap: Offline needs no lock, whichever requests follow one
// another or come at the same time. The race detector shows a call that overlaps.
func TestOfflineCallsDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, workFor(5*time.Second, func(endpoint.Floor) {}))
		calls := 0 // without a lock
		p.seat.cfg.Offline = func() bool {
			calls++
			return calls%2 == 0
		}
		var turns sync.WaitGroup
		for i := range 4 {
			ctx, cancel := context.WithCancel(t.Context())
			turns.Go(func() {
				q := prompt(fmt.Sprint("q", i), "hello")
				q.Timeout = time.Minute
				_, _ = p.seat.Speak(ctx, q, newFloor()) // some are busy, some cancelled
			})
			time.Sleep(2500 * time.Millisecond) // in synctest time
			if i%2 == 1 {
				cancel() // the next request waits for the slot
			}
			defer cancel()
		}
		turns.Wait()
		if calls < 4 {
			t.Errorf("called %d times", calls)
		}
		p.stopHost()
		p.stopShare()
	})
}
