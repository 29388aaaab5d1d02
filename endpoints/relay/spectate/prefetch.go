package spectate

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// maxBatchSize bounds the bytes of events that a prefetch holds, unless one
// event alone is larger. The number of events is bounded by wire.MaxEvents.
const maxBatchSize = 160 << 10

// A prefetch reads the events of a room ahead of one spectator, up to a bounded
// batch.
type prefetch struct {
	grant  grant
	cancel context.CancelFunc
	ready  chan struct{} // holds a token while there is something to take
	space  chan struct{} // holds a token when something was taken
	done   chan struct{} // closed when the reader has ended

	mu     sync.Mutex
	events []json.RawMessage
	seqs   []int64
	size   int
	taken  int64 // the last event that was taken, or the one to begin after
	ended  bool  // the room has stopped running
}

func newPrefetch(ctx context.Context, g grant, after int64) *prefetch {
	ctx, cancel := context.WithCancel(ctx)
	f := &prefetch{grant: g, cancel: cancel, ready: make(chan struct{}, 1), space: make(chan struct{}, 1), done: make(chan struct{}), taken: after}
	go f.read(ctx, after)
	return f
}

func (f *prefetch) close() {
	f.cancel()
	<-f.done
}

// failed reports whether the room could not be read to its end.
func (f *prefetch) failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.done:
		return !f.ended
	default:
		return false
	}
}

func (f *prefetch) position() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taken
}

func (f *prefetch) read(ctx context.Context, after int64) {
	defer close(f.done)
	for e, err := range f.grant.room.Watch(ctx, after, f.grant.level) {
		if err != nil {
			return // the log failed, which ends the room; the spectator asks again
		}
		e, ok := PublicEvent(e, f.grant.level)
		if !ok {
			continue
		}
		b, err := encodeEvent(e)
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

// put adds an event once there is space.
func (f *prefetch) put(ctx context.Context, seq int64, b []byte) bool {
	for {
		f.mu.Lock()
		if len(f.events) == 0 || len(f.events) < wire.MaxEvents && f.size+len(b) <= maxBatchSize {
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

// take returns the events that were read, the number to go on from, and whether
// the room has stopped running.
func (f *prefetch) take() (events []json.RawMessage, through int64, ended bool) {
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
		signal(f.ready) // a later request gets the same answer
	}
	return events, f.taken, f.ended
}

// signal puts a token into a channel that has none.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
