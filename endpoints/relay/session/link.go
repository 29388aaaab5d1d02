package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// A Transport takes payloads to other devices, as well as it can: an error is
// like a drop, and what was dropped is sent again. It is called by one
// goroutine, and may wait. A relay's client.Client is one.
type Transport interface {
	Send(ctx context.Context, to [32]byte, payload []byte) error
}

// LinkConfig is what a Link is made from. Self, Peers and Transport are
// needed.
type LinkConfig struct {
	Self      *identity.Device
	Name      string // what this device is called by itself
	Peers     *identity.Peers
	Transport Transport
	// Invites are those that others may use; nil: nobody is admitted.
	Invites *identity.Invites
	// Admit asks a person about a newcomer whose invite does not say auto; nil
	// refuses. It is called in a goroutine of its own, which Run waits for; ctx
	// ends when the newcomer has gone.
	Admit func(ctx context.Context, n JoinRequest) bool
	// Paired is told of a device that was admitted, once it knows that. It must
	// not block. May be nil.
	Paired func(identity.Peer)
	// Note is told what is worth a line in a log: refusals, errors of the stores.
	// It must not block. May be nil.
	Log func(from identity.DeviceID, err error)
}

// Errors of a Link.
var (
	ErrUnknownPeer = errors.New("the device is not paired with this one")
	ErrSuspended   = errors.New("the device has new keys that nobody has accepted yet")
	ErrStopped     = errors.New("the link has stopped")
)

// An Inbound is an Event of a peer: Delivered, Connected, Closed or Violated.
type Inbound struct {
	From  identity.DeviceID
	Event Event
}

const (
	inboxMessages    = 64
	inboxBytes       = 1 << 20
	packetQueue      = 256 // of each direction
	lastSeenInterval = time.Hour
	joinLinger       = drainTime // after a pairing, to acknowledge once more
)

// A Link is one device's end of all its sessions over one transport. Run owns
// the sessions; the other methods may be called from any goroutine.
type Link struct {
	cfg    LinkConfig
	do     chan func(now time.Time)
	in     chan packet
	out    chan packet
	connUp chan struct{}
	done   chan struct{}

	counters counters

	// Of the goroutine of Run.
	peers     map[identity.DeviceID]*peerSession
	joins     map[identity.DeviceID]*joinCall
	listener  *PairingListener
	approvals map[*PairingAttempt]context.CancelFunc
	workers   sync.WaitGroup

	mu           sync.Mutex
	inbox        []Inbound
	inboxLoad    map[identity.DeviceID]peerLoad
	inboxChanged chan struct{} // closed when the inbox gets something
}

// packet is a payload and the device that it is from, by the relay's word, or
// for.
type packet struct {
	device  identity.DeviceID
	payload []byte
}

// peerLoad is what of a peer waits in the inbox.
type peerLoad struct{ messages, bytes int }

// peerSession is a peer with a session.
type peerSession struct {
	session  *Session
	results  map[uint64]chan<- error
	lastSeen time.Time
}

type joinCall struct {
	joiner *Joiner
	report func(Event)
	result chan<- error
	peer   identity.Peer
	until  time.Time // zero: not ended
}

// NewLink returns a link that Run brings to life.
func NewLink(cfg LinkConfig) *Link {
	l := &Link{
		cfg: cfg, do: make(chan func(time.Time)), done: make(chan struct{}), connUp: make(chan struct{}, 1),
		in: make(chan packet, packetQueue), out: make(chan packet, packetQueue),
		peers: map[identity.DeviceID]*peerSession{}, joins: map[identity.DeviceID]*joinCall{},
		approvals: map[*PairingAttempt]context.CancelFunc{},
		inboxLoad: map[identity.DeviceID]peerLoad{}, inboxChanged: make(chan struct{}),
	}
	if cfg.Invites != nil {
		l.listener = NewPairingListener(cfg.Self, cfg.Name, cfg.Invites)
	}
	return l
}

// Deliver takes a payload that the transport brought; from is what the relay
// says, and is not believed. It never waits: what is too much is dropped, and
// sent again by the other side. It keeps payload.
func (l *Link) Deliver(from [32]byte, payload []byte) {
	select {
	case l.in <- packet{from, payload}:
	default:
		l.counters.overflowed.Add(1)
	}
}

// Reconnected says that the transport has a new connection, so that nobody
// waits for a resend.
func (l *Link) Reconnected() {
	select {
	case l.connUp <- struct{}{}:
	default:
	}
}

