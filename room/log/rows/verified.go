package rows

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Verified checks the chain over entries as they were scanned, from seq after
// with its hash, and decodes the bodies. It returns how many entries are intact:
// all, or those before the damage that the error names. Hashing and decoding,
// which is nearly all of the time of a read, is spread over the processors.
func Verified(name string, after uint64, previous [32]byte, entries []log.Entry) (whole int, err error) {
	spread(len(entries), func(i int) error {
		if e := &entries[i]; !e.Redacted {
			e.Commit = log.Commit(e.Salt, e.Raw)
		}
		return nil
	})
	whole, err = linked(name, after, previous, entries)
	decoded := spread(whole, func(i int) error { return decode(name, &entries[i]) })
	if bad, ok := errors.AsType[*undecodedError](decoded); ok {
		return int(bad.seq - after - 1), bad.error
	}
	return whole, err
}

// linked returns how many entries are one chain, and why the next is not.
func linked(name string, after uint64, previous [32]byte, entries []log.Entry) (int, error) {
	for i := range entries {
		e := &entries[i]
		if want := after + 1 + uint64(i); e.Seq != want {
			return i, log.Corrupt(name, want, fmt.Sprintf("event %d is missing", want))
		}
		if log.Link(previous, e.Seq, e.Commit) != e.Hash {
			return i, log.Corrupt(name, e.Seq, "it is not the event that was appended")
		}
		previous = e.Hash
	}
	return len(entries), nil
}

// An undecodedError is an error of decode with the event that it is about.
type undecodedError struct {
	error
	seq uint64
}

// decode fills in the event of an entry that is known to be as appended.
func decode(name string, e *log.Entry) error {
	if err := decodeBody(name, e); err != nil {
		return &undecodedError{err, e.Seq}
	}
	return nil
}

func decodeBody(name string, e *log.Entry) error {
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

// spreadFrom is the number of entries for which a goroutine pays.
const spreadFrom = 16

// spread calls f for 0 to n-1 on all processors, and returns the error of the
// lowest index that had one.
func spread(n int, f func(int) error) error {
	workers := max(1, min(runtime.GOMAXPROCS(0), n/spreadFrom))
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := n * w / workers; i < n*(w+1)/workers && errs[w] == nil; i++ {
				errs[w] = f(i)
			}
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}
