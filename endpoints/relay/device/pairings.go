package device

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/problem"
)

// InviteOptions say whom an invite is for.
type InviteOptions struct {
	Relay   string         // URL of the relay where the devices meet; "" is the first of the connection
	Name    string         // what this device calls itself to the other; "" is the name of the connection
	Grant   identity.Grant // of the other device; 0 is agent
	Room    string         // restricts the grant to a room
	Seat    string         // of Room, which the other device may hold; the grant is then seat
	Auto    bool           // accept the device that uses the invite, without a question
	Expires time.Duration  // 0 is 15 minutes
}

// JoinOptions say how an invite of another device is used.
type JoinOptions struct {
	Name string // what this device calls itself to the other; "" is the name of the connection
	Yes  bool   // agree without a question
}

// joinCapabilities are what this device can do, for the owner of the other one
// to read.
var joinCapabilities = []string{"turn", "bid"}

// pairings are the pairings of a connection that are not over, and the callbacks
// of its Link. The zero value is ready for use.
type pairings struct {
	mu      sync.Mutex
	invites map[[16]byte]*Pairing
	leave   time.Time // when the last acknowledgements have left
}

// NewInvite stores a new invite, which no process waits for.
func (d *Device) NewInvite(url string, o InviteOptions) (identity.Invite, error) {
	now := time.Now()
	in, err := identity.NewInvite(d.Self, identity.Invite{Relay: url, Grant: o.Grant, Room: o.Room, Seat: o.Seat, Auto: o.Auto, Expires: now.Add(cmp.Or(o.Expires, 15*time.Minute))}, now)
	if err != nil {
		return in, err
	}
	err = d.Invites.Add(in, now)
	if errors.Is(err, identity.ErrInvites) {
		err = &problem.Error{Code: "INVITE-MANY", What: "too many invites are open", Fix: "wait until some have expired", Err: err}
	}
	return in, err
}

// Invite makes an invite and waits, in the background, for the device that uses
// it. It returns once the relay where the devices meet has let this one in.
func (c *Connection) Invite(ctx context.Context, o InviteOptions) (*Pairing, error) {
	url := cmp.Or(o.Relay, c.URLs()[0])
	release, err := c.Use(url)
	if err != nil {
		return nil, err
	}
	if err := c.AwaitRelay(ctx, url); err != nil {
		release()
		return nil, err
	}
	in, err := c.NewInvite(url, o)
	if err != nil {
		release()
		return nil, err
	}
	p := newPairing(in, false, o.Name)
	p.withdrawn = func() {
		if err := c.Invites.Remove(in.ID); err != nil && !errors.Is(err, identity.ErrNoInvite) {
			c.cfg.Log.Error("an invite cannot be withdrawn", "error", err)
		}
	}
	p.mu.Lock()
	p.after(time.Until(in.Expires), p.expire)
	p.mu.Unlock()
	c.pairings.add(p)
	if !c.spawn(func() {
		c.untilOver(p)
		release()
	}) {
		c.untilOver(p)
		release()
	}
	return p, nil
}

// Join uses an invite of another device in the background.
func (c *Connection) Join(in identity.Invite, o JoinOptions) (*Pairing, error) {
	if !in.Commitment {
		return nil, joinError(session.ErrOldRelease)
	}
	release, err := c.Use(in.Relay)
	if err != nil {
		return nil, err
	}
	p := newPairing(in, true, o.Name)
	ctx, cancel := context.WithCancel(c.ctx)
	p.withdrawn = cancel
	c.pairings.add(p)
	join := func() {
		defer release()
		defer cancel()
		defer c.routes.join(in)()
		peer, err := c.join(ctx, p, o)
		c.pairings.settle()
		if err != nil {
			p.end(phaseOf(err), joinError(err))
		} else {
			p.paired(peer)
		}
		c.untilOver(p)
	}
	if !c.spawn(join) {
		join() // the connection was closed: it ends at once
	}
	return p, nil
}

