package relay

import (
	"context"
	"encoding/json"
	"sync"
)

// A feed reads a room ahead of who watches it, a bounded way.
type feed struct {
	pass   pass
	cancel context.CancelFunc
	ready  chan struct{} // holds a token while there is something to take
	space  chan struct{} // holds a token when something was taken
	over   chan struct{} // closed when the reader has ended

	mu     sync.Mutex
	events []json.RawMessage
	seqs   []int64
	size   int
	taken  int64 // the last event that was taken, or the one to begin after
	ended  bool
}

func newFeed(ctx context.Context, p pass, after int64) *feed {
	ctx, cancel := context.WithCancel(ctx)
	f := &feed{pass: p, cancel: cancel, ready: make(chan struct{}, 1), space: make(chan struct{}, 1), over: make(chan struct{}), taken: after}
	go f.read(ctx, after) // close waits for it
	return f
}

func (f *feed) close() {
	f.cancel()
	<-f.over
}

// broken reports whether the room could not be read on.
func (f *feed) broken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.over:
		return !f.ended
	default:
		return false
	}
}

func (f *feed) at() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taken
}

func (f *feed) read(ctx context.Context, after int64) {
	defer close(f.over)
	for e, err := range f.pass.stage.Watch(ctx, after, f.pass.level) {
		if err != nil {
			return // the log fails, which ends the room; who watches asks again
		}
		e, ok := outward(e, f.pass.level)
		if !ok {
			continue
		}
		b, err := written(e)
		if err != nil || !f.put(ctx, e.Seq, b) {
			return
		}
	}
	if ctx.Err() == nil {
		f.mu.Lock()
		f.ended = true
		f.mu.Unlock()
		signal(f.ready)
	}
}

// put waits until there is room for an event.
func (f *feed) put(ctx context.Context, seq int64, b []byte) bool {
	for {
		f.mu.Lock()
		if len(f.events) == 0 || len(f.events) < maxBatch && f.size+len(b) <= maxBatchSize {
			f.events, f.seqs, f.size = append(f.events, b), append(f.seqs, seq), f.size+len(b)
			f.mu.Unlock()
			signal(f.ready)
			return true
		}
		f.mu.Unlock()
		select {
		case <-f.space:
		case <-ctx.Done():
			return false
		}
	}
}

// take returns everything that was read, the number to go on from, and whether
// nothing will come after it.
func (f *feed) take() (events []json.RawMessage, through int64, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	events = f.events
	if len(events) > 0 {
		f.taken = f.seqs[len(events)-1]
	}
	f.events, f.seqs, f.size = nil, nil, 0
	select {
	case <-f.ready:
	default:
	}
	signal(f.space)
	if f.ended {
		signal(f.ready) // whoever asks again is told again
	}
	return events, f.taken, f.ended
}

// signal puts a token where none is.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
