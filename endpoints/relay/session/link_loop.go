package session

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// sessionOf returns the session with a peer. It reads the store each time, so a
// peer that any process has removed is unknown immediately.
func (l *Link) sessionOf(id identity.DeviceID) (*peerSession, error) {
	peer, err := l.cfg.Peers.Lookup(id)
	switch {
	case errors.Is(err, identity.ErrNoPeer):
		l.forget(id, ErrUnknownPeer)
		return nil, ErrUnknownPeer
	case err != nil:
		return nil, err // no session without a readable store
	case peer.Suspended():
		l.forget(id, ErrSuspended)
		return nil, ErrSuspended
	}
	m := l.peers[id]
	if m != nil && string(m.session.peer.PairPSK) != string(peer.PairPSK) { // the devices were paired again
		l.forget(id, ErrForgotten)
		m = nil
	}
	if m == nil {
		m = &peerSession{session: New(Config{Self: l.cfg.Self, Peer: peer}), results: map[uint64]chan<- error{}, lastSeen: peer.LastSeen}
		l.peers[id] = m
	}
	return m, nil
}

// forget drops the session with a peer and fails the calls that wait for it.
func (l *Link) forget(id identity.DeviceID, why error) {
	m := l.peers[id]
	if m == nil {
		return
	}
	delete(l.peers, id)
	for _, result := range m.results {
		result <- why
	}
}

func (l *Link) receive(now time.Time, from identity.DeviceID, payload []byte) {
	l.count(&l.counts.Received, 1)
	if j := l.joins[from]; j != nil && j.joiner.Owns(payload) {
		j.joiner.Receive(now, payload)
		return
	}
	if l.listener != nil && l.listener.Owns(from, payload) {
		if _, _, err := l.listener.Receive(now, from, payload); err != nil {
			l.log(from, err)
		}
		return
	}
	m, err := l.sessionOf(from)
	if err != nil {
		l.count(&l.counts.Strangers, 1)
		if !errors.Is(err, ErrUnknownPeer) {
			l.log(from, err)
		}
		return // unknown devices get no answer
	}
	if len(payload) > 0 && payload[0] == kindData && l.inboxFull(from) {
		l.count(&l.counts.Overflowed, 1)
		return
	}
	dropped, repeated := m.session.dropped, m.session.repeated
	m.session.Receive(now, payload)
	l.count(&l.counts.Dropped, m.session.dropped-dropped)
	l.count(&l.counts.Repeated, m.session.repeated-repeated)
}

func (l *Link) reconnected(now time.Time) {
	for _, m := range l.peers {
		m.session.Reconnected(now)
	}
}

func (l *Link) tick(now time.Time) {
	for _, m := range l.peers {
		m.session.Tick(now)
	}
	for _, j := range l.joins {
		j.joiner.Tick(now)
	}
}

// flush sends the payloads and handles the events of all sessions and pairings.
// It returns when the next one has work to do.
func (l *Link) flush(ctx context.Context, now time.Time) (next time.Time) {
	for id, m := range l.peers {
		o := m.session.Take()
		l.enqueue(id, o.Payloads)
		for _, e := range o.Events {
			l.onSessionEvent(now, id, m, e)
		}
		next = earlier(next, o.Next)
	}
	for id, j := range l.joins {
		o := j.joiner.Take()
		l.enqueue(id, o.Payloads)
		for _, e := range o.Events {
			l.onJoinEvent(ctx, now, j, e)
		}
		if !j.until.IsZero() && !now.Before(j.until) {
			delete(l.joins, id)
		}
		next = earlier(earlier(next, o.Next), j.until)
	}
	return earlier(next, l.flushListener(ctx, now))
}

func (l *Link) flushListener(ctx context.Context, now time.Time) (next time.Time) {
	if l.listener == nil {
		return next
	}
	for id, a := range l.listener.Tick(now) {
		next = earlier(next, l.flushAttempt(ctx, now, id, a))
	}
	return next
}

// flushAttempt repeats until there is no event: handling one, such as accepting
// the joiner, can produce new payloads.
func (l *Link) flushAttempt(ctx context.Context, now time.Time, id identity.DeviceID, a *PairingAttempt) (next time.Time) {
	for {
		o := a.Take()
		l.enqueue(id, o.Payloads)
		for _, e := range o.Events {
			l.onPairingEvent(ctx, now, id, a, e)
		}
		if len(o.Events) == 0 {
			return o.Next
		}
	}
}

func (l *Link) enqueue(to identity.DeviceID, payloads [][]byte) {
	for _, p := range payloads {
		select {
		case l.out <- packet{to, p}:
		default: // dropped; the session resends it
			l.count(&l.counts.Unsent, 1)
		}
	}
}

