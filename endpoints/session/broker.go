package session

import (
	"context"
	"sync"
	"time"

	"github.com/folkmoot/moot/room"
)

// Config says how a Broker reports to the rooms.
type Config struct {
	// Present tells a room that the presence of a seat has changed. It returns when
	// the room has recorded it. An error refuses the await that has caused it.
	Present func(ctx context.Context, s Seat, by Holder, p room.Presence) error
}

// A Broker hands the prompts of rooms to sessions, and keeps the leases of their
// seats. Its methods are safe for concurrent use.
type Broker struct {
	cfg     Config
	ctx     context.Context
	stop    context.CancelFunc
	workers sync.WaitGroup

	mu     sync.Mutex
	leases map[Seat]*lease
	parked map[Seat]*Turn
	given  map[Seat]Request // newest that an await was given
	awaits uint64           // that have begun
}

// A lease is that of one seat. One goroutine reports its presence; see report.
type lease struct {
	seat    Seat
	by      Holder    // of the newest await
	newest  uint64    // number of the newest await
	awaiter *awaiter  // newest; nil between awaits
	until   time.Time // end of the lease, if no await is in progress
	idleAt  time.Time // when a lease without an await is reported as idle
	told    room.Presence
	changed chan struct{} // holds a token when the fields above have changed
}

// An awaiter is one call of Await.
type awaiter struct {
	number   uint64
	reported chan error    // gets what the room says about it
	turn     chan Turn     // gets the parked prompt
	taken    chan struct{} // closed when another await takes over
}

// NewBroker makes a Broker. The caller closes it.
func NewBroker(cfg Config) *Broker {
	b := &Broker{cfg: cfg, leases: map[Seat]*lease{}, parked: map[Seat]*Turn{}, given: map[Seat]Request{}}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// Close ends all awaits and leases, and waits for what they have started. It reports
// nothing to the rooms.
func (b *Broker) Close() error {
	b.mu.Lock()
	b.stop()
	b.mu.Unlock()
	b.workers.Wait()
	return nil
}

// Await waits for the turn of a seat, at most for wait and at most for MaxWait, and
// renews the lease of the seat. It returns false when it is not the turn of the seat
// yet. The same turn is given again until the room has ended it.
func (b *Broker) Await(ctx context.Context, s Seat, by Holder, wait time.Duration) (Turn, bool, error) {
	a, l, err := b.begin(s, by)
	if err != nil {
		return Turn{}, false, err
	}
	t, ok, err := b.wait(ctx, a, min(wait, MaxWait))
	t.await = a.number
	b.end(l, a, t)
	return t, ok, err
}

// begin makes a new await the newest one of its seat.
func (b *Broker) begin(s Seat, by Holder) (*awaiter, *lease, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return nil, nil, ErrClosed
	}
	l := b.leases[s]
	if l == nil {
		l = &lease{seat: s, changed: make(chan struct{}, 1)}
		b.leases[s] = l
		b.workers.Go(func() { b.report(l) })
	}
	if l.awaiter != nil {
		close(l.awaiter.taken)
	}
	b.awaits++
	l.newest = b.awaits
	a := &awaiter{number: b.awaits, reported: make(chan error, 1), turn: make(chan Turn, 1), taken: make(chan struct{})}
	l.awaiter, l.by, l.told = a, by, "" // the room may have forgotten: it is told once in each await
	l.nudge()
	return a, l, nil
}

// wait waits until the room knows of the await, and then for the turn.
func (b *Broker) wait(ctx context.Context, a *awaiter, most time.Duration) (Turn, bool, error) {
	select {
	case err := <-a.reported:
		if err != nil {
			return Turn{}, false, err
		}
	case <-a.taken:
		return Turn{}, false, ErrTakenOver
	case <-ctx.Done():
		return Turn{}, false, ctx.Err()
	case <-b.ctx.Done():
		return Turn{}, false, ErrClosed
	}
	alarm := time.NewTimer(most)
	defer alarm.Stop()
	select {
	case t := <-a.turn:
		return t, true, nil
	case <-a.taken:
		return Turn{}, false, ErrTakenOver
	case <-alarm.C:
		select {
		case t := <-a.turn:
			return t, true, nil
		default:
			return Turn{}, false, nil
		}
	case <-ctx.Done():
		return Turn{}, false, ctx.Err()
	case <-b.ctx.Done():
		return Turn{}, false, ErrClosed
	}
}

