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
	ErrForgotten   = errors.New("the other device restarted; it is unknown whether it got the message")
	ErrViolation   = errors.New("the other device broke the protocol")
)

// A sender numbers frames, keeps unacknowledged ones and schedules their
// resends. Numbers belong to the stream and continue when keys change, so each
// key encrypts each number at most once.
type sender struct {
	next           uint64 // number of the next frame, from 1
	inFlight       []*inFlightFrame
	bytes          int // of flight
	queue          []queuedMessage
	queued         int // bytes
	lastID         uint64
	lastFragmentID uint32
	waitingSince   time.Time // start of the current wait for an acknowledgement
}

// A queuedMessage is a message that is not completely in flight.
type queuedMessage struct {
	id         uint64
	typ        byte
	body       []byte
	offset     int
	fragmentID uint32
}

// An inFlightFrame is a frame that was sent and is not acknowledged.
type inFlightFrame struct {
	seq     uint64
	plain   []byte
	message uint64
	last    bool // last frame of its message
	keys    *keys
	sealed  []byte // ciphertext under keys; these keys never encrypt the frame again
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

// nextFrame builds the next frame. It returns nil if the queue is empty or the
// send window is full.
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

// fragment returns the part at o.offset. All parts but the last have the
// maximum size.
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

// acknowledge removes the frames below wanted, the number that the peer waits
// for. It returns the ids of messages that the peer now has completely.
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
	for _, f := range s.inFlight { // an acknowledgement shows that the path works, so back-off ends
		if f.wait > resendFirst {
			f.wait = resendFirst
			f.due = earlier(f.due, now.Add(resendFirst))
		}
	}
	return whole, nil
}

// expedite makes all frames due now, but not earlier than resendFirst after
// they were sent.
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

// scheduleResend sets the next resend of f: exponential back-off of 1, 2, 4, 8,
// then 15 seconds.
func (f *inFlightFrame) scheduleResend(now time.Time) {
	f.wait = min(max(2*f.wait, resendFirst), resendMax)
	f.due = now.Add(f.wait)
}

// reset starts a new stream. It drops frames in flight, partly sent messages
// and, if all is set, queued messages. It returns the ids of the lost messages.
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

// nothingAcknowledged reports whether the peer has acknowledged no frame of
// this stream.
func (s *sender) nothingAcknowledged() bool {
	if len(s.inFlight) > 0 {
		return s.inFlight[0].seq == 1
	}
	return s.next == 1
}

// deadline returns when to give up or, with live keys, when the next resend is
// due.
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

// earlier returns the earlier of two times. The zero time means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