func (l *Link) onSessionEvent(now time.Time, id identity.DeviceID, m *peerSession, e Event) {
	switch e := e.(type) {
	case Confirmed:
		m.report(e.ID, nil)
	case Lost:
		l.count(&l.counts.Lost, 1)
		m.report(e.ID, e.Err)
	case Rotated:
		l.updatePeer(id, func(p *identity.Peer) { p.Record = e.Record })
	case Learned:
		l.updatePeer(id, func(p *identity.Peer) { p.Mine = e.NK[:] })
	case Connected:
		if now.Sub(m.lastSeen) >= lastSeenInterval {
			m.lastSeen = now
			l.updatePeer(id, func(p *identity.Peer) { p.LastSeen = now.UTC() })
		}
		l.push(id, e)
	case Delivered:
		l.count(&l.counts.Delivered, 1)
		l.push(id, e)
	case Violated:
		l.count(&l.counts.Violations, 1)
		l.push(id, e)
	default:
		l.push(id, e)
	}
}

func (m *peerSession) report(id uint64, err error) {
	if result, ok := m.results[id]; ok {
		delete(m.results, id)
		result <- err
	}
}

func (l *Link) updatePeer(id identity.DeviceID, edit func(*identity.Peer)) {
	if err := l.cfg.Peers.Update(id, edit); err != nil {
		l.log(id, err)
	}
}

func (l *Link) log(from identity.DeviceID, err error) {
	if l.cfg.Log != nil {
		l.cfg.Log(from, err)
	}
}

func (l *Link) onJoinEvent(ctx context.Context, now time.Time, j *joinCall, e Event) {
	switch e := e.(type) {
	case AwaitingApproval:
		l.requestAgreement(ctx, j, e)
	case Paired:
		peer, err := l.cfg.Peers.Add(e.Peer)
		j.peer, j.until = peer, now.Add(joinLinger)
		j.end()
		j.result <- err
	case PairingFailed:
		j.until = now.Add(joinLinger)
		j.end()
		j.result <- e.Err
	}
}

// end ends the question to this device's owner.
func (j *joinCall) end() {
	if j.cancel != nil {
		j.cancel()
	}
}

// requestAgreement asks this device's owner in a goroutine.
func (l *Link) requestAgreement(ctx context.Context, j *joinCall, e AwaitingApproval) {
	ctx, j.cancel = context.WithCancel(ctx)
	l.workers.Go(func() {
		yes := j.agree != nil && j.agree(ctx, e)
		_ = l.call(ctx, func(now time.Time) {
			if yes {
				j.joiner.Agree(now)
			} else {
				j.joiner.Decline(now)
			}
		})
	})
}

func (l *Link) onPairingEvent(ctx context.Context, now time.Time, id identity.DeviceID, a *PairingAttempt, e Event) {
	switch e := e.(type) {
	case JoinRequested:
		l.requestApproval(ctx, now, a, e.Request)
	case PairingAgreed:
		l.admit(now, a)
	case PairingFailed:
		l.log(id, e.Err)
		l.cancelApproval(a)
		if l.cfg.Unpaired != nil {
			l.cfg.Unpaired(a.invite.ID, id, e.Err)
		}
	case Paired:
		l.cancelApproval(a)
		if l.cfg.Paired != nil {
			l.cfg.Paired(a.invite.ID, e.Peer)
		}
	}
}

func (l *Link) cancelApproval(a *PairingAttempt) {
	if cancel := l.approvals[a]; cancel != nil {
		cancel()
		delete(l.approvals, a)
	}
}

// requestApproval asks Admit in a goroutine, unless the invite is automatic.
func (l *Link) requestApproval(ctx context.Context, now time.Time, a *PairingAttempt, n JoinRequest) {
	if n.Auto {
		l.decide(now, a, true)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	l.approvals[a] = cancel
	l.workers.Go(func() {
		yes := l.cfg.Admit != nil && l.cfg.Admit(ctx, n)
		_ = l.call(ctx, func(now time.Time) { l.decide(now, a, yes) })
	})
}

func (l *Link) decide(now time.Time, a *PairingAttempt, yes bool) {
	l.cancelApproval(a)
	if yes {
		a.Approve(now)
	} else {
		a.Refuse(now)
	}
}

// admit stores the peer before Accept sends the secret to it. An invite that was
// withdrawn since pairs no device.
func (l *Link) admit(now time.Time, a *PairingAttempt) {
	if _, err := l.cfg.Invites.Lookup(a.invite.ID); errors.Is(err, identity.ErrNoInvite) {
		a.Refuse(now)
		return
	}
	peer := a.Peer()
	if old, err := l.cfg.Peers.Lookup(peer.ID); err == nil && a.request.Auto && old.Record.NK != peer.Record.NK {
		peer.Changed = now.UTC() // a person must accept a changed key
	}
	stored, err := l.cfg.Peers.Add(peer)
	if err != nil {
		l.log(a.request.ID, err)
		a.refusal = err
		a.Refuse(now)
		return
	}
	if l.cfg.Stored != nil {
		l.cfg.Stored(a.invite.ID, stored)
	}
	a.Accept(now)
}
