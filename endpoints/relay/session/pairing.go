package session

import (
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/strict"
)

const (
	message1Interval = 5 * time.Second
	approvalTimeout  = 15 * time.Minute // for the host's owner
	maxCapabilities  = 16
	maxCapability    = 64
	maxReason        = 200
)

// Errors of a pairing.
var (
	ErrRefused  = errors.New("the host's owner refused")
	ErrNoAnswer = errors.New("the host did not decide within 15 minutes")
)

// joinerHello is the payload of message 1 of a pairing.
type joinerHello struct {
	V            int                `json:"v"`
	Record       identity.KeyRecord `json:"record"`
	Name         string             `json:"name"`
	Capabilities []string           `json:"capabilities,omitempty"`
}

// hostHello is the payload of message 2. Refused tells a joiner why its invite
// is not valid any more. Only a holder of the invite can read it.
type hostHello struct {
	V       int            `json:"v"`
	Name    string         `json:"name"`
	Grant   identity.Grant `json:"grant"`
	Room    string         `json:"room,omitempty"`
	Limits  limits         `json:"limits"`
	Refused string         `json:"refused,omitempty"` // expired, used
}

// A pairMessage is a transport message of a pairing: confirm by the joiner,
// then paired or refused by the host.
type pairMessage struct {
	V       int    `json:"v"`
	Type    string `json:"type"`
	PairPSK []byte `json:"pair_psk,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

const (
	messageConfirm = "confirm"
	messagePaired  = "paired"
	messageRefused = "refused"

	refusedExpired = "expired"
	refusedUsed    = "used"
)

// A JoinRequest describes a device that asks to pair, for the host's owner.
type JoinRequest struct {
	ID           identity.DeviceID
	Name         string // stated by the device: cleaned, not trustworthy
	Capabilities []string
	Digits       string // equal on both screens unless an attacker sits between
	Grant        identity.Grant
	Room         string
	Auto         bool // the invite needs no approval by hand
}

// JoinRequested is the event of a PairingAttempt whose joiner is confirmed and
// waits for Accept or Refuse.
type JoinRequested struct{ Request JoinRequest }

// AwaitingApproval is the event of a Joiner whose request has reached the host.
// The host's owner may have to accept. Digits must equal those on the host's
// screen.
type AwaitingApproval struct {
	Host   string // stated by the host: not trustworthy
	Digits string
}

// Paired ends a pairing with success. Peer must be stored.
type Paired struct{ Peer identity.Peer }

// PairingFailed ends a pairing without a peer.
type PairingFailed struct{ Err error }

func (JoinRequested) event()    {}
func (AwaitingApproval) event() {}
func (Paired) event()           {}
func (PairingFailed) event()    {}

// pairConn is the part that both sides of a pairing share, once they have keys.
type pairConn struct {
	channel
	done bool
}

// open decrypts a data or ctl frame and returns the messages in it.
func (c *pairConn) open(now time.Time, payload []byte) (words []pairMessage) {
	h, err := parseHeader(payload)
	if err != nil || c.live == nil || h.tag != c.live.tag {
		c.dropped++
		return nil
	}
	if h.kind == kindCtl {
		typ, wanted, err := c.live.openCtl(payload, h.number)
		if err != nil {
			c.dropped++
			return nil
		}
		c.lastReceived = now
		if c.receiveCtl(now, typ, wanted) != nil {
			c.fail(ErrViolation)
		}
		return nil
	}
	plain, err := c.live.openData(payload, h.number)
	if err != nil {
		c.dropped++
		return nil
	}
	c.lastReceived = now
	if err := c.receive(now, h.number, plain); err != nil {
		c.fail(ErrViolation)
		return nil
	}
	return c.decodeMessages()
}

// owns reports whether payload carries the tag of this pairing's keys.
func (c *pairConn) owns(payload []byte) bool {
	h, err := parseHeader(payload)
	return err == nil && c.live != nil && h.tag == c.live.tag
}

// decodeMessages takes the Delivered events out and returns their decoded
// messages.
func (c *pairConn) decodeMessages() (words []pairMessage) {
	events := c.events
	c.events = nil
	for _, e := range events {
		d, ok := e.(Delivered)
		if !ok {
			c.events = append(c.events, e)
			continue
		}
		var v pairMessage
		if err := strict.Decode(d.Message, 2, &v); err != nil || v.V != version || len(v.Reason) > maxReason {
			c.fail(ErrViolation)
			return nil
		}
		words = append(words, v)
	}
	return words
}

func (c *pairConn) sendMessage(now time.Time, v pairMessage) error {
	b, err := padded(v)
	if err == nil {
		_, err = c.tx.add(now, typeMsg, b)
	}
	return err
}

func (c *pairConn) fail(err error) {
	if !c.done {
		c.done = true
		c.events = append(c.events, PairingFailed{err})
	}
}

// timedOut reports whether the peer has not acknowledged for giveUpAfter.
func (c *pairConn) timedOut(now time.Time) bool {
	return !c.tx.idle() && !now.Before(c.tx.waitingSince.Add(giveUpAfter))
}

func (c *pairConn) take(next time.Time) Output {
	events := slices.DeleteFunc(c.events, func(e Event) bool { _, ok := e.(Confirmed); return ok })
	o := Output{Payloads: c.out, Events: events, Next: next}
	c.out, c.events = nil, nil
	return o
}

func newPSK() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // does not fail
	return b
}

func cleanCapabilities(list []string) []string {
	var out []string
	for _, s := range list[:min(len(list), maxCapabilities)] {
		if s = identity.CleanName(s); s != "" && len(s) <= maxCapability {
			out = append(out, s)
		}
	}
	return out
}
