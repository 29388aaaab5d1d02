package session

import (
	"bytes"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// A Joiner is the invited side of one pairing. Like a Session it has no
// goroutine and is not safe for concurrent use.
type Joiner struct {
	pairConn
	self      *identity.Device
	invite    identity.Invite
	handshake *initiator
	nonce     []byte
	host      hostHello
	agreed    bool // this device's owner has agreed
	declined  bool // this device's owner has refused
	started   time.Time
	resendAt  time.Time
	until     time.Time
	failures  int
}

// NewJoiner starts a pairing. name is the name of this device. capabilities
// describe what its agent can do, for the host's owner to read. Error:
// ErrOldRelease, if the host's release knows no commitment.
func NewJoiner(now time.Time, self *identity.Device, in identity.Invite, name string, capabilities []string) (*Joiner, error) {
	if !in.Commitment {
		return nil, ErrOldRelease
	}
	nonce := newNonce()
	payload, err := padded(joinerHello{
		V: pairVersion, Record: self.Record(), Name: identity.CleanName(name), Capabilities: cleanCapabilities(capabilities), Commit: commitTo(nonce),
	})
	if err != nil {
		return nil, err
	}
	static, _ := self.Static(self.Record().NK)
	o, err := newInitiator(pairNoise(true, in, self.ID(), static), payload)
	if err != nil {
		return nil, err
	}
	j := &Joiner{
		pairConn: pairConn{channel: newChannel(), version: pairVersion}, self: self, invite: in, handshake: o, nonce: nonce,
		started: now, until: now.Add(giveUpAfter),
	}
	j.sendMessage1(now)
	return j, nil
}

func (j *Joiner) sendMessage1(now time.Time) {
	j.out = append(j.out, bytes.Join([][]byte{{kindPair1}, j.invite.ID[:], j.handshake.message1}, nil))
	j.resendAt = now.Add(message1Interval)
}

// Receive handles a payload of the host.
func (j *Joiner) Receive(now time.Time, payload []byte) {
	switch {
	case j.done && j.live == nil || len(payload) == 0 || len(payload) > maxPayload:
		j.dropped++
	case payload[0] == kindPair2 && j.handshake != nil:
		j.onMessage2(now, payload[1:])
	case payload[0] == kindData || payload[0] == kindCtl:
		for _, v := range j.open(now, payload) {
			j.onMessage(v)
		}
	default:
		j.dropped++
	}
	j.Tick(now)
}

// Owns reports whether a payload of the host belongs to this pairing, and not
// to a session that the two devices may already have.
func (j *Joiner) Owns(payload []byte) bool {
	return len(payload) > 0 && payload[0] == kindPair2 || j.owns(payload)
}

func (j *Joiner) onMessage2(now time.Time, b []byte) {
	if len(b) < 16 || [16]byte(b) != j.invite.ID || j.failures >= 4*maxFailedOpens {
		j.dropped++
		return
	}
	payload, k, err := j.handshake.readMessage2(b[16:])
	if err != nil {
		j.failures++
		j.dropped++
		return
	}
	if err := decodePadded(payload, &j.host); err != nil || j.host.V != pairVersion {
		j.fail(ErrViolation)
		return
	}
	j.handshake, j.live = nil, k
	switch j.host.Refused {
	case "":
	case refusedExpired:
		j.fail(identity.ErrInviteExpired)
		return
	case refusedUsed:
		j.fail(identity.ErrInviteUsed)
		return
	default:
		j.fail(ErrRefused)
		return
	}
	j.until = now.Add(approvalTimeout + giveUpAfter)
	j.events = append(j.events, AwaitingApproval{Host: identity.CleanName(j.host.Name), Digits: j.digits()})
	if err := j.sendMessage(now, pairMessage{Type: messageConfirm, Nonce: j.nonce}); err != nil {
		j.fail(err)
	}
}

func (j *Joiner) digits() string { return digitsOf(j.live.binding, j.nonce) }

// Agree tells the host that this device's owner has compared the digits and
// agrees. Only then the host sends the secret of the pair.
func (j *Joiner) Agree(now time.Time) {
	if j.live == nil || j.done || j.agreed || j.declined {
		return
	}
	j.agreed = true
	if err := j.sendMessage(now, pairMessage{Type: messageAgreed}); err != nil {
		j.fail(err)
	}
	j.Tick(now)
}

// Decline tells the host that this device's owner refuses.
func (j *Joiner) Decline(now time.Time) {
	if j.live == nil || j.done || j.agreed || j.declined {
		return
	}
	j.declined, j.until = true, now.Add(handshakeTimeout)
	if err := j.sendMessage(now, pairMessage{Type: messageRefused}); err != nil {
		j.fail(err)
	}
	j.Tick(now)
}

func (j *Joiner) onMessage(v pairMessage) {
	switch {
	case j.done:
	case v.Type == messagePaired && j.agreed && len(v.PairPSK) == 32 && !allZero(v.PairPSK):
		j.done = true
		mine := j.self.Record().NK
		p := identity.Peer{
			ID: j.invite.Host.ID, Record: j.invite.Host, PairPSK: v.PairPSK, Mine: mine[:],
			Name: j.host.Name, Relay: j.invite.Relay, Created: j.started.UTC(), Digits: j.digits(),
		}
		if j.invite.Grant == identity.GrantSeat {
			p.Holds = []identity.SeatRef{{Room: j.invite.Room, Seat: j.invite.Seat}}
		}
		j.events = append(j.events, Paired{p})
	case v.Type == messageRefused:
		j.fail(ErrRefused)
	default:
		j.fail(ErrViolation)
	}
}

// Tick advances the pairing to now.
func (j *Joiner) Tick(now time.Time) {
	switch {
	case j.done:
	case j.declined && (j.tx.idle() || !now.Before(j.until)):
		j.fail(ErrDeclined)
	case !now.Before(j.until) && j.live == nil, j.timedOut(now):
		j.fail(ErrUnreachable)
	case !now.Before(j.until):
		j.fail(ErrNoAnswer)
	case j.handshake != nil && !now.Before(j.resendAt):
		j.sendMessage1(now)
	}
	if j.done {
		j.resendAt, j.until = time.Time{}, time.Time{}
		j.tx = sender{next: j.tx.next}
	}
	j.flush(now)
}

// Take returns the output since the last call.
func (j *Joiner) Take() Output { return j.take(j.next()) }

func (j *Joiner) next() time.Time {
	next := j.until
	if j.handshake != nil {
		next = earlier(next, j.resendAt)
	}
	return earlier(j.deadline(), next)
}