// Run moves everything until ctx ends. It is called once. Sends that wait
// then fail with ErrStopped.
func (l *Link) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer l.workers.Wait()
	defer cancel()
	defer close(l.done)
	l.workers.Go(func() { l.write(ctx) })
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if next := l.flush(ctx, time.Now()); next.IsZero() {
			timer.Reset(time.Hour)
		} else {
			timer.Reset(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case p := <-l.in:
			l.receive(time.Now(), p.device, p.payload)
		case <-l.connUp:
			l.reconnected(time.Now())
		case f := <-l.do:
			f(time.Now())
		case <-timer.C:
			l.tick(time.Now())
		}
	}
}

// write hands payloads to the transport, which may wait, so that sessions
// never do.
func (l *Link) write(ctx context.Context) {
	for {
		select {
		case p := <-l.out:
			_ = l.cfg.Transport.Send(ctx, p.device, p.payload) // like a drop
		case <-ctx.Done():
			return
		}
	}
}

// call runs f in Run's goroutine.
func (l *Link) call(ctx context.Context, f func(now time.Time)) error {
	select {
	case l.do <- f:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.done:
		return ErrStopped
	}
}

// Send sends a message to a peer and waits until the device has it. Messages
// arrive in the order in which Send was called. When ctx ends first the
// message may arrive all the same. Errors: ErrUnknownPeer and ErrSuspended;
// ErrTooLarge and ErrQueueFull, before anything is sent; ErrUnreachable,
// ErrForgotten and ErrViolation, after which nobody knows whether it arrived.
func (l *Link) Send(ctx context.Context, to identity.DeviceID, message []byte) error {
	result := make(chan error, 1)
	err := l.call(ctx, func(now time.Time) {
		m, err := l.sessionOf(to)
		if err != nil {
			result <- err
			return
		}
		id, err := m.session.Send(now, message)
		if err != nil {
			result <- err
			return
		}
		m.results[id] = result
	})
	if err != nil {
		return err
	}
	return l.await(ctx, result)
}

func (l *Link) await(ctx context.Context, result <-chan error) error {
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.done:
		return ErrStopped
	}
}

// Join pairs this device with the one that made the invite, and stores it as
// a peer. report, which may be nil and must not block, is told Waiting, with
// the digits to compare. Errors: ErrRefused, ErrNoAnswer, ErrUnreachable,
// identity.ErrInviteExpired, identity.ErrInviteUsed.
func (l *Link) Join(ctx context.Context, in identity.Invite, capabilities []string, report func(Event)) (identity.Peer, error) {
	result := make(chan error, 1)
	j := &joinCall{result: result, report: report}
	err := l.call(ctx, func(now time.Time) {
		join, err := NewJoiner(now, l.cfg.Self, in, l.cfg.Name, capabilities)
		switch {
		case err != nil:
			result <- err
		case l.joins[in.Host.ID] != nil && l.joins[in.Host.ID].until.IsZero():
			result <- errors.New("this device is being paired with that host already")
		default:
			j.joiner = join
			l.joins[in.Host.ID] = j
		}
	})
	if err != nil {
		return identity.Peer{}, err
	}
	if err := l.await(ctx, result); err != nil {
		_ = l.call(context.WithoutCancel(ctx), func(time.Time) {
			if l.joins[in.Host.ID] == j {
				delete(l.joins, in.Host.ID)
			}
		})
		return identity.Peer{}, err
	}
	return j.peer, nil
}

// Next returns the next event of any peer, in the order of each.
func (l *Link) Next(ctx context.Context) (Inbound, error) {
	for {
		in, bell, ok := l.pop()
		if ok {
			return in, nil
		}
		select {
		case <-bell:
		case <-ctx.Done():
			return Inbound{}, context.Cause(ctx)
		case <-l.done:
			return Inbound{}, ErrStopped
		}
	}
}

func (l *Link) pop() (in Inbound, bell <-chan struct{}, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.inbox) == 0 {
		return in, l.inboxChanged, false
	}
	in = l.inbox[0]
	l.inbox = l.inbox[1:]
	if d, is := in.Event.(Delivered); is {
		was := l.inboxLoad[in.From]
		l.inboxLoad[in.From] = peerLoad{was.messages - 1, was.bytes - len(d.Message)}
	}
	return in, nil, true
}

func (l *Link) push(from identity.DeviceID, e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d, ok := e.(Delivered); ok {
		was := l.inboxLoad[from]
		l.inboxLoad[from] = peerLoad{was.messages + 1, was.bytes + len(d.Message)}
	}
	l.inbox = append(l.inbox, Inbound{from, e})
	close(l.inboxChanged)
	l.inboxChanged = make(chan struct{})
}

// inboxFull says that the owner of this device does not keep up with a peer. What
// the peer sends is then dropped, and sent again by it.
func (l *Link) inboxFull(from identity.DeviceID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.inboxLoad[from]
	return n.messages >= inboxMessages || n.bytes >= inboxBytes
}
