package session

import (
	"bytes"
	"crypto/ecdh"
	"time"

	"github.com/flynn/noise"
)

// A pendingHandshake is the current handshake; a session has at most one. It
// replaces the live keys only when a frame of the peer decrypts with its keys.
type pendingHandshake struct {
	initiator  bool
	handshake  *initiator // nil on the responder's side and after message 2
	message1   []byte     // sent or received
	message2   []byte     // that we sent
	failures   int        // messages 2 that did not decrypt
	keys       *keys      // nil until both messages were exchanged
	ours       hello
	theirs     hello
	ownKey     [32]byte // the key of ours that it uses
	until      time.Time
	resendAt   time.Time // when the initiator resends; zero: never
	resendWait time.Duration
}

// ownKeys returns our session keys that the peer may know. The key that it
// knows according to the store comes first.
func (s *Session) ownKeys() [][32]byte {
	now := s.self.Record().NK
	if mine := [32]byte(s.peer.Mine); mine != now {
		if _, ok := s.self.Static(mine); ok {
			return [][32]byte{mine, now}
		}
	}
	return [][32]byte{now}
}

func (s *Session) noiseConfig(initiator bool, static *ecdh.PrivateKey) noise.Config {
	c := sessionNoise(initiator, s.self.ID(), s.peer.ID, static, s.peer.Record.NK, s.peer.PairPSK)
	c.Random = s.random
	return c
}

func (s *Session) newHello() hello {
	h := hello{V: version, Limits: ownLimits(), Stream: s.stream, Knows: s.peerStream}
	if record := s.self.Record(); !bytes.Equal(s.peer.Mine, record.NK[:]) {
		h.Record = &record
	}
	return h
}

// driveHandshake times the handshake out, resends its message, or starts one if
// it is needed and the last start is long enough ago.
func (s *Session) driveHandshake(now time.Time) {
	if p := s.pending; p != nil && !now.Before(p.until) {
		s.pending = nil
		s.wantHandshake = s.wantHandshake && !s.tx.idle()
	}
	switch p := s.pending; {
	case p == nil && s.wantHandshake && !now.Before(s.lastStarted.Add(handshakeInterval)):
		s.startHandshake(now)
	case p != nil && !p.resendAt.IsZero() && !now.Before(p.resendAt):
		s.resendHandshake(now, p)
	}
}

func (s *Session) startHandshake(now time.Time) {
	s.lastStarted = now
	statics := s.ownKeys()
	nk := statics[s.attempts%len(statics)]
	s.attempts++
	static, _ := s.self.Static(nk)
	ours := s.newHello()
	payload, err := ours.encode()
	if err != nil {
		return // our own hello always fits
	}
	o, err := newInitiator(s.noiseConfig(true, static), payload)
	if err != nil {
		return // the peer's key is invalid: no handshake is possible
	}
	s.pending = &pendingHandshake{
		initiator: true, handshake: o, message1: o.message1, ours: ours, ownKey: nk,
		until: now.Add(handshakeTimeout), resendAt: now.Add(handshakeInterval),
	}
	s.out = append(s.out, append([]byte{kindHS1}, o.message1...))
}

// resendHandshake sends message 1 again, unchanged. After message 2 it sends a
// ping that confirms the handshake.
func (s *Session) resendHandshake(now time.Time, p *pendingHandshake) {
	if p.keys == nil {
		s.out = append(s.out, append([]byte{kindHS1}, p.message1...))
		p.resendAt = now.Add(handshakeInterval)
		return
	}
	wanted := s.rx.last + 1
	if p.newStreams() {
		wanted = 1
	}
	s.sendCtlWanted(p.keys, typePing, wanted)
	p.resendWait = max(2*p.resendWait, resendFirst)
	p.resendAt = now.Add(p.resendWait)
}

// message1MinGap is the shortest time between two copies of message 1, if the
// peer shows that it is online.
const message1MinGap = 50 * time.Millisecond

// onMessage1 handles message 1. It may be a replay, so it changes nothing but
// the pending handshake.
func (s *Session) onMessage1(now time.Time, message []byte) bool {
	if p := s.pending; p != nil && now.Before(p.until) {
		switch {
		case p.initiator && s.hasLowerID():
			// Both sides started, and ours counts because of the lower id. The
			// peer may have come online after our message 1 was sent, so send
			// it again. Without this both sides would wait for
			// handshakeInterval.
			if p.keys == nil && !now.Before(p.resendAt.Add(message1MinGap-handshakeInterval)) {
				s.resendHandshake(now, p)
			}
			return false
		case !p.initiator && bytes.Equal(p.message1, message):
			return s.resendReply(now, p)
		}
	}
	if !s.replies.allow(now, s.lastReplied, message) || !s.mayDecrypt(now) {
		return false
	}
	for _, nk := range s.ownKeys() {
		static, _ := s.self.Static(nk)
		a, err := newResponder(s.noiseConfig(false, static), message)
		if err == nil {
			return s.respond(now, a, message, nk)
		}
	}
	s.failedOpens++
	return false
}

// mayDecrypt limits the cost of forged messages 1: maxFailedOpens attempts per
// handshakeInterval.
func (s *Session) mayDecrypt(now time.Time) bool {
	if !now.Before(s.failedSince.Add(handshakeInterval)) {
		s.failedOpens, s.failedSince = 0, now
	}
	return s.failedOpens < maxFailedOpens
}

