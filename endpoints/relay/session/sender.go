package session

import (
	"errors"
	"slices"
	"time"
)

const (
	windowFrames      = 16
	windowBytes       = 256 << 10
	resendFirst       = time.Second
	resendMax         = 15 * time.Second
	giveUpAfter       = 150 * time.Second
	maxQueuedMessages = 64
	maxQueuedBytes    = 1 << 20 // bytes
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
	next           uint64 // seq of the next frame, from 1
	inFlight       []*inFlightFrame
	bytes          int // of flight
	queue          []queuedMessage
	queued         int // bytes
	lastID         uint64
	lastFragmentID uint32
	waitingSince   time.Time // since when nothing was acknowledged of what there is
}

// queuedMessage is a message that is not wholly in flight.
type queuedMessage struct {
	id         uint64
	typ        byte
	body       []byte
	offset     int
	fragmentID uint32
}

// inFlightFrame is a frame that may have arrived.
type inFlightFrame struct {
	seq     uint64
	plain   []byte
	message uint64
	last    bool // of its message
	keys    *keys
	sealed  []byte // sealed by by, and never sealed by it again
	due     time.Time
	wait    time.Duration
}

func (s *sender) idle() bool { return len(s.inFlight) == 0 && len(s.queue) == 0 }

func (s *sender) add(now time.Time, typ byte, body []byte) (id uint64, err error) {
	switch {
	case len(body) > MaxMessage || len(body) == 0 && typ == typeMsg:
		return 0, ErrTooLarge
	case len(s.queue) >= maxQueuedMessages || s.queued+len(body) > maxQueuedBytes:
		return 0, ErrQueueFull
	}
	if s.idle() {
		s.waitingSince = now
	}
	s.lastID++
	s.queue = append(s.queue, queuedMessage{id: s.lastID, typ: typ, body: slices.Clone(body)})
	s.queued += len(body)
	return s.lastID, nil
}

// nextFrame makes the next frame, when there is one and the window has room.
func (s *sender) nextFrame() *inFlightFrame {
	if len(s.queue) == 0 || len(s.inFlight) >= windowFrames {
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
	f := &inFlightFrame{seq: s.next, plain: plain, message: o.id, last: last}
	if typ == typeFrag {
		o.offset += len(body) - fragFixed
	}
	if last {
		s.queued -= len(o.body)
		s.queue = s.queue[1:]
	}
	s.next++
	s.bytes += size
	s.inFlight = append(s.inFlight, f)
	return f
}

// fragment returns the piece at o.off. Pieces are as large as they can be.
func (s *sender) fragment(o *queuedMessage) (typ byte, body []byte, last bool) {
	if o.offset == 0 {
		s.lastFragmentID++
		o.fragmentID = s.lastFragmentID
	}
	chunk := o.body[o.offset:min(len(o.body), o.offset+maxChunk)]
	f := fragment{
		message: o.fragmentID, index: uint16(o.offset / maxChunk),
		count: uint16((len(o.body) + maxChunk - 1) / maxChunk), chunk: chunk,
	}
	return typeFrag, f.encode(), o.offset+len(chunk) == len(o.body)
}

// acknowledge removes what the other side has, and returns the messages that
// it now has whole. wanted is the number that it waits for.
func (s *sender) acknowledge(now time.Time, wanted uint64) (whole []uint64, err error) {
	if wanted > s.next {
		return nil, errAhead
	}
	n := 0
	for n < len(s.inFlight) && s.inFlight[n].seq < wanted {
		f := s.inFlight[n]
		s.bytes -= headerSize + len(f.plain) + sealSize
		if f.last {
			whole = append(whole, f.message)
		}
		n++
	}
	if n == 0 {
		return nil, nil
	}
	s.inFlight = slices.Delete(s.inFlight, 0, n)
	s.waitingSince = now
	for _, f := range s.inFlight { // the way is open again
		if f.wait > resendFirst {
			f.wait = resendFirst
			f.due = earlier(f.due, now.Add(resendFirst))
		}
	}
	return whole, nil
}

// expedite makes everything due: now, or a second after it was sent.
func (s *sender) expedite(now time.Time) {
	for _, f := range s.inFlight {
		sent := f.due.Add(-f.wait)
		f.wait = 0
		f.due = now
		if again := sent.Add(resendFirst); again.After(now) {
			f.due, f.wait = again, resendFirst
		}
	}
}

// scheduleResend notes that f goes out now, and when it is due again: after 1, 2, 4, 8
// and then each 15 seconds.
func (f *inFlightFrame) scheduleResend(now time.Time) {
	f.wait = min(max(2*f.wait, resendFirst), resendMax)
	f.due = now.Add(f.wait)
}

// reset forgets everything that was sent, and with all true what waits too,
// and starts a new stream. It returns the messages that are lost.
func (s *sender) reset(now time.Time, all bool) (lost []uint64) {
	for _, f := range s.inFlight {
		if !slices.Contains(lost, f.message) {
			lost = append(lost, f.message)
		}
	}
	for len(s.queue) > 0 && (all || s.queue[0].offset > 0) {
		if id := s.queue[0].id; !slices.Contains(lost, id) {
			lost = append(lost, id)
		}
		s.queued -= len(s.queue[0].body)
		s.queue = s.queue[1:]
	}
	s.inFlight, s.bytes, s.next, s.waitingSince = nil, 0, 1, now
	return lost
}

// nothingAcknowledged says that nothing was ever acknowledged of this stream.
func (s *sender) nothingAcknowledged() bool {
	if len(s.inFlight) > 0 {
		return s.inFlight[0].seq == 1
	}
	return s.next == 1
}

// deadline is when something is given up or, with keys to send it, due.
func (s *sender) deadline(live bool) time.Time {
	if s.idle() {
		return time.Time{}
	}
	t := s.waitingSince.Add(giveUpAfter)
	if !live {
		return t
	}
	for _, f := range s.inFlight {
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
