package sqlite

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// open checks the chain over entries as they were scanned, from seq after
// with its hash, and decodes the bodies. Hashing and decoding, which is nearly
// all of the time of a read, is spread over the processors.
func open(name string, after uint64, previous [32]byte, entries []log.Entry) error {
	spread(len(entries), func(i int) error {
		if e := &entries[i]; !e.Redacted {
			e.Commit = log.Commit(e.Salt, e.Raw)
		}
		return nil
	})
	for i := range entries {
		e := &entries[i]
		if want := after + 1 + uint64(i); e.Seq != want {
			return log.Corrupt(name, want, fmt.Sprintf("event %d is missing", want))
		}
		if log.Link(previous, e.Seq, e.Commit) != e.Hash {
			return log.Corrupt(name, e.Seq, "it is not the event that was appended")
		}
		previous = e.Hash
	}
	return spread(len(entries), func(i int) error { return decode(name, &entries[i]) })
}

// decode fills in the event of an entry that is known to be as appended.
func decode(name string, e *log.Entry) error {
	id := e.Event.ID
	event, err := room.UnmarshalEvent(e.Raw)
	switch {
	case errors.Is(err, room.ErrUnknownType):
		return &problem.Error{
			Code: "LOG-NEWER", What: "a newer release of moot wrote this event", Err: err,
			Where: fmt.Sprintf("room %s, event %d", name, e.Seq), Fix: "use that release, or a newer one",
		}
	case err != nil:
		return &problem.Error{
			Code: "LOG-EVENT", What: "the event is whole but cannot be read", Err: err,
			Where: fmt.Sprintf("room %s, event %d", name, e.Seq), Fix: "use the release of moot that wrote it",
		}
	case event.ID != id:
		return log.Corrupt(name, e.Seq, "its id in the index is not its own")
	case event.Seq != int64(e.Seq):
		return log.Corrupt(name, e.Seq, fmt.Sprintf("its body says that it is event %d", event.Seq))
	}
	if e.Event = event; e.Redacted {
		e.Raw = nil
	}
	return nil
}

// spreadFrom is how many entries a page needs before a second goroutine pays.
const spreadFrom = 32

// spread calls f for 0 to n-1, in no order, on all processors, and returns
// the error of the lowest index that had one.
func spread(n int, f func(int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n/(spreadFrom/2))
	if workers < 2 {
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	const stride = 16
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	at := n
	work := func() {
		for {
			start := int(next.Add(stride)) - stride
			if start >= n {
				return
			}
			for i := start; i < min(start+stride, n); i++ {
				if err := f(i); err != nil {
					mu.Lock()
					if i < at {
						at, first = i, err
					}
					mu.Unlock()
				}
			}
		}
	}
	for range workers {
		wg.Go(work)
	}
	wg.Wait()
	return first
}
