package session

import (
	"errors"
	"time"
)

const (
	reorderFrames = 64
	reorderBytes  = 512 << 10
	maxPartial    = 2
	maxReassembly = 512 << 10
	ackDelay      = 20 * time.Millisecond
)

// A receiver orders frames and reassembles messages. It passes on each frame
// once and in order.
type receiver struct {
	last    uint64 // number of the last frame passed on
	held    map[uint64][]byte
	bytes   int
	partial map[uint32]*partial
}

type partial struct {
	count uint16
	next  uint16
	body  []byte
}

// insert adds an authentic plaintext. It returns the frames that are now in
// order. fresh is false for a duplicate and for a frame too far ahead.
func (r *receiver) insert(seq uint64, plain []byte) (ready [][]byte, fresh bool) {
	switch {
	case seq <= r.last || seq > r.last+reorderFrames || r.held[seq] != nil:
		return nil, false
	case seq != r.last+1:
		if r.bytes+len(plain) > reorderBytes {
			return nil, false
		}
		if r.held == nil {
			r.held = map[uint64][]byte{}
		}
		r.held[seq] = plain
		r.bytes += len(plain)
		return nil, true
	}
	for plain != nil {
		r.last++
		ready = append(ready, plain)
		plain = r.held[r.last+1]
		if plain != nil {
			delete(r.held, r.last+1)
			r.bytes -= len(plain)
		}
	}
	return ready, true
}

var errReassembly = errors.New("fragments do not fit together")

// assemble adds a fragment. message is nil until it is complete.
func (r *receiver) assemble(body []byte) (message []byte, err error) {
	f, err := decodeFragment(body)
	if err != nil {
		return nil, err
	}
	p := r.partial[f.message]
	if p == nil {
		if f.index != 0 || len(r.partial) == maxPartial {
			return nil, errReassembly
		}
		if r.partial == nil {
			r.partial = map[uint32]*partial{}
		}
		p = &partial{count: f.count}
		r.partial[f.message] = p
	}
	if f.index != p.next || f.count != p.count || len(p.body)+len(f.chunk) > MaxMessage || r.partialBytes()+len(f.chunk) > maxReassembly {
		return nil, errReassembly
	}
	p.next++
	p.body = append(p.body, f.chunk...)
	if p.next < p.count {
		return nil, nil
	}
	delete(r.partial, f.message)
	return p.body, nil
}

func (r *receiver) partialBytes() (n int) {
	for _, p := range r.partial {
		n += len(p.body)
	}
	return n
}