func (s *Session) respond(now time.Time, a *responder, first []byte, nk [32]byte) bool {
	theirs, ok := s.checkHello(now, a.payload)
	if !ok {
		return false
	}
	ours := s.newHello()
	payload, err := ours.encode()
	if err != nil {
		return false
	}
	reply, k, err := a.writeMessage2(payload)
	if err != nil {
		return false
	}
	s.lastReplied = now
	s.replies.answered(now, first)
	s.pending = &pendingHandshake{
		message1: bytes.Clone(first), message2: reply, keys: k, ours: ours, theirs: theirs, ownKey: nk,
		until: now.Add(handshakeTimeout),
	}
	s.out = append(s.out, append([]byte{kindHS2}, reply...))
	return true
}

// resendReply answers a duplicate of message 1 with the same message 2. Our
// reply was lost, or message 1 is a replay.
func (s *Session) resendReply(now time.Time, p *pendingHandshake) bool {
	if now.Before(s.lastReplied.Add(replyInterval)) {
		return false
	}
	s.lastReplied = now
	s.out = append(s.out, append([]byte{kindHS2}, p.message2...))
	return true
}

// onMessage2 handles message 2.
func (s *Session) onMessage2(now time.Time, message []byte) bool {
	p := s.pending
	if p == nil || !p.initiator || p.keys != nil || p.failures >= maxFailedOpens*4 || !now.Before(p.until) {
		return false
	}
	payload, k, err := p.handshake.readMessage2(message)
	if err != nil {
		p.failures++
		return false
	}
	theirs, ok := s.checkHello(now, payload)
	if !ok {
		s.pending = nil
		return false
	}
	p.keys, p.theirs, p.handshake = k, theirs, nil
	s.resendHandshake(now, p)
	return true
}

// checkHello reads the peer's hello. The peer's key must be valid at now, by
// the stored record or by a newer one in the hello.
func (s *Session) checkHello(now time.Time, payload []byte) (hello, bool) {
	h, err := decodeHello(payload)
	if err != nil {
		return h, false
	}
	record := s.peer.Record
	if h.Record != nil {
		if h.Record.ID != s.peer.ID || h.Record.NotAfter.Before(record.NotAfter) {
			return h, false
		}
		record = *h.Record
	}
	return h, record.Check(now) == nil
}

// newStreams reports whether both streams start again. They continue only if
// each side knows the other's stream.
func (p *pendingHandshake) newStreams() bool {
	return !p.ours.continues(p.theirs) || !p.theirs.continues(p.ours)
}

// confirm makes the keys of the pending handshake the live keys. Both sides
// have stated their own stream and the one they know. From these four values
// both compute the same decision about which streams continue.
func (s *Session) confirm(now time.Time) {
	p := s.pending
	fresh := p.newStreams()
	if s.live != nil && !fresh {
		s.retired = append(s.retired, &retiredKeys{keys: s.live, until: now.Add(drainTime)})
	}
	if fresh {
		// If we know the peer's stream and it has acknowledged nothing of ours,
		// it never confirmed a session with us. Nothing has arrived there, so
		// nothing is lost.
		s.retired, s.rx = nil, receiver{}
		if !p.ours.continues(p.theirs) || !s.tx.nothingAcknowledged() {
			s.reportLost(s.tx.reset(now, false), ErrForgotten)
		}
	}
	s.live, s.liveSince, s.pending, s.wantHandshake, s.attempts = p.keys, now, nil, false, 0
	stream := p.theirs.Stream
	s.peerStream = &stream
	s.maxMessage = min(MaxMessage, p.theirs.Limits.Message)
	s.updateHintInterval(fresh)
	s.learnKeys(p)
	s.events = append(s.events, Connected{NewStream: fresh})
	for _, f := range s.tx.inFlight {
		if fresh {
			f.due, f.wait = now, 0 // the keys of its ciphertext are gone
		}
	}
}

// learnKeys stores what the handshake revealed about session keys.
func (s *Session) learnKeys(p *pendingHandshake) {
	if r := p.theirs.Record; r != nil && r.NK != s.peer.Record.NK {
		s.peer.Record = *r
		s.events = append(s.events, Rotated{Record: *r})
	}
	known := p.ownKey
	if p.initiator && p.ours.Record != nil {
		known = p.ours.Record.NK // the peer confirmed, so it has read our record
	}
	if !bytes.Equal(s.peer.Mine, known[:]) {
		s.peer.Mine = bytes.Clone(known[:])
		s.events = append(s.events, Learned{NK: known})
	}
}

// sendReset tells the peer that its tag is unknown here.
func (s *Session) sendReset(now time.Time, t tag) {
	if !s.lastReset.IsZero() && now.Before(s.lastReset.Add(resetInterval)) {
		return
	}
	s.lastReset = now
	s.out = append(s.out, resetFrame(t))
}

// onReset may start a handshake and does nothing else, because anyone on the
// path can send a reset. The interval between accepted hints doubles while they
// turn out false, unless the peer is silent when it should not be.
func (s *Session) onReset(now time.Time, payload []byte) bool {
	t, err := parseReset(payload)
	if err != nil || s.live == nil || s.live.tag != t || s.pending != nil {
		return false
	}
	wait := s.hintInterval
	if !s.tx.idle() && !now.Before(s.silentSince().Add(resendFirst)) {
		wait = handshakeInterval
	}
	if !s.lastHint.IsZero() && now.Before(s.lastHint.Add(wait)) {
		return false
	}
	s.lastHint, s.fromHint, s.wantHandshake = now, true, true
	return true
}

func (s *Session) updateHintInterval(fresh bool) {
	if s.fromHint {
		s.hintInterval = min(2*s.hintInterval, maxHintInterval)
	}
	if fresh {
		s.hintInterval = handshakeInterval
	}
	s.fromHint = false
}
