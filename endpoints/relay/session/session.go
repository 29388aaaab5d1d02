package session

import (
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// What a session is bounded by. Ages are of its keys.
const (
	handshakeLife  = 10 * time.Second
	handshakeEvery = 5 * time.Second
	replyEvery     = 4 * time.Second // less than the other side's five, whatever the delays
	rekeyAfter     = time.Hour
	rekeyFrames    = 1 << 16
	refuseAfter    = 2 * time.Hour
	refuseFrames   = 1 << 20
	drain          = 30 * time.Second
	higherWaits    = time.Minute // so that both do not rekey at once
	resetEvery     = 5 * time.Second
	hintMost       = 5 * time.Minute
	badOpenings    = 5 // in handshakeEvery
)

// Config is what a Session is made from.
type Config struct {
	Self *identity.Device
	Peer identity.Peer // ID, Record, PairPSK and Mine
}

// A Session is one device's side of everything between it and one other
// device. It does nothing by itself: each method takes what happened and the
// time, and Take returns what is to be done about it. It is not safe for
// concurrent use.
type Session struct {
	channel
	self *identity.Device
	peer identity.Peer

	stream streamID  // ours
	knows  *streamID // theirs
	pend   *pending
	born   time.Time // of live

	want       bool      // a handshake
	tried      time.Time // when we last started one
	tries      int       // since the last that succeeded
	answered   time.Time // when we last answered one
	bad        int       // openings that did not decrypt
	badSince   time.Time
	resetAt    time.Time // when we last sent a reset
	hinted     time.Time // when a reset last made us start
	hintWait   time.Duration
	ofHint     bool // the handshake under way is for a hint
	maxMessage int
	random     io.Reader // crypto/rand, but in tests that must be repeatable
}

// New returns a session that has not begun: the first Send, or the other
// device, starts the handshake.
func New(c Config) *Session {
	return newSession(c, rand.Reader)
}

func newSession(c Config, random io.Reader) *Session {
	s := &Session{
		channel: newChannel(), self: c.Self, peer: c.Peer, random: random,
		hintWait: handshakeEvery, maxMessage: MaxMessage,
	}
	s.renewStream()
	return s
}

func (s *Session) renewStream() { _, _ = io.ReadFull(s.random, s.stream[:]) } // crypto/rand never fails

// Send queues a message and returns its number, which a Confirmed or a Lost
// will bear. ErrTooLarge, ErrQueueFull and ErrClosed change nothing.
func (s *Session) Send(now time.Time, message []byte) (id uint64, err error) {
	switch {
	case s.closing:
		return 0, ErrClosed
	case len(message) > s.maxMessage:
		return 0, ErrTooLarge
	}
	id, err = s.tx.add(now, typeMsg, message)
	if err == nil {
		s.age(now)
		s.step(now)
	}
	return id, err
}

// Close says goodbye behind what was sent before. Nothing can be sent
// afterwards.
func (s *Session) Close(now time.Time) (id uint64, err error) {
	if s.closing {
		return 0, ErrClosed
	}
	id, err = s.tx.add(now, typeClose, nil)
	if err == nil {
		s.closing = true
		s.step(now)
	}
	return id, err
}

// Connect starts a handshake when there is no session, to find out whether
// the other device is there.
func (s *Session) Connect(now time.Time) {
	s.want = s.want || s.live == nil
	s.step(now)
}

// Reconnected says that this device has a new connection to the relay: each
// side learns what the other misses.
func (s *Session) Reconnected(now time.Time) {
	if s.live != nil {
		s.sendCtl(s.live, typePing)
		s.tx.hurry(now)
	}
	if p := s.pend; p != nil && p.initiator {
		p.again = now
	}
	s.step(now)
}

// Receive takes a payload that the relay says is from the other device. What
// does not come from it is dropped.
func (s *Session) Receive(now time.Time, payload []byte) {
	if len(payload) == 0 || len(payload) > maxPayload || !s.dispatch(now, payload) {
		s.dropped++
	}
	s.step(now)
}

// Tick says that time has passed: call it at Output.Next or later.
func (s *Session) Tick(now time.Time) { s.step(now) }

// Take returns what is to be done, once.
func (s *Session) Take() Output {
	o := Output{Payloads: s.out, Events: s.events, Next: s.Deadline()}
	s.out, s.events = nil, nil
	return o
}

// Dropped counts payloads that were not authentic, not in time or not wanted.
func (s *Session) Dropped() int { return s.dropped }

// Repeated counts data frames that were authentic and of no use: here before,
// sent again because an acknowledgement was late, or replayed; or too far ahead.
func (s *Session) Repeated() int { return s.repeated }

// Heard is when an authentic payload last arrived.
func (s *Session) Heard() time.Time { return s.heard }

// Idle says that nothing waits to be sent or acknowledged.
func (s *Session) Idle() bool { return s.tx.idle() && s.pend == nil }

// Deadline is when Tick has something to do; zero: never.
func (s *Session) Deadline() time.Time {
	t := s.channel.deadline()
	if s.live != nil && !s.want && s.pend == nil && !s.tx.idle() {
		t = earlier(t, s.mute().Add(silence))
	}
	if s.live != nil {
		t = earlier(t, s.born.Add(refuseAfter))
	}
	switch {
	case s.pend != nil:
		t = earlier(t, s.pend.until)
		t = earlier(t, s.pend.again)
	case s.want:
		t = earlier(t, s.tried.Add(handshakeEvery))
	}
	return t
}

// dispatch says whether the payload was of use.
func (s *Session) dispatch(now time.Time, payload []byte) bool {
	switch payload[0] {
	case kindHS1:
		return s.onOpening(now, payload[1:])
	case kindHS2:
		return s.onReply(now, payload[1:])
	case kindData, kindCtl:
		return s.onSealed(now, payload)
	case kindReset:
		return s.onReset(now, payload)
	}
	return false
}

func (s *Session) onSealed(now time.Time, payload []byte) bool {
	h, _, err := parseHeader(payload)
	if err != nil {
		return false
	}
	k := s.keysOf(now, h.tag)
	if k == nil {
		s.sendReset(now, h.tag)
		return false
	}
	if h.kind == kindCtl {
		return s.onCtl(now, k, payload, h.number)
	}
	return s.onData(now, k, payload, h.number)
}

func (s *Session) onData(now time.Time, k *keys, payload []byte, seq uint64) bool {
	plain, err := k.openData(payload, seq)
	if err != nil {
		return false
	}
	s.authentic(now, k)
	s.violated(now, s.receive(now, seq, plain))
	s.age(now)
	return true
}

func (s *Session) onCtl(now time.Time, k *keys, payload []byte, ctr uint64) bool {
	typ, wanted, err := k.openCtl(payload, ctr)
	if err != nil {
		return false
	}
	s.authentic(now, k)
	s.violated(now, s.control(now, typ, wanted))
	return true
}

// authentic notes that k decrypted something: only the other device can have
// sent it, and it has the keys too.
func (s *Session) authentic(now time.Time, k *keys) {
	s.heard = now
	if s.pend != nil && s.pend.keys == k {
		s.confirm(now)
	}
}

// keysOf finds the keys that a frame was sealed with.
func (s *Session) keysOf(now time.Time, t tag) *keys {
	if s.live != nil && s.live.tag == t && s.usable(now) {
		return s.live
	}
	if s.pend != nil && s.pend.keys != nil && s.pend.keys.tag == t && now.Before(s.pend.until) {
		return s.pend.keys
	}
	for _, k := range s.old {
		if k.tag == t && now.Before(k.until) {
			return k.keys
		}
	}
	return nil
}

func (s *Session) usable(now time.Time) bool {
	return now.Before(s.born.Add(refuseAfter)) && s.live.frames < refuseFrames
}

// age asks for new keys where the live ones are old. The device with the
// higher id leaves it to the other one for a minute.
func (s *Session) age(now time.Time) {
	if s.live == nil {
		return
	}
	limit := s.born.Add(rekeyAfter)
	frames := uint64(rekeyFrames)
	if !s.lower() {
		limit = limit.Add(higherWaits)
		frames += rekeyFrames / 64
	}
	if !now.Before(limit) || s.live.frames >= frames {
		s.want = true
	}
}

// step does everything that is due.
func (s *Session) step(now time.Time) {
	if s.live != nil && !s.usable(now) {
		s.live = nil
	}
	if !s.tx.idle() && !now.Before(s.tx.waiting.Add(giveUp)) {
		s.restart(now, ErrUnreachable)
	}
	s.settle(now)
	s.want = s.want || !s.tx.idle() && (s.live == nil || !now.Before(s.mute().Add(silence)))
	s.shake(now)
}

// mute is since when the other side should have answered and has not.
func (s *Session) mute() time.Time {
	if s.tx.waiting.After(s.heard) {
		return s.tx.waiting
	}
	return s.heard
}

// restart forgets all keys and begins a new stream. Messages that wait are
// lost with those in flight: who asked has waited long enough.
func (s *Session) restart(now time.Time, why error) {
	s.live, s.old, s.pend, s.want, s.probeDue = nil, nil, nil, false, time.Time{}
	s.lose(s.tx.abandon(now, true), why)
	s.renewStream()
}

func (s *Session) violated(now time.Time, err error) {
	if err == nil {
		return
	}
	if errors.Is(err, errAhead) {
		s.restart(now, ErrForgotten) // with a new stream both begin at the same place
		return
	}
	s.events = append(s.events, Violated{Reason: err.Error()})
	s.restart(now, ErrViolation)
}

func (s *Session) lower() bool { return slices.Compare(s.selfID(), s.peer.ID[:]) < 0 }

func (s *Session) selfID() []byte {
	id := s.self.ID()
	return id[:]
}
