package session

import (
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// Limits of a session. Ages are of its keys.
const (
	handshakeTimeout  = 10 * time.Second
	handshakeInterval = 5 * time.Second
	replyInterval     = 4 * time.Second // shorter than the peer's handshakeInterval, whatever the delays
	rekeyAfter        = time.Hour
	rekeyFrames       = 1 << 16
	keyLifetime       = 2 * time.Hour
	keyMaxFrames      = 1 << 20
	drainTime         = 30 * time.Second
	higherIDDelay     = time.Minute // so that only one side rekeys
	resetInterval     = 5 * time.Second
	maxHintInterval   = 5 * time.Minute
	maxFailedOpens    = 5 // per handshakeInterval
)

// Config configures a Session. Both fields are required.
type Config struct {
	Self *identity.Device
	Peer identity.Peer // ID, Record, PairPSK and Mine are used
}

// A Session is one device's side of the connection to one peer. It is a state
// machine: each method takes an input and the time, and Take returns what the
// owner must do. It is not safe for concurrent use.
type Session struct {
	channel
	self *identity.Device
	peer identity.Peer

	stream     streamID  // our stream
	peerStream *streamID // the peer's stream, if known
	pending    *pendingHandshake
	liveSince  time.Time // when live was established

	wantHandshake bool      // a handshake is needed
	lastStarted   time.Time // when we last started a handshake
	attempts      int       // handshakes started since the last success
	lastReplied   time.Time // when we last answered a handshake
	replies       replyLimiter
	failedOpens   int // messages 1 that did not decrypt since failedSince
	failedSince   time.Time
	lastReset     time.Time // when we last sent a reset
	lastHint      time.Time // when a reset last made us start a handshake
	hintInterval  time.Duration
	fromHint      bool // the current handshake follows a reset
	maxMessage    int
	random        io.Reader // crypto/rand, except in reproducible tests
}

// New returns a session without keys. The first Send, or the peer, starts the
// handshake.
func New(c Config) *Session {
	return newSession(c, rand.Reader)
}

func newSession(c Config, random io.Reader) *Session {
	s := &Session{
		channel: newChannel(), self: c.Self, peer: c.Peer, random: random,
		hintInterval: handshakeInterval, maxMessage: MaxMessage,
	}
	s.newStream()
	return s
}

func (s *Session) newStream() { _, _ = io.ReadFull(s.random, s.stream[:]) } // crypto/rand does not fail

// Send queues a message and returns its id, which a later Confirmed or Lost
// carries. Errors: ErrTooLarge and ErrQueueFull. After an error nothing was
// queued.
func (s *Session) Send(now time.Time, message []byte) (id uint64, err error) {
	if len(message) > s.maxMessage {
		return 0, ErrTooLarge
	}
	id, err = s.tx.add(now, typeMsg, message)
	if err == nil {
		s.checkRekey(now)
		s.advance(now)
	}
	return id, err
}

// Reconnected tells the session that this device has a new connection to the
// relay. It pings the peer, so both sides resend missing frames.
func (s *Session) Reconnected(now time.Time) {
	if s.live != nil {
		s.sendCtl(s.live, typePing)
		s.tx.expedite(now)
	}
	if p := s.pending; p != nil && p.initiator {
		p.resendAt = now
	}
	s.advance(now)
}

// Receive handles a payload that, according to the relay, the peer has sent. It
// drops payloads that are not authentic.
func (s *Session) Receive(now time.Time, payload []byte) {
	if len(payload) == 0 || len(payload) > maxPayload || !s.dispatch(now, payload) {
		s.dropped++
	}
	s.advance(now)
}

// Tick advances the session to now. Call it at Output.Next or later.
func (s *Session) Tick(now time.Time) { s.advance(now) }

// Take returns the output since the last call.
func (s *Session) Take() Output {
	o := Output{Payloads: s.out, Events: s.events, Next: s.Deadline()}
	s.out, s.events = nil, nil
	return o
}

// Deadline returns when Tick has work to do. Zero means never.
func (s *Session) Deadline() time.Time {
	t := s.channel.deadline()
	if s.live != nil && !s.wantHandshake && s.pending == nil && !s.tx.idle() {
		t = earlier(t, s.silentSince().Add(silenceBeforeProbe))
	}
	if s.live != nil {
		t = earlier(t, s.liveSince.Add(keyLifetime))
	}
	switch {
	case s.pending != nil:
		t = earlier(t, s.pending.until)
		t = earlier(t, s.pending.resendAt)
	case s.wantHandshake:
		t = earlier(t, s.lastStarted.Add(handshakeInterval))
	}
	return t
}

// dispatch handles a payload and reports whether it was useful.
func (s *Session) dispatch(now time.Time, payload []byte) bool {
	switch payload[0] {
	case kindHS1:
		return s.onMessage1(now, payload[1:])
	case kindHS2:
		return s.onMessage2(now, payload[1:])
	case kindData, kindCtl:
		return s.onSealed(now, payload)
	case kindReset:
		return s.onReset(now, payload)
	}
	return false
}

func (s *Session) onSealed(now time.Time, payload []byte) bool {
	h, err := parseHeader(payload)
	if err != nil {
		return false
	}
	k := s.findKeys(now, h.tag)
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
	s.onAuthentic(now, k)
	s.onViolation(now, s.receive(now, seq, plain))
	s.checkRekey(now)
	return true
}

func (s *Session) onCtl(now time.Time, k *keys, payload []byte, ctr uint64) bool {
	typ, wanted, err := k.openCtl(payload, ctr)
	if err != nil {
		return false
	}
	s.onAuthentic(now, k)
	s.onViolation(now, s.receiveCtl(now, typ, wanted))
	return true
}

// onAuthentic records that k decrypted a frame. Only the peer can have sent it,
// so the peer has these keys too.
func (s *Session) onAuthentic(now time.Time, k *keys) {
	s.lastReceived = now
	if s.pending != nil && s.pending.keys == k {
		s.confirm(now)
	}
}

// findKeys returns the usable keys with this tag, or nil.
func (s *Session) findKeys(now time.Time, t tag) *keys {
	if s.live != nil && s.live.tag == t && s.usable(now) {
		return s.live
	}
	if s.pending != nil && s.pending.keys != nil && s.pending.keys.tag == t && now.Before(s.pending.until) {
		return s.pending.keys
	}
	for _, k := range s.retired {
		if k.tag == t && now.Before(k.until) {
			return k.keys
		}
	}
	return nil
}

func (s *Session) usable(now time.Time) bool {
	return now.Before(s.liveSince.Add(keyLifetime)) && s.live.frames < keyMaxFrames
}

// checkRekey requests new keys if the live ones are old. The device with the
// higher id waits higherIDDelay longer, so that only one side starts.
func (s *Session) checkRekey(now time.Time) {
	if s.live == nil {
		return
	}
	limit := s.liveSince.Add(rekeyAfter)
	frames := uint64(rekeyFrames)
	if !s.hasLowerID() {
		limit = limit.Add(higherIDDelay)
		frames += rekeyFrames / 64
	}
	if !now.Before(limit) || s.live.frames >= frames {
		s.wantHandshake = true
	}
}

// advance does all work that is due at now.
func (s *Session) advance(now time.Time) {
	if s.live != nil && !s.usable(now) {
		s.live = nil
	}
	if !s.tx.idle() && !now.Before(s.tx.waitingSince.Add(giveUpAfter)) {
		s.reset(now, ErrUnreachable)
	}
	s.flush(now)
	s.wantHandshake = s.wantHandshake || !s.tx.idle() && (s.live == nil || !now.Before(s.silentSince().Add(silenceBeforeProbe)))
	s.driveHandshake(now)
}

// silentSince returns since when the peer owes us an answer.
func (s *Session) silentSince() time.Time {
	if s.tx.waitingSince.After(s.lastReceived) {
		return s.tx.waitingSince
	}
	return s.lastReceived
}

// reset drops all keys and starts a new stream. Queued messages are lost too:
// their senders have waited long enough.
func (s *Session) reset(now time.Time, why error) {
	s.live, s.retired, s.pending, s.wantHandshake, s.probeDue = nil, nil, nil, false, time.Time{}
	s.reportLost(s.tx.reset(now, true), why)
	s.newStream()
}

func (s *Session) onViolation(now time.Time, err error) {
	if err == nil {
		return
	}
	if errors.Is(err, errAhead) {
		s.reset(now, ErrForgotten) // a new stream brings both sides back to frame 1
		return
	}
	s.events = append(s.events, Violated{Reason: err.Error()})
	s.reset(now, ErrViolation)
}

func (s *Session) hasLowerID() bool {
	id := s.self.ID()
	return slices.Compare(id[:], s.peer.ID[:]) < 0
}
