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
	bytes   int
	notices [][]byte // from the relay itself; sent first
	closed  bool     // no more frames are accepted
	code    int      // the WebSocket close code to send when empty
}

func newSendQueue(all *atomic.Int64) *sendQueue {
	return &sendQueue{ready: make(chan struct{}, 1), total: all}
}

// push appends a frame. It reports false if the queue is full or closed.
func (q *sendQueue) push(f []byte, l Limits) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.frames) >= l.QueueFrames || q.bytes+len(f) > l.QueueBytes {
		return false
	}
	if q.total.Add(int64(len(f))) > int64(l.TotalBytes) {
		q.total.Add(-int64(len(f)))
		return false
	}
	q.frames = append(q.frames, f)
	q.bytes += len(f)
	q.wake()
	return true
}

// pushNotice appends a frame of the relay itself.
func (q *sendQueue) pushNotice(f []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed && len(q.notices) < maxNotices {
		q.notices = append(q.notices, f)
		q.wake()
	}
}

// close ends the queue. With flush the writer first sends all frames, otherwise
// only notices. Only the first call has an effect.
func (q *sendQueue) close(code int, flush bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed, q.code = true, code
	if !flush {
		q.dropFrames()
	}
	q.wake()
}

// dropFrames removes the frames; the caller holds mu.
func (q *sendQueue) dropFrames() {
	q.total.Add(-int64(q.bytes))
	q.frames, q.bytes = nil, 0
}

// discard closes the queue and removes everything.
func (q *sendQueue) discard() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.notices = nil
	q.dropFrames()
}

func (q *sendQueue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// pop returns the next frame to write. If f is nil, code is the close code to
// send, or 0 while the queue is open.
func (q *sendQueue) pop() (f []byte, notice bool, code int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(q.notices) > 0:
		f, q.notices = popFront(q.notices)
		return f, true, 0
	case len(q.frames) > 0:
		f, q.frames = popFront(q.frames)
		q.bytes -= len(f)
		q.total.Add(-int64(len(f)))
		return f, false, 0
	case q.closed:
		return nil, false, q.code
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
