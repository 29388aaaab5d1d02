package server

import (
	"sync"
	"sync/atomic"
)

// maxNotices limits the queued frames of the relay itself. More are dropped:
// they are hints.
const maxNotices = 64

// A sendQueue holds the frames for one endpoint. The connection's writer is its
// only consumer. It is safe for concurrent use.
type sendQueue struct {
	ready chan struct{} // capacity 1: signals that something is queued or the queue is closed
	total *atomic.Int64 // bytes in all queues

	mu      sync.Mutex
	frames  [][]byte // from other endpoints
	bytes   int      //
	notices [][]byte // from the relay itself; sent first
	closed  bool     // no more frames are accepted
	code    int      // the WebSocket close code to send when empty
}

func newSendQueue(all *atomic.Int64) *sendQueue {
	return &sendQueue{ready: make(chan struct{}, 1), total: all}
}

// push appends a frame. It reports false if the queue is full or closed.
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

// pushNotice appends a frame of the relay itself.
func (o *sendQueue) pushNotice(f []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed && len(o.notices) < maxNotices {
		o.notices = append(o.notices, f)
		o.wake()
	}
}

// close ends the queue. With flush the writer first sends all frames, otherwise
// only notices. Only the first call has an effect.
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

// dropFrames removes the frames; the caller holds mu.
func (o *sendQueue) dropFrames() {
	o.total.Add(-int64(o.bytes))
	o.frames, o.bytes = nil, 0
}

// discard closes the queue and removes everything.
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

// pop returns the next frame to write. If f is nil, code is the close code to
// send, or 0 while the queue is open.
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

// popFront removes the first element. When the queue becomes empty its array is
// released, so the array never grows beyond the maximum length.
func popFront(q [][]byte) (first []byte, rest [][]byte) {
	first, q[0] = q[0], nil
	if len(q) == 1 {
		return first, q[:0:0]
	}
	return first, q[1:]
}
