package session

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// member returns the session with a peer, asking the store each time: what
// was removed there, by whatever process, is a stranger from now on.
func (l *Link) member(id identity.DeviceID) (*member, error) {
	peer, err := l.cfg.Peers.Lookup(id)
	switch {
	case errors.Is(err, identity.ErrNoPeer):
		l.forget(id, ErrUnknownPeer)
		return nil, ErrUnknownPeer
	case err != nil:
		return nil, err // fails closed
	case peer.Suspended():
		l.forget(id, ErrSuspended)
		return nil, ErrSuspended
	}
	m := l.peers[id]
	if m != nil && string(m.session.peer.PairPSK) != string(peer.PairPSK) { // paired again
		l.forget(id, ErrForgotten)
		m = nil
	}
	if m == nil {
		m = &member{session: New(Config{Self: l.cfg.Self, Peer: peer}), waiting: map[uint64]chan<- error{}, seen: peer.LastSeen}
		l.peers[id] = m
	}
	return m, nil
}

// forget drops the session with a peer and everything that waits for it.
func (l *Link) forget(id identity.DeviceID, why error) {
	m := l.peers[id]
	if m == nil {
		return
	}
	delete(l.peers, id)
	for _, result := range m.waiting {
		result <- why
	}
}

func (l *Link) receive(now time.Time, from identity.DeviceID, payload []byte) {
	l.counters.received.Add(1)
	if j := l.joins[from]; j != nil && j.join.Owns(payload) {
		j.join.Receive(now, payload)
		return
	}
	if l.door != nil && l.door.Owns(from, payload) {
		if _, _, err := l.door.Receive(now, from, payload); err != nil {
			l.note(from, err)
		}
		return
	}
	m, err := l.member(from)
	if err != nil {
		l.counters.strangers.Add(1)
		if !errors.Is(err, ErrUnknownPeer) {
			l.note(from, err)
		}
		return // a stranger gets no answer
	}
	if len(payload) > 0 && payload[0] == kindData && l.full(from) {
		l.counters.overflowed.Add(1)
		return
	}
	l.counters.feed(m.session, now, payload)
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
		j.join.Tick(now)
	}
}

// flush does what sessions, joins and admissions want done, and returns when
// the next of them has something to do.
func (l *Link) flush(ctx context.Context, now time.Time) (next time.Time) {
	for id, m := range l.peers {
		o := m.session.Take()
		l.transmit(id, o.Payloads)
		for _, e := range o.Events {
			l.handle(now, id, m, e)
		}
		next = earlier(next, o.Next)
	}
	for id, j := range l.joins {
		o := j.join.Take()
		l.transmit(id, o.Payloads)
		for _, e := range o.Events {
			l.joined(now, j, e)
		}
		if !j.until.IsZero() && !now.Before(j.until) {
			delete(l.joins, id)
		}
		next = earlier(earlier(next, o.Next), j.until)
	}
	return earlier(next, l.flushDoor(ctx, now))
}

func (l *Link) flushDoor(ctx context.Context, now time.Time) (next time.Time) {
	if l.door == nil {
		return next
	}
	for id, a := range l.door.Tick(now) {
		next = earlier(next, l.flushAdmission(ctx, now, id, a))
	}
	return next
}

// flushAdmission goes on until nothing is left: to accept a newcomer makes
// payloads again.
func (l *Link) flushAdmission(ctx context.Context, now time.Time, id identity.DeviceID, a *Admission) (next time.Time) {
	for {
		o := a.Take()
		l.transmit(id, o.Payloads)
		for _, e := range o.Events {
			l.admission(ctx, now, id, a, e)
		}
		if len(o.Events) == 0 {
			return o.Next
		}
	}
}

func (l *Link) transmit(to identity.DeviceID, payloads [][]byte) {
	for _, p := range payloads {
		select {
		case l.out <- parcel{to, p}:
		default: // a drop; what matters is sent again
			l.counters.unsent.Add(1)
		}
	}
}

func (l *Link) handle(now time.Time, id identity.DeviceID, m *member, e Event) {
	l.counters.note(e)
	switch e := e.(type) {
	case Confirmed:
		m.finish(e.ID, nil)
	case Lost:
		m.finish(e.ID, e.Err)
	case Rotated:
		l.update(id, func(p *identity.Peer) { p.Record = e.Record })
	case Learned:
		l.update(id, func(p *identity.Peer) { p.Mine = e.NK[:] })
	default:
		if _, ok := e.(Connected); ok && now.Sub(m.seen) >= seenEvery {
			m.seen = now
			l.update(id, func(p *identity.Peer) { p.LastSeen = now.UTC() })
		}
		l.push(id, e)
	}
}

func (m *member) finish(id uint64, err error) {
	if result, ok := m.waiting[id]; ok {
		delete(m.waiting, id)
		result <- err
	}
}

func (l *Link) update(id identity.DeviceID, edit func(*identity.Peer)) {
	if err := l.cfg.Peers.Update(id, edit); err != nil {
		l.note(id, err)
	}
}

func (l *Link) note(from identity.DeviceID, err error) {
	if l.cfg.Note != nil {
		l.cfg.Note(from, err)
	}
}

func (l *Link) joined(now time.Time, j *joining, e Event) {
	switch e := e.(type) {
	case Paired:
		peer, err := l.cfg.Peers.Add(e.Peer)
		j.peer, j.until = peer, now.Add(joinLingers)
		j.result <- err
	case Failed:
		j.until = now.Add(joinLingers)
		j.result <- e.Err
	default:
		if j.report != nil {
			j.report(e)
		}
	}
}

func (l *Link) admission(ctx context.Context, now time.Time, id identity.DeviceID, a *Admission, e Event) {
	switch e := e.(type) {
	case Asked:
		l.ask(ctx, now, a, e.Newcomer)
	case Failed:
		l.note(id, e.Err)
		l.stopAsking(a)
	case Paired:
		l.stopAsking(a)
		if l.cfg.Paired != nil {
			l.cfg.Paired(e.Peer)
		}
	}
}

func (l *Link) stopAsking(a *Admission) {
	if cancel := l.asking[a]; cancel != nil {
		cancel()
		delete(l.asking, a)
	}
}

// ask has a person decide, unless the invite has decided already.
func (l *Link) ask(ctx context.Context, now time.Time, a *Admission, n Newcomer) {
	if n.Auto {
		l.decide(now, a, true)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	l.asking[a] = cancel
	l.workers.Go(func() {
		yes := l.cfg.Admit != nil && l.cfg.Admit(ctx, n)
		_ = l.call(ctx, func(now time.Time) { l.decide(now, a, yes) })
	})
}

// decide stores the newcomer before it is told the secret.
func (l *Link) decide(now time.Time, a *Admission, yes bool) {
	l.stopAsking(a)
	if !yes {
		a.Refuse(now)
		return
	}
	peer := a.Peer()
	if old, err := l.cfg.Peers.Lookup(peer.ID); err == nil && a.newcomer.Auto && old.Record.NK != peer.Record.NK {
		peer.Changed = now.UTC() // a key that changes is for a person to look at
	}
	if _, err := l.cfg.Peers.Add(peer); err != nil {
		l.note(a.newcomer.ID, err)
		a.Refuse(now)
		return
	}
	a.Accept(now)
}
