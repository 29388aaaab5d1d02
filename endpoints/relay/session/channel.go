package session

import (
	"slices"
	"time"
)

// A channel carries messages over keys that handshakes gave it: in order,
// once, over a relay that drops, repeats and reorders.
type channel struct {
	live *keys   // encrypts; nil before the first handshake
	old  []*kept // still decrypts
	tx   sender
	rx   receiver

	heard     time.Time // when something authentic last came
	probeDue  time.Time // when to ask again whether the other side is there; zero: not asking
	probeWait time.Duration

	ackDue  time.Time // zero: none is owed
	owed    int       // frames that wait for one
	closing bool

	out     [][]byte
	events  []Event
	dropped int
	// repeated are frames that decrypted and were of no use: here before, or too
	// far ahead.
	repeated int
	audit    func(print [32]byte, number uint64, frame []byte) // tests only
}

type kept struct {
	*keys
	until time.Time
}

func newChannel() channel { return channel{tx: sender{next: 1}} }

// pump sends what the window has room for. After a silence it asks first
// whether the other side still has the keys: what is sent to a device that
// was started again is lost, what still waits is not.
func (c *channel) pump(now time.Time) {
	if c.live == nil || len(c.tx.queue) == 0 {
		return
	}
	if len(c.tx.flight) == 0 && !now.Before(c.heard.Add(silence)) {
		c.probe(now)
		return
	}
	c.probeDue = time.Time{}
	for f := c.tx.cut(); f != nil; f = c.tx.cut() {
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
	c.probeWait = min(max(2*c.probeWait, resendFirst), resendMost)
	c.probeDue = now.Add(c.probeWait)
	c.sendCtl(c.live, typePing)
}

// transmit sends f: the same bytes as the last time, unless the keys have
// changed since. A key never encrypts a number twice.
func (c *channel) transmit(now time.Time, f *flying) {
	if f.by != c.live {
		f.by = c.live
		f.wire = c.live.sealData(f.seq, f.plain)
	}
	c.emit(c.live.dataPrint, f.seq, f.wire)
	f.sent(now)
}

func (c *channel) sendCtl(k *keys, typ byte) { c.sendWanted(k, typ, c.rx.last+1) }

func (c *channel) sendWanted(k *keys, typ byte, wanted uint64) {
	frame := k.sealCtl(typ, wanted)
	c.emit(k.ctlPrint, k.ctrOut, frame)
	c.ackDue, c.owed = time.Time{}, 0
}

func (c *channel) emit(print [32]byte, number uint64, frame []byte) {
	if c.audit != nil {
		c.audit(print, number, frame)
	}
	c.out = append(c.out, slices.Clone(frame))
}

// resend sends what is due.
func (c *channel) resend(now time.Time) {
	if c.live == nil {
		return
	}
	for _, f := range c.tx.flight {
		if !f.due.After(now) {
			c.transmit(now, f)
		}
	}
}

// receive takes a data frame that decrypted. An error means that the other
// side, which is authentic, breaks the protocol.
func (c *channel) receive(now time.Time, seq uint64, plain []byte) error {
	ready, fresh := c.rx.place(seq, plain)
	if !fresh {
		c.repeated++
	}
	c.owe(now, !fresh || len(ready) == 0)
	for _, plain := range ready {
		if err := c.handOn(now, plain); err != nil {
			return err
		}
	}
	return nil
}

func (c *channel) handOn(now time.Time, plain []byte) error {
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
		c.owe(now, true)
		c.events = append(c.events, Closed{})
		return nil
	}
	if len(body) == 0 {
		return errFrame
	}
	c.owe(now, true)
	c.events = append(c.events, Delivered{Message: body})
	return nil
}

// owe notes an acknowledgement: at once for the end of a message and for what
// shows a loss, after a moment in the middle of one.
func (c *channel) owe(now time.Time, atOnce bool) {
	c.owed++
	due := now.Add(ackDelay)
	if atOnce || c.owed >= windowFrames/4 {
		due = now
	}
	c.ackDue = earlier(c.ackDue, due)
}

// control takes a ctl frame that decrypted.
func (c *channel) control(now time.Time, typ byte, wanted uint64) error {
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
		c.tx.hurry(now)
	}
	return nil
}

// silence is after what time without a sign of life the other side may have
// been started again.
const silence = 20 * time.Second

// settle does what is due once something was received or time has passed.
func (c *channel) settle(now time.Time) {
	c.resend(now)
	c.pump(now)
	if c.live != nil && !c.ackDue.IsZero() && !c.ackDue.After(now) {
		c.sendCtl(c.live, typeAck)
	}
	c.old = slices.DeleteFunc(c.old, func(k *kept) bool { return !now.Before(k.until) })
}

func (c *channel) lose(ids []uint64, why error) {
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
	for _, k := range c.old {
		t = earlier(t, k.until)
	}
	return t
}
