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
	approvalTimeout  = 15 * time.Minute // a person at the host
	maxCapabilities  = 16
	maxCapability    = 64
	maxReason        = 200
)

// Why a pairing failed.
var (
	ErrRefused  = errors.New("the host's owner refused")
	ErrNoAnswer = errors.New("nobody has decided within 15 minutes")
)

// joinerHello is the payload of message 1 of a pairing.
type joinerHello struct {
	V            int                `json:"v"`
	Record       identity.KeyRecord `json:"record"`
	Name         string             `json:"name"`
	Capabilities []string           `json:"capabilities,omitempty"`
}

// hostHello is the payload of message 2. A joiner that comes too late learns
// so: it has shown that it holds the invite.
type hostHello struct {
	V       int            `json:"v"`
	Name    string         `json:"name"`
	Grant   identity.Grant `json:"grant"`
	Room    string         `json:"room,omitempty"`
	Limits  limits         `json:"limits"`
	Refused string         `json:"refused,omitempty"` // expired, used
}

// pairMessage is a transport message of a pairing: the joiner's confirm, then the
// host's paired or refused.
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

// A JoinRequest is a device that asks to be paired, as the host's owner sees it.
type JoinRequest struct {
	ID           identity.DeviceID
	Name         string // what it calls itself: cleaned, not to be trusted
	Capabilities []string
	Digits       string // the same on the other screen, unless somebody sits between
	Grant        identity.Grant
	Room         string
	Auto         bool // the invite says that nobody has to accept
}

// JoinRequested is the event of an Admission: the newcomer is there, live, and waits.
type JoinRequested struct{ Request JoinRequest }

// AwaitingApproval is the event of a Join: the host has the request, and a person there
// may have to accept. Compare Digits with what the host shows.
type AwaitingApproval struct {
	Host   string // what it calls itself
	Digits string
}

// Paired ends a pairing: the two know each other. Peer belongs into the store.
type Paired struct{ Peer identity.Peer }

// PairingFailed ends a pairing without a result.
type PairingFailed struct{ Err error }

func (JoinRequested) event()    {}
func (AwaitingApproval) event() {}
func (Paired) event()           {}
func (PairingFailed) event()    {}

// pairConn is what both sides of a pairing have once they have keys.
type pairConn struct {
	channel
	done bool
}

// open takes a data or ctl frame and returns the words in it.
func (c *pairConn) open(now time.Time, payload []byte) (words []pairMessage) {
	h, _, err := parseHeader(payload)
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

// owns says whether payload was sealed with the keys of this pairing.
func (c *pairConn) owns(payload []byte) bool {
	h, _, err := parseHeader(payload)
	return err == nil && c.live != nil && h.tag == c.live.tag
}

// decodeMessages replaces messages that were delivered by what they say.
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

// timedOut says whether the other side has been silent for too long.
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
	_, _ = rand.Read(b) // never fails
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
