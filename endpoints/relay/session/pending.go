package session

import (
	"bytes"
	"crypto/ecdh"
	"time"

	"github.com/flynn/noise"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// pending is a handshake under way: at most one. It takes the place of the
// live session only when a frame of the other side decrypts with its keys.
type pending struct {
	initiator bool
	opening   *opening // until message 2 came
	first     []byte   // message 1, sent or received
	reply     []byte   // message 2 that we sent
	bad       int      // messages 2 that did not decrypt
	keys      *keys    // nil until both messages were exchanged
	ours      hello
	theirs    hello
	static    [32]byte // which key of ours it is with
	until     time.Time
	again     time.Time // when the initiator repeats itself; zero: never
	wait      time.Duration
}

// statics are the keys of ours that the other side may know: the one that we
// know it knows first.
func (s *Session) statics() [][32]byte {
	now := s.self.Record().NK
	if mine := [32]byte(s.peer.Mine); mine != now {
		if _, ok := s.self.Static(mine); ok {
			return [][32]byte{mine, now}
		}
	}
	return [][32]byte{now}
}

func (s *Session) noise(initiator bool, static *ecdh.PrivateKey) noise.Config {
	c := sessionNoise(initiator, s.self.ID(), s.peer.ID, static, s.peer.Record.NK, s.peer.PairPSK)
	c.Random = s.random
	return c
}

func (s *Session) hello() hello {
	h := hello{V: version, Limits: ownLimits(), Stream: s.stream, Knows: s.knows}
	if record := s.self.Record(); !bytes.Equal(s.peer.Mine, record.NK[:]) {
		h.Record = &record
	}
	return h
}

// shake moves the handshake on: times it out, repeats its message, or starts
// one when one is wanted and the last is long enough ago.
func (s *Session) shake(now time.Time) {
	if p := s.pend; p != nil && !now.Before(p.until) {
		s.pend = nil
		s.want = s.want && !s.tx.idle()
	}
	switch p := s.pend; {
	case p == nil && s.want && !now.Before(s.tried.Add(handshakeEvery)):
		s.open(now)
	case p != nil && !p.again.IsZero() && !now.Before(p.again):
		s.repeat(now, p)
	}
}

func (s *Session) open(now time.Time) {
	s.tried = now
	statics := s.statics()
	nk := statics[s.tries%len(statics)]
	s.tries++
	static, _ := s.self.Static(nk)
	ours := s.hello()
	payload, err := ours.encode()
	if err != nil {
		return // a hello of ours always fits
	}
	o, err := newOpening(s.noise(true, static), payload)
	if err != nil {
		return // the peer's key is no point of the curve: nobody can answer
	}
	s.pend = &pending{
		initiator: true, opening: o, first: o.message, ours: ours, static: nk,
		until: now.Add(handshakeLife), again: now.Add(handshakeEvery),
	}
	s.out = append(s.out, append([]byte{kindHS1}, o.message...))
}

// repeat sends message 1 once more, unchanged, or a ping that confirms.
func (s *Session) repeat(now time.Time, p *pending) {
	if p.keys == nil {
		s.out = append(s.out, append([]byte{kindHS1}, p.first...))
		p.again = now.Add(handshakeEvery)
		return
	}
	wanted := s.rx.last + 1
	if p.fresh() {
		wanted = 1
	}
	s.sendWanted(p.keys, typePing, wanted)
	p.wait = max(2*p.wait, resendFirst)
	p.again = now.Add(p.wait)
}

// knockGap is how soon a first message that is pending is repeated when the
// other side shows that it is there.
const knockGap = 50 * time.Millisecond

// onOpening takes message 1. It may be a replay, so nothing that exists
// changes because of it but the one handshake that is pending.
func (s *Session) onOpening(now time.Time, message []byte) bool {
	if p := s.pend; p != nil && now.Before(p.until) {
		switch {
		case p.initiator && s.lower():
			// Simultaneous: ours counts. But who knocks is there, and may have come
			// after ours went: without this both would wait for seconds.
			if p.keys == nil && !now.Before(p.again.Add(knockGap-handshakeEvery)) {
				s.repeat(now, p)
			}
			return false
		case !p.initiator && bytes.Equal(p.first, message):
			return s.replyAgain(now, p)
		}
	}
	if !s.answered.IsZero() && now.Before(s.answered.Add(handshakeEvery)) || !s.mayTry(now) {
		return false
	}
	for _, nk := range s.statics() {
		static, _ := s.self.Static(nk)
		a, err := readOpening(s.noise(false, static), message)
		if err == nil {
			return s.answer(now, a, message, nk)
		}
	}
	s.bad++
	return false
}

// mayTry bounds what forged openings cost: five tries in five seconds.
func (s *Session) mayTry(now time.Time) bool {
	if !now.Before(s.badSince.Add(handshakeEvery)) {
		s.bad, s.badSince = 0, now
	}
	return s.bad < badOpenings
}

func (s *Session) answer(now time.Time, a *answer, first []byte, nk [32]byte) bool {
	theirs, ok := s.acceptable(now, a.payload)
	if !ok {
		return false
	}
	ours := s.hello()
	payload, err := ours.encode()
	if err != nil {
		return false
	}
	reply, k, err := a.reply(payload)
	if err != nil {
		return false
	}
	s.answered = now
	s.pend = &pending{
		first: bytes.Clone(first), reply: reply, keys: k, ours: ours, theirs: theirs, static: nk,
		until: now.Add(handshakeLife),
	}
	s.out = append(s.out, append([]byte{kindHS2}, reply...))
	return true
}

// replyAgain answers an opening that came again, unchanged: our reply was
// lost, or it is a replay.
func (s *Session) replyAgain(now time.Time, p *pending) bool {
	if now.Before(s.answered.Add(replyEvery)) {
		return false
	}
	s.answered = now
	s.out = append(s.out, append([]byte{kindHS2}, p.reply...))
	return true
}

// onReply takes message 2.
func (s *Session) onReply(now time.Time, message []byte) bool {
	p := s.pend
	if p == nil || !p.initiator || p.keys != nil || p.bad >= badOpenings*4 || !now.Before(p.until) {
		return false
	}
	payload, k, err := p.opening.finish(message)
	if err != nil {
		p.bad++
		return false
	}
	theirs, ok := s.acceptable(now, payload)
	if !ok {
		s.pend = nil
		return false
	}
	p.keys, p.theirs, p.opening = k, theirs, nil
	s.repeat(now, p)
	return true
}

// acceptable reads the other side's hello. Its key must be good at now: by
// the record that we have, or by a newer one that it sends.
func (s *Session) acceptable(now time.Time, payload []byte) (hello, bool) {
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

// fresh says whether streams start anew: they go on only when each side
// knows what the other one sends.
func (p *pending) fresh() bool { return !p.ours.continues(p.theirs) || !p.theirs.continues(p.ours) }

// confirm makes the pending handshake the live session. Both sides have
// stated which stream they send and which one they know; from these four
// values both conclude the same about what goes on and what starts anew.
func (s *Session) confirm(now time.Time) {
	p := s.pend
	fresh := p.fresh()
	if s.live != nil && !fresh {
		s.old = append(s.old, &kept{keys: s.live, until: now.Add(drain)})
	}
	if fresh {
		// When we have sent to this very stream and it does not know ours, then
		// it never confirmed a session with us, and has nothing that we sent.
		s.old, s.rx = nil, receiver{}
		if !p.ours.continues(p.theirs) || !s.tx.untouched() {
			s.lose(s.tx.abandon(now, false), ErrForgotten)
		}
	}
	s.live, s.born, s.pend, s.want, s.tries = p.keys, now, nil, false, 0
	stream := p.theirs.Stream
	s.knows = &stream
	s.maxMessage = min(MaxMessage, p.theirs.Limits.Message)
	s.settleHint(fresh)
	s.learn(p)
	s.events = append(s.events, Connected{Fresh: fresh})
	for _, f := range s.tx.flight {
		if fresh {
			f.due, f.wait = now, 0 // no key that sealed it is left
		}
	}
}

// learn notes what the handshake said about keys.
func (s *Session) learn(p *pending) {
	if r := p.theirs.Record; r != nil && r.NK != s.peer.Record.NK {
		s.peer.Record = *r
		s.events = append(s.events, Rotated{Record: *r})
	}
	known := p.static
	if p.initiator && p.ours.Record != nil {
		known = p.ours.Record.NK // the other side has confirmed, so it has read it
	}
	if !bytes.Equal(s.peer.Mine, known[:]) {
		s.peer.Mine = bytes.Clone(known[:])
		s.events = append(s.events, Learned{NK: known})
	}
}

// sendReset hints that a tag is not known here.
func (s *Session) sendReset(now time.Time, t tag) {
	if !s.resetAt.IsZero() && now.Before(s.resetAt.Add(resetEvery)) {
		return
	}
	s.resetAt = now
	s.out = append(s.out, resetFrame(t))
}

// onReset may start a handshake and does nothing else, because anybody on the
// way can send one. Hints that turn out to be false are believed ever less
// often, unless the other side is silent when it should not be.
func (s *Session) onReset(now time.Time, payload []byte) bool {
	t, err := parseReset(payload)
	if err != nil || s.live == nil || s.live.tag != t || s.pend != nil {
		return false
	}
	wait := s.hintWait
	if !s.tx.idle() && !now.Before(s.mute().Add(resendFirst)) {
		wait = handshakeEvery
	}
	if !s.hinted.IsZero() && now.Before(s.hinted.Add(wait)) {
		return false
	}
	s.hinted, s.ofHint, s.want = now, true, true
	return true
}

func (s *Session) settleHint(fresh bool) {
	if s.ofHint {
		s.hintWait = min(2*s.hintWait, hintMost)
	}
	if fresh {
		s.hintWait = handshakeEvery
	}
	s.ofHint = false
}

// Peer returns the peer as the session knows it now, after Rotated and Learned.
func (s *Session) Peer() identity.Peer { return s.peer }
