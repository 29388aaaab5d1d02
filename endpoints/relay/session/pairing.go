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

	// pairVersion is the version of pairing payloads. Version 1 had no
	// commitment, so its digits could be forged by trying.
	pairVersion = 2
)

// Errors of a pairing.
var (
	ErrRefused    = errors.New("the host's owner refused")
	ErrDeclined   = errors.New("the joining device's owner refused")
	ErrNoAnswer   = errors.New("an owner did not decide within 15 minutes")
	ErrOldRelease = errors.New("the other device has an older release of moot, in which an attacker could forge the digits; update it, then pair again")
)

// oldReleaseName is the host's name for a joiner of version 1. Its release
// shows it as the host that it waits for, and then that it was refused.
const oldReleaseName = "nobody: moot is too old on this device, update it,"

// joinerHello is the payload of message 1 of a pairing. Commit is the
// commitment to the nonce that the confirm message reveals.
type joinerHello struct {
	V            int                `json:"v"`
	Record       identity.KeyRecord `json:"record"`
	Name         string             `json:"name"`
	Capabilities []string           `json:"capabilities,omitempty"`
	Commit       []byte             `json:"commit,omitempty"`
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
// which reveals its nonce, then agreed or refused when its owner has compared
// the digits. By the host: paired, when both owners have agreed, or refused.
type pairMessage struct {
	V       int    `json:"v"`
	Type    string `json:"type"`
	Nonce   []byte `json:"nonce,omitempty"`
	PairPSK []byte `json:"pair_psk,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

const (
	messageConfirm = "confirm"
	messageAgreed  = "agreed"
	messagePaired  = "paired"
	messageRefused = "refused"

	refusedExpired = "expired"
	refusedUsed    = "used"
)

// A JoinRequest describes a device that asks to pair, for the host's owner.
type JoinRequest struct {
	Invite       [16]byte // id of the invite that the device has used
	ID           identity.DeviceID
	Name         string // stated by the device: cleaned, not trustworthy
	Capabilities []string
	Digits       string // equal on both screens unless an attacker sits between
	Grant        identity.Grant
	Room         string
	Auto         bool // the invite needs no approval by hand
}

// JoinRequested is the event of a PairingAttempt whose joiner is confirmed and
// waits for Approve or Refuse.
type JoinRequested struct{ Request JoinRequest }

// PairingAgreed is the event of a PairingAttempt whose two owners have agreed.
// It waits for Accept or Refuse.
type PairingAgreed struct{}

// AwaitingApproval is the event of a Joiner whose request has reached the host.
// It waits for Agree or Decline: Digits must equal those on the host's screen.
// The host's owner is asked at the same time.
type AwaitingApproval struct {
	Host   string // stated by the host: not trustworthy
	Digits string
}

// Paired ends a pairing with success. Peer must be stored.
type Paired struct{ Peer identity.Peer }

// PairingFailed ends a pairing without a peer.
type PairingFailed struct{ Err error }

func (JoinRequested) event()    {}
func (PairingAgreed) event()    {}
func (AwaitingApproval) event() {}
func (Paired) event()           {}
func (PairingFailed) event()    {}

// pairConn is the part that both sides of a pairing share, once they have keys.
type pairConn struct {
	channel
	version int // of the payloads
	done    bool
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
		if err := strict.Decode(d.Message, 2, &v); err != nil || v.V != c.version || len(v.Reason) > maxReason {
			c.fail(ErrViolation)
			return nil
		}
		words = append(words, v)
	}
	return words
}

func (c *pairConn) sendMessage(now time.Time, v pairMessage) error {
	v.V = c.version
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