// join pairs this device with the host of the invite.
func (c *Connection) join(ctx context.Context, p *Pairing, o JoinOptions) (identity.Peer, error) {
	if err := c.AwaitRelay(ctx, p.Invite.Relay); err != nil {
		return identity.Peer{}, err
	}
	watch, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { c.FollowOffline(watch, p.Invite.Host.ID, p.offline) })
	defer work.Wait()
	defer stop()
	return c.Link.JoinAs(ctx, cmp.Or(p.name, c.name()), p.Invite, joinCapabilities, func(ctx context.Context, w session.AwaitingApproval) bool {
		q := Question{Name: w.Host, Device: p.Invite.Host.ID, Digits: w.Digits}
		if o.Yes {
			p.agreed(q)
			return true
		}
		return p.ask(ctx, q)
	})
}

// agreed answers a question with yes, without a person.
func (p *Pairing) agreed(q Question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.state.Phase.Over() {
		p.state.Question, p.state.Phase = &q, PairingAgreed
		p.touch()
	}
}

// phaseOf returns the phase in which an error ends a join.
func phaseOf(err error) Phase {
	switch {
	case errors.Is(err, session.ErrRefused), errors.Is(err, session.ErrDeclined):
		return PairingRefused
	case errors.Is(err, identity.ErrInviteExpired), errors.Is(err, session.ErrNoAnswer):
		return PairingExpired
	}
	return PairingFailed
}

// untilOver waits until a pairing is over, or the connection ends, which ends
// the pairing too.
func (c *Connection) untilOver(p *Pairing) {
	s := p.State()
	for err := error(nil); err == nil && !s.Phase.Over(); {
		s, err = p.Next(c.ctx, s.Version)
	}
	err := context.Cause(c.ctx)
	if errors.Is(err, context.Canceled) {
		err = &problem.Error{Code: "RELAY-OFFLINE", What: "this device went offline before the devices were paired", Fix: "pair them again", Err: err}
	}
	p.end(PairingFailed, err)
	c.pairings.remove(p)
}

func (c *Connection) name() string { return cmp.Or(c.opts.Name, machineName()) }

func (s *pairings) add(p *Pairing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Joining {
		return
	}
	if s.invites == nil {
		s.invites = map[[16]byte]*Pairing{}
	}
	s.invites[p.Invite.ID] = p
}

func (s *pairings) remove(p *Pairing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.invites[p.Invite.ID] == p {
		delete(s.invites, p.Invite.ID)
	}
}

// find returns the pairing of an invite that this process waits for, or nil.
func (s *pairings) find(invite [16]byte) *Pairing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.invites[invite]
}

// Linger says that the acknowledgement of a message is about to leave: Close waits for
// that.
func (c *Connection) Linger() { c.pairings.settle() }

// settle notes that an acknowledgement is about to leave.
func (s *pairings) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave = time.Now().Add(ackTime)
}

// linger waits until the last acknowledgement has left.
func (s *pairings) linger() {
	s.mu.Lock()
	wait := time.Until(s.leave)
	s.mu.Unlock()
	if wait > 0 {
		time.Sleep(min(wait, ackTime))
	}
}

// admit asks about a device that has used an invite; see session.LinkConfig. An
// invite that no process waits for pairs only if it is automatic.
func (s *pairings) admit(ctx context.Context, n session.JoinRequest) bool {
	p := s.find(n.Invite)
	return p != nil && p.ask(ctx, Question{Name: n.Name, Device: n.ID, Grant: n.Grant, Digits: n.Digits})
}

func (s *pairings) nameFor(invite [16]byte) string {
	if p := s.find(invite); p != nil {
		return p.name
	}
	return ""
}

// stored ends the pairing a little later, if the device does not confirm it.
func (s *pairings) stored(invite [16]byte, peer identity.Peer) {
	p := s.find(invite)
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.state.Phase.Over() {
		p.after(settleTime, func() { p.paired(peer) })
	}
}

func (s *pairings) paired(invite [16]byte, peer identity.Peer) {
	if p := s.find(invite); p != nil {
		p.paired(peer)
	}
}

func (s *pairings) unpaired(invite [16]byte, _ identity.DeviceID, err error) {
	if p := s.find(invite); p != nil {
		p.unpaired(err)
	}
}
