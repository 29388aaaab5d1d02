package inflight

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A gatedFloor takes no signal until its gate is open.
type gatedFloor struct {
	gate   chan struct{}
	raised chan endpoint.Signal
}

func (f *gatedFloor) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	<-f.gate
	f.raised <- s
	return endpoint.Answer{Allowed: true}, nil
}

func (*gatedFloor) Show(string) {}

func (*gatedFloor) ShowTool(endpoint.ToolCall) {}

// A slowFloor takes a second for each signal.
type slowFloor struct{ taken atomic.Int32 }

func (f *slowFloor) Raise(context.Context, endpoint.Signal) (endpoint.Answer, error) {
	time.Sleep(time.Second) // virtual
	f.taken.Add(1)
	return endpoint.Answer{Allowed: true}, nil
}

func (*slowFloor) Show(string) {}

func (*slowFloor) ShowTool(endpoint.ToolCall) {}

// TestQueueIsBounded puts signals faster than the room takes them. The queue
// holds a bounded number, and reports that it dropped the rest.
func TestQueueIsBounded(t *testing.T) {
	f := &gatedFloor{gate: make(chan struct{}), raised: make(chan endpoint.Signal, 2*maxQueued)}
	q := NewQueue(func() endpoint.Floor { return f })
	for range 1000 {
		q.Violation("noise", "again")
	}
	if len(q.queue) != maxQueued {
		t.Errorf("%d signals wait, want %d", len(q.queue), maxQueued)
	}
	close(f.gate)
	q.Close(true)
	close(f.raised)
	var all []endpoint.Signal
	for s := range f.raised {
		all = append(all, s)
	}
	if len(all) > maxQueued+2 || !strings.Contains(fmt.Sprint(all), "signals were dropped") {
		t.Errorf("%d signals were raised: %v", len(all), all)
	}
}

// TestQueueCalls checks that calls run side by side up to their limit, and that
// Close without drain drops queued signals.
func TestQueueCalls(t *testing.T) {
	f := &gatedFloor{gate: make(chan struct{}), raised: make(chan endpoint.Signal, 2*maxQueued)}
	q := NewQueue(func() endpoint.Floor { return f })
	answers := make(chan endpoint.Answer, maxCalls+1)
	for range maxCalls + 1 {
		q.Call(endpoint.Signal{Kind: endpoint.SignalCall}, func(a endpoint.Answer, err error) {
			if err != nil {
				t.Error(err)
			}
			answers <- a
		})
	}
	close(f.gate)
	refused := 0
	for range maxCalls + 1 {
		if a := <-answers; !a.Allowed {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d calls were refused, want 1", refused)
	}
	q.Close(false)
	q.Put(endpoint.Signal{Kind: endpoint.SignalForgot}) // has no effect
}

// TestFlush checks that Flush waits for the signals before it, and for no call, and that
// it ends with its context and with the queue.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &slowFloor{}
		q := NewQueue(func() endpoint.Floor { return f })
		for range 3 {
			q.Put(endpoint.Signal{Kind: endpoint.SignalAck})
		}
		begun := time.Now()
		q.Flush(t.Context())
		if n := f.taken.Load(); n != 3 || time.Since(begun) != 3*time.Second {
			t.Errorf("%d signals after %s", n, time.Since(begun))
		}
		q.Put(endpoint.Signal{Kind: endpoint.SignalAck})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		q.Flush(ctx)
		q.Close(true)
		q.Flush(t.Context())
	})
}

// TestDroppedAreAnswered checks that the sender of a signal that does not fit is told.
func TestDroppedAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &slowFloor{}
		q := NewQueue(func() endpoint.Floor { return f })
		answered, refused := 0, 0
		for range maxQueued + 10 {
			q.Ask(endpoint.Signal{Kind: endpoint.SignalAck}, func(a endpoint.Answer, err error) {
				answered++
				if a.Reason == "too many messages at once" {
					refused++
				}
			})
		}
		q.Close(true)
		if answered != maxQueued+10 || refused < 9 || refused > 10 {
			t.Errorf("%d answered, %d refused", answered, refused)
		}
	})
}
