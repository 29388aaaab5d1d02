package server

import (
	"sync"
	"sync/atomic"
)

// maxNotices is how many frames of the relay's own wait for an endpoint;
// further ones are dropped: they are hints.
const maxNotices = 64

// An sendQueue is what waits to be written to one endpoint. Only its
// connection's writer takes from it.
type sendQueue struct {
	ready chan struct{} // has room for one: something waits, or it was closed
	total *atomic.Int64 // bytes in all outboxes

	mu      sync.Mutex
	frames  [][]byte // of other endpoints
	bytes   int      // of frames
	notices [][]byte // of the relay itself; they go first
	closed  bool     // nothing is put in any more
	code    int      // the WebSocket close code to end with, once closed and empty
}

func newSendQueue(all *atomic.Int64) *sendQueue {
	return &sendQueue{ready: make(chan struct{}, 1), total: all}
}

// push takes a frame unless the queue is full.
func (o *sendQueue) push(f []byte, l Limits) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(o.frames) >= l.QueueFrames || o.bytes+len(f) > l.QueueBytes {
		return false
	}
	if o.total.Add(int64(len(f))) > int64(l.TotalBytes) {
		o.total.Add(-int64(len(f)))
		return false
	}
	o.frames = append(o.frames, f)
	o.bytes += len(f)
	o.wake()
	return true
}

// pushNotice takes a frame of the relay's own.
func (o *sendQueue) pushNotice(f []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed && len(o.notices) < maxNotices {
		o.notices = append(o.notices, f)
		o.wake()
	}
}

// close lets the writer end after what is in, or at once after the notices.
// The first call counts.
func (o *sendQueue) close(code int, flush bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.closed, o.code = true, code
	if !flush {
		o.dropFrames()
	}
	o.wake()
}

// dropFrames forgets the frames; the caller holds mu.
func (o *sendQueue) dropFrames() {
	o.total.Add(-int64(o.bytes))
	o.frames, o.bytes = nil, 0
}

// discard closes the outbox and forgets all that is in it.
func (o *sendQueue) discard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.notices = nil
	o.dropFrames()
}

func (o *sendQueue) wake() {
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// pop returns what is to be written pop. Without anything, f is nil and
// code is what to close with, 0 while the outbox is open.
func (o *sendQueue) pop() (f []byte, notice bool, code int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.notices) > 0:
		f, o.notices = popFront(o.notices)
		return f, true, 0
	case len(o.frames) > 0:
		f, o.frames = popFront(o.frames)
		o.bytes -= len(f)
		o.total.Add(-int64(len(f)))
		return f, false, 0
	case o.closed:
		return nil, false, o.code
	}
	return nil, false, 0
}

// popFront takes the first. The slice moves along its array, and an empty one
// starts anew, so the array stays as long as the queue may be.
func popFront(q [][]byte) (first []byte, rest [][]byte) {
	first, q[0] = q[0], nil
	if len(q) == 1 {
		return first, q[:0:0]
	}
	return first, q[1:]
}
