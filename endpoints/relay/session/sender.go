package session

import (
	"errors"
	"slices"
	"time"
)

const (
	windowFrames = 16
	windowBytes  = 256 << 10
	resendFirst  = time.Second
	resendMost   = 15 * time.Second
	giveUp       = 150 * time.Second
	maxQueue     = 64
	maxQueued    = 1 << 20 // bytes
)

// Errors of Send and of Lost.
var (
	ErrTooLarge    = errors.New("the message is over 256 KiB or empty")
	ErrQueueFull   = errors.New("too many messages wait to be sent")
	ErrUnreachable = errors.New("the other device has not answered for 150 seconds")
	ErrForgotten   = errors.New("the other device was started again, and may or may not have got the message")
	ErrViolation   = errors.New("the other device broke the protocol")
	ErrClosed      = errors.New("the session is closed")
)

// A sender numbers frames, keeps those that are not acknowledged, and says
// when each is due again. Its numbers go on when keys change: the numbers are
// of the stream, and each key sees each number once at most.
type sender struct {
	next    uint64 // seq of the next frame, from 1
	flight  []*flying
	bytes   int // of flight
	queue   []outgoing
	queued  int // bytes
	ids     uint64
	frags   uint32
	waiting time.Time // since when nothing was acknowledged of what there is
}

// outgoing is a message that is not wholly in flight.
type outgoing struct {
	id   uint64
	typ  byte
	body []byte
	off  int
	frag uint32
}

// flying is a frame that may have arrived.
type flying struct {
	seq     uint64
	plain   []byte
	message uint64
	last    bool // of its message
	by      *keys
	wire    []byte // sealed by by, and never sealed by it again
	due     time.Time
	wait    time.Duration
}

func (s *sender) idle() bool { return len(s.flight) == 0 && len(s.queue) == 0 }

func (s *sender) add(now time.Time, typ byte, body []byte) (id uint64, err error) {
	switch {
	case len(body) > MaxMessage || len(body) == 0 && typ == typeMsg:
		return 0, ErrTooLarge
	case len(s.queue) >= maxQueue || s.queued+len(body) > maxQueued:
		return 0, ErrQueueFull
	}
	if s.idle() {
		s.waiting = now
	}
	s.ids++
	s.queue = append(s.queue, outgoing{id: s.ids, typ: typ, body: slices.Clone(body)})
	s.queued += len(body)
	return s.ids, nil
}

// cut makes the next frame, when there is one and the window has room.
func (s *sender) cut() *flying {
	if len(s.queue) == 0 || len(s.flight) >= windowFrames {
		return nil
	}
	o := &s.queue[0]
	typ, body, last := o.typ, o.body, true
	if len(o.body) > maxBody {
		typ, body, last = s.fragment(o)
	}
	plain := encodeData(typ, body)
	size := headerSize + len(plain) + sealSize
	if s.bytes+size > windowBytes {
		return nil
	}
	f := &flying{seq: s.next, plain: plain, message: o.id, last: last}
	if typ == typeFrag {
		o.off += len(body) - fragFixed
	}
	if last {
		s.queued -= len(o.body)
		s.queue = s.queue[1:]
	}
	s.next++
	s.bytes += size
	s.flight = append(s.flight, f)
	return f
}

// fragment returns the piece at o.off. Pieces are as large as they can be.
func (s *sender) fragment(o *outgoing) (typ byte, body []byte, last bool) {
	if o.off == 0 {
		s.frags++
		o.frag = s.frags
	}
	chunk := o.body[o.off:min(len(o.body), o.off+maxChunk)]
	f := fragment{
		message: o.frag, index: uint16(o.off / maxChunk),
		count: uint16((len(o.body) + maxChunk - 1) / maxChunk), chunk: chunk,
	}
	return typeFrag, f.encode(), o.off+len(chunk) == len(o.body)
}

// acknowledge removes what the other side has, and returns the messages that
// it now has whole. wanted is the number that it waits for.
func (s *sender) acknowledge(now time.Time, wanted uint64) (whole []uint64, err error) {
	if wanted > s.next {
		return nil, errAhead
	}
	n := 0
	for n < len(s.flight) && s.flight[n].seq < wanted {
		f := s.flight[n]
		s.bytes -= headerSize + len(f.plain) + sealSize
		if f.last {
			whole = append(whole, f.message)
		}
		n++
	}
	if n == 0 {
		return nil, nil
	}
	s.flight = slices.Delete(s.flight, 0, n)
	s.waiting = now
	for _, f := range s.flight { // the way is open again
		if f.wait > resendFirst {
			f.wait = resendFirst
			f.due = earlier(f.due, now.Add(resendFirst))
		}
	}
	return whole, nil
}

// hurry makes everything due: now, or a second after it was sent.
func (s *sender) hurry(now time.Time) {
	for _, f := range s.flight {
		sent := f.due.Add(-f.wait)
		f.wait = 0
		f.due = now
		if again := sent.Add(resendFirst); again.After(now) {
			f.due, f.wait = again, resendFirst
		}
	}
}

// sent notes that f goes out now, and when it is due again: after 1, 2, 4, 8
// and then each 15 seconds.
func (f *flying) sent(now time.Time) {
	f.wait = min(max(2*f.wait, resendFirst), resendMost)
	f.due = now.Add(f.wait)
}

// abandon forgets everything that was sent, and with all true what waits too,
// and starts a new stream. It returns the messages that are lost.
func (s *sender) abandon(now time.Time, all bool) (lost []uint64) {
	for _, f := range s.flight {
		if !slices.Contains(lost, f.message) {
			lost = append(lost, f.message)
		}
	}
	for len(s.queue) > 0 && (all || s.queue[0].off > 0) {
		if id := s.queue[0].id; !slices.Contains(lost, id) {
			lost = append(lost, id)
		}
		s.queued -= len(s.queue[0].body)
		s.queue = s.queue[1:]
	}
	s.flight, s.bytes, s.next, s.waiting = nil, 0, 1, now
	return lost
}

// untouched says that nothing was ever acknowledged of this stream.
func (s *sender) untouched() bool {
	if len(s.flight) > 0 {
		return s.flight[0].seq == 1
	}
	return s.next == 1
}

// deadline is when something is given up or, with keys to send it, due.
func (s *sender) deadline(live bool) time.Time {
	if s.idle() {
		return time.Time{}
	}
	t := s.waiting.Add(giveUp)
	if !live {
		return t
	}
	for _, f := range s.flight {
		t = earlier(t, f.due)
	}
	return t
}

// earlier returns the earlier of two times; the zero time is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
