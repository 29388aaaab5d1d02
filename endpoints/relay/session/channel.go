package session

import (
	"slices"
	"time"
)

// A channel delivers messages in order and exactly once, over a relay that
// drops, repeats and reorders frames. It encrypts with the keys that handshakes
// produce. It is an automatic-repeat-request protocol with selective repeat
// (RFC 3366).
type channel struct {
	live    *keys          // the keys that encrypt; nil before the first handshake
	retired []*retiredKeys // decrypt only
	tx      sender
	rx      receiver

	lastReceived time.Time // last authentic frame
	probeDue     time.Time // next ping that asks whether the peer is alive; zero: no probe under way
	probeWait    time.Duration

	ackDue         time.Time // zero: no acknowledgement is due
	unacknowledged int       // frames received since the last acknowledgement

	out     [][]byte
	events  []Event
	dropped int
	// repeated counts frames that decrypted but were useless: duplicates, or
	// too far ahead of the next expected frame.
	repeated int
	audit    func(fingerprint [32]byte, number uint64, frame []byte) // tests only
}

type retiredKeys struct {
	*keys
	until time.Time
}

func newChannel() channel { return channel{tx: sender{next: 1}} }

// fillWindow sends queued messages while the send window has room. After
// silenceBeforeProbe it first probes whether the peer still has the keys.
// Messages sent to a restarted peer are lost, queued ones are not.
func (c *channel) fillWindow(now time.Time) {
	if c.live == nil || len(c.tx.queue) == 0 {
		return
	}
	if len(c.tx.inFlight) == 0 && !now.Before(c.lastReceived.Add(silenceBeforeProbe)) {
		c.probe(now)
		return
	}
	c.probeDue = time.Time{}
	for f := c.tx.nextFrame(); f != nil; f = c.tx.nextFrame() {
		c.transmit(now, f)
	}
}

func (c *channel) probe(now time.Time) {
	if !c.probeDue.IsZero() && now.Before(c.probeDue) {
		return
	}
	if c.probeDue.IsZero() {
		c.probeWait = 0
	}
	c.probeWait = min(max(2*c.probeWait, resendFirst), resendMax)
	c.probeDue = now.Add(c.probeWait)
	c.sendCtl(c.live, typePing)
}

// transmit sends f. It reuses the ciphertext unless the keys have changed: a
// key must never encrypt two different plaintexts under one number.
func (c *channel) transmit(now time.Time, f *inFlightFrame) {
	if f.keys != c.live {
		f.keys = c.live
		f.sealed = c.live.sealData(f.seq, f.plain)
	}
	c.emit(c.live.dataFingerprint, f.seq, f.sealed)
	f.scheduleResend(now)
}

func (c *channel) sendCtl(k *keys, typ byte) { c.sendCtlWanted(k, typ, c.rx.last+1) }

func (c *channel) sendCtlWanted(k *keys, typ byte, wanted uint64) {
	frame := k.sealCtl(typ, wanted)
	c.emit(k.ctlFingerprint, k.ctrOut, frame)
	c.ackDue, c.unacknowledged = time.Time{}, 0
}

func (c *channel) emit(fingerprint [32]byte, number uint64, frame []byte) {
	if c.audit != nil {
		c.audit(fingerprint, number, frame)
	}
	c.out = append(c.out, slices.Clone(frame))
}

// resendDue sends the frames whose resend time has come.
func (c *channel) resendDue(now time.Time) {
	if c.live == nil {
		return
	}
	for _, f := range c.tx.inFlight {
		if !f.due.After(now) {
			c.transmit(now, f)
		}
	}
}

// receive handles a data frame that decrypted. An error means that the
// authenticated peer broke the protocol.
func (c *channel) receive(now time.Time, seq uint64, plain []byte) error {
	ready, fresh := c.rx.insert(seq, plain)
	if !fresh {
		c.repeated++
	}
	c.scheduleAck(now, !fresh || len(ready) == 0)
	for _, plain := range ready {
		if err := c.deliver(now, plain); err != nil {
			return err
		}
	}
	return nil
}

func (c *channel) deliver(now time.Time, plain []byte) error {
	typ, body, err := decodeData(plain)
	if err != nil {
		return err
	}
	switch typ {
	case typeFrag:
		message, err := c.rx.assemble(body)
		if err != nil || message == nil {
			return err
		}
		body = message
	}
	if len(body) == 0 {
		return errFrame
	}
	c.scheduleAck(now, true)
	c.events = append(c.events, Delivered{Message: body})
	return nil
}

// scheduleAck schedules an acknowledgement: immediately at the end of a message
// or after a loss, after ackDelay within a message.
func (c *channel) scheduleAck(now time.Time, atOnce bool) {
	c.unacknowledged++
	due := now.Add(ackDelay)
	if atOnce || c.unacknowledged >= windowFrames/4 {
		due = now
	}
	c.ackDue = earlier(c.ackDue, due)
}

// receiveCtl handles a ctl frame that decrypted.
func (c *channel) receiveCtl(now time.Time, typ byte, wanted uint64) error {
	whole, err := c.tx.acknowledge(now, wanted)
	if err != nil {
		return err
	}
	for _, id := range whole {
		c.events = append(c.events, Confirmed{ID: id})
	}
	if typ == typePing && c.live != nil {
		c.sendCtl(c.live, typePong)
	}
	if typ != typeAck {
		c.tx.expedite(now)
	}
	return nil
}

// silenceBeforeProbe is the silence after which the peer may have restarted.
const silenceBeforeProbe = 20 * time.Second

// flush sends everything that is due. Call it after each input.
func (c *channel) flush(now time.Time) {
	c.resendDue(now)
	c.fillWindow(now)
	if c.live != nil && !c.ackDue.IsZero() && !c.ackDue.After(now) {
		c.sendCtl(c.live, typeAck)
	}
	c.retired = slices.DeleteFunc(c.retired, func(k *retiredKeys) bool { return !now.Before(k.until) })
}

func (c *channel) reportLost(ids []uint64, why error) {
	for _, id := range ids {
		c.events = append(c.events, Lost{ID: id, Err: why})
	}
}

func (c *channel) deadline() time.Time {
	t := c.tx.deadline(c.live != nil)
	if c.live != nil {
		t = earlier(t, c.ackDue)
		t = earlier(t, c.probeDue)
	}
	for _, k := range c.retired {
		t = earlier(t, k.until)
	}
	return t
}
