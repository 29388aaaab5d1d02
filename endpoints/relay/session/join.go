package session

import (
	"bytes"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// A Join is the side of a pairing that was given an invite. Like a Session it
// is driven from outside and not safe for concurrent use.
type Join struct {
	pairConn
	self    *identity.Device
	invite  identity.Invite
	opening *opening
	host    hostHello
	begun   time.Time
	again   time.Time
	until   time.Time
	bad     int
}

// NewJoin starts a pairing. name is what this device is called; capabilities
// say what its agent can do, for the host's owner to read.
func NewJoin(now time.Time, self *identity.Device, in identity.Invite, name string, capabilities []string) (*Join, error) {
	payload, err := padded(joinerHello{V: version, Record: self.Record(), Name: identity.CleanName(name), Capabilities: cleanCapabilities(capabilities)})
	if err != nil {
		return nil, err
	}
	static, _ := self.Static(self.Record().NK)
	o, err := newOpening(pairNoise(true, in, self.ID(), static), payload)
	if err != nil {
		return nil, err
	}
	j := &Join{pairConn: pairConn{channel: newChannel()}, self: self, invite: in, opening: o, begun: now, until: now.Add(giveUp)}
	j.ask(now)
	return j, nil
}

// Host is the device to send payloads to, and to take them from.
func (j *Join) Host() identity.DeviceID { return j.invite.Host.ID }

func (j *Join) ask(now time.Time) {
	j.out = append(j.out, bytes.Join([][]byte{{kindPair1}, j.invite.ID[:], j.opening.message}, nil))
	j.again = now.Add(askEvery)
}

// Receive takes a payload of the host.
func (j *Join) Receive(now time.Time, payload []byte) {
	switch {
	case j.done && j.live == nil || len(payload) == 0 || len(payload) > maxPayload:
		j.dropped++
	case payload[0] == kindPair2 && j.opening != nil:
		j.onReply(now, payload[1:])
	case payload[0] == kindData || payload[0] == kindCtl:
		for _, v := range j.sealed(now, payload) {
			j.onWord(v)
		}
	default:
		j.dropped++
	}
	j.Tick(now)
}

// Owns says whether a payload of the host is for the pairing and not for the
// session that the two may have already.
func (j *Join) Owns(payload []byte) bool {
	return len(payload) > 0 && payload[0] == kindPair2 || j.owns(payload)
}

func (j *Join) onReply(now time.Time, b []byte) {
	if len(b) < 16 || [16]byte(b) != j.invite.ID || j.bad >= 4*badOpenings {
		j.dropped++
		return
	}
	payload, k, err := j.opening.finish(b[16:])
	if err != nil {
		j.bad++
		j.dropped++
		return
	}
	if err := decodePadded(payload, &j.host); err != nil || j.host.V != version {
		j.fail(ErrViolation)
		return
	}
	j.opening, j.live = nil, k
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
	j.until = now.Add(decideWithin + giveUp)
	j.events = append(j.events, Waiting{Host: identity.CleanName(j.host.Name), Digits: k.digits})
	if err := j.say(now, word{V: version, Type: wordConfirm}); err != nil {
		j.fail(err)
	}
}

func (j *Join) onWord(v word) {
	switch {
	case j.done:
	case v.Type == wordPaired && len(v.PairPSK) == 32 && !allZero(v.PairPSK):
		j.done = true
		mine := j.self.Record().NK
		j.events = append(j.events, Paired{identity.Peer{
			ID: j.invite.Host.ID, Record: j.invite.Host, PairPSK: v.PairPSK, Mine: mine[:],
			Name: j.host.Name, Created: j.begun.UTC(), Digits: j.live.digits,
		}})
	case v.Type == wordRefused:
		j.fail(ErrRefused)
	default:
		j.fail(ErrViolation)
	}
}

// Tick says that time has passed.
func (j *Join) Tick(now time.Time) {
	switch {
	case j.done:
	case !now.Before(j.until) && j.live == nil, j.gaveUp(now):
		j.fail(ErrUnreachable)
	case !now.Before(j.until):
		j.fail(ErrNoAnswer)
	case j.opening != nil && !now.Before(j.again):
		j.ask(now)
	}
	if j.done {
		j.again, j.until = time.Time{}, time.Time{}
		j.tx = sender{next: j.tx.next}
	}
	j.settle(now)
}

// Take returns what is to be done, once.
func (j *Join) Take() Output { return j.take(j.next()) }

func (j *Join) next() time.Time {
	next := j.until
	if j.opening != nil {
		next = earlier(next, j.again)
	}
	return earlier(j.deadline(), next)
}
