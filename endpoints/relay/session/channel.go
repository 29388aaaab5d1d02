package session

import (
	"slices"
	"time"
)

// A channel carries messages over keys that handshakes gave it: in order,
// once, over a relay that drops, repeats and reorders.
type channel struct {
	live    *keys          // encrypts; nil before the first handshake
	retired []*retiredKeys // still decrypts
	tx      sender
	rx      receiver

	lastReceived time.Time // when something authentic last came
	probeDue     time.Time // when to ask again whether the other side is there; zero: not asking
	probeWait    time.Duration

	ackDue         time.Time // zero: none is owed
	unacknowledged int       // frames that wait for one
	closing        bool

	out     [][]byte
	events  []Event
	dropped int
	// repeated are frames that decrypted and were of no use: here before, or too
	// far ahead.
	repeated int
	audit    func(print [32]byte, number uint64, frame []byte) // tests only
}

type retiredKeys struct {
	*keys
	until time.Time
}

func newChannel() channel { return channel{tx: sender{next: 1}} }

// fillWindow sends what the window has room for. After a silence it asks first
// whether the other side still has the keys: what is sent to a device that
// was started again is lost, what still waits is not.
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

// transmit sends f: the same bytes as the last time, unless the keys have
// changed since. A key never encrypts a number twice.
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

func (c *channel) emit(print [32]byte, number uint64, frame []byte) {
	if c.audit != nil {
		c.audit(print, number, frame)
	}
	c.out = append(c.out, slices.Clone(frame))
}

// resendDue sends what is due.
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

// receive takes a data frame that decrypted. An error means that the other
// side, which is authentic, breaks the protocol.
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
	case typeClose:
		c.scheduleAck(now, true)
		c.events = append(c.events, Closed{})
		return nil
	}
	if len(body) == 0 {
		return errFrame
	}
	c.scheduleAck(now, true)
	c.events = append(c.events, Delivered{Message: body})
	return nil
}

// scheduleAck notes an acknowledgement: at once for the end of a message and for what
// shows a loss, after a moment in the middle of one.
func (c *channel) scheduleAck(now time.Time, atOnce bool) {
	c.unacknowledged++
	due := now.Add(ackDelay)
	if atOnce || c.unacknowledged >= windowFrames/4 {
		due = now
	}
	c.ackDue = earlier(c.ackDue, due)
}

// receiveCtl takes a ctl frame that decrypted.
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

// silenceBeforeProbe is after what time without a sign of life the other side may have
// been started again.
const silenceBeforeProbe = 20 * time.Second

// flush does what is due once something was received or time has passed.
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