// end ends an await. The lease runs on, for a session that was given its turn until
// the deadline of the turn.
func (b *Broker) end(l *lease, a *awaiter, t Turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.awaiter != a {
		return
	}
	now := time.Now()
	l.awaiter, l.until, l.idleAt = nil, now.Add(Lease), now.Add(idleAfter)
	if t.ID != "" {
		b.given[l.seat] = t.Request
	}
	if p := b.parked[l.seat]; p != nil && p.Request == t.Request && l.until.Before(t.Deadline) {
		l.until = t.Deadline
	}
	l.nudge()
}

// Undelivered says that the turn that an await was given did not reach the session.
// Its lease then runs as after an await without a turn.
func (b *Broker) Undelivered(t Turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.leases[t.Seat]; l != nil && l.awaiter == nil && l.newest == t.await {
		l.until = time.Now().Add(Lease)
		l.nudge()
	}
}

// Leave ends the lease of a seat, if it is that of a session on this device: away is
// reported to the room. An await in progress ends with ErrTakenOver.
func (b *Broker) Leave(s Seat, device string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.leases[s]
	if l == nil || l.by.Device != device {
		return
	}
	if l.awaiter != nil {
		close(l.awaiter.taken)
		l.awaiter = nil
	}
	l.until, l.idleAt = time.Time{}, time.Time{}
	l.nudge()
}

// Given returns the newest request that an await of the seat was given. It is the one
// that a session answers that names none.
func (b *Broker) Given(s Seat) (Request, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.given[s]
	return r, ok
}

// park offers a turn to the session of its seat.
func (b *Broker) park(t Turn) *Turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parked[t.Seat] = &t
	if l := b.leases[t.Seat]; l != nil && l.awaiter != nil {
		b.offer(l.awaiter, t)
	}
	return &t
}

// offer gives an await its turn. The caller holds mu.
func (b *Broker) offer(a *awaiter, t Turn) {
	select {
	case a.turn <- t:
	default: // it has one
	}
}

// remove removes a turn that has ended. The lease of the session that had it runs
// from now on, unless the turn has expired.
func (b *Broker) remove(t *Turn, expired bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.parked[t.Seat] == t {
		b.unpark(t, expired)
	}
}

// Answered says that the room has an answer to a request. No await that begins later
// is given the request, also if the room still ends its turn.
func (b *Broker) Answered(s Seat, request string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.parked[s]; t != nil && t.ID == request {
		b.unpark(t, false)
	}
}

// unpark is remove for a turn that is parked. The caller holds mu.
func (b *Broker) unpark(t *Turn, expired bool) {
	delete(b.parked, t.Seat)
	l := b.leases[t.Seat]
	if l == nil || l.awaiter != nil && len(l.awaiter.turn) == 0 {
		return
	}
	if l.awaiter != nil {
		<-l.awaiter.turn // not taken yet
		return
	}
	if expired || b.given[t.Seat] != t.Request {
		return
	}
	now := time.Now()
	l.until, l.idleAt = now.Add(Lease), now.Add(idleAfter)
	l.nudge()
}

// report reports the presence of a seat until the lease has ended.
func (b *Broker) report(l *lease) {
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	for {
		if b.settle(l) {
			return
		}
		b.mu.Lock()
		_, until := l.presence(time.Now())
		b.mu.Unlock()
		alarm.Stop()
		if !until.IsZero() {
			alarm.Reset(time.Until(until))
		}
		select {
		case <-l.changed:
		case <-alarm.C:
		case <-b.ctx.Done():
			return
		}
	}
}

// settle tells the room until it knows the presence of the lease. It removes a lease
// that has ended, or that the room refuses, and reports whether it did.
func (b *Broker) settle(l *lease) (ended bool) {
	for {
		b.mu.Lock()
		p, _ := l.presence(time.Now())
		a, by := l.awaiter, l.by
		if p == l.told {
			b.mu.Unlock()
			return false
		}
		b.mu.Unlock()
		err := b.cfg.Present(b.ctx, l.seat, by, p)
		b.mu.Lock()
		if l.awaiter == a {
			l.told = p
			if a != nil {
				b.acknowledge(a, l.seat, err)
			}
			if p == room.Away || err != nil {
				delete(b.leases, l.seat)
				b.mu.Unlock()
				return true
			}
		}
		b.mu.Unlock()
	}
}

// acknowledge lets an await go on, which the room knows of or has refused. The caller
// holds mu.
func (b *Broker) acknowledge(a *awaiter, s Seat, err error) {
	if t := b.parked[s]; t != nil && err == nil {
		b.offer(a, *t)
	}
	select {
	case a.reported <- err:
	default: // it was told before
	}
}

func (l *lease) nudge() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}
