package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// A Transport sends payloads to other devices without a guarantee. An error
// counts as a drop, and dropped frames are resent. One goroutine calls Send,
// which may block. client.Client implements it.
type Transport interface {
	Send(ctx context.Context, to [32]byte, payload []byte) error
}

// LinkConfig configures a Link. Self, Peers and Transport are required.
type LinkConfig struct {
	Self      *identity.Device
	Name      string // the name of this device that peers see
	Peers     *identity.Peers
	Transport Transport
	// Invites are the open invites of this device. If nil, no device can pair.
	Invites *identity.Invites
	// Admit decides whether a device may pair; it usually asks a person. It is
	// not called for invites with Auto. If nil, all are refused. It runs in its
	// own goroutine, which Run waits for. ctx ends when the joiner has given
	// up.
	Admit func(ctx context.Context, n JoinRequest) bool
	// NameFor returns the name of this device for those that use an invite, ""
	// for Name. It must not block. May be nil.
	NameFor func(invite [16]byte) string
	// Stored is called when a device that used an invite is stored as a peer,
	// and Paired when that device has confirmed the pairing. They must not
	// block. May be nil.
	Stored, Paired func(invite [16]byte, p identity.Peer)
	// Unpaired is called when the pairing of a device that used an invite has
	// ended without a peer. It must not block. May be nil.
	Unpaired func(invite [16]byte, from identity.DeviceID, err error)
	// Log is called with refusals and errors of the stores. It must not block.
	// May be nil.
	Log func(from identity.DeviceID, err error)
}

// Errors of a Link.
var (
	ErrUnknownPeer = errors.New("the device is not paired with this one")
	ErrSuspended   = errors.New("the device has new keys that are not accepted yet")
	ErrStopped     = errors.New("the link has stopped")
)

// An Inbound is an event of a peer: Delivered, Connected or Violated.
type Inbound struct {
	From  identity.DeviceID
	Event Event
}

const (
	inboxMessages    = 64
	inboxBytes       = 1 << 20
	packetQueue      = 256 // in each direction
	lastSeenInterval = time.Hour
	joinLinger       = drainTime // after a pairing, to repeat the last acknowledgement
)

// A Link runs all sessions of a device over one transport. Run owns the
// sessions. All other methods are safe for concurrent use.
type Link struct {
	cfg    LinkConfig
	do     chan func(now time.Time)
	in     chan packet
	out    chan packet
	connUp chan struct{}
	done   chan struct{}

	// Owned by the goroutine of Run.
	peers     map[identity.DeviceID]*peerSession
	joins     map[identity.DeviceID]*joinCall
	listener  *PairingListener
	approvals map[*PairingAttempt]context.CancelFunc
	workers   sync.WaitGroup

	mu           sync.Mutex
	counts       Counts
	inbox        []Inbound
	inboxLoad    map[identity.DeviceID]peerLoad
	inboxChanged chan struct{} // closed and replaced when an event is added to inbox
}

// A packet is a payload with its destination, or with the source that the relay
// states.
type packet struct {
	device  identity.DeviceID
	payload []byte
}

// peerLoad counts the messages and bytes of one peer in the inbox.
type peerLoad struct{ messages, bytes int }

// A peerSession is a session with a stored peer.
type peerSession struct {
	session  *Session
	results  map[uint64]chan<- error
	lastSeen time.Time
}

type joinCall struct {
	joiner *Joiner
	agree  func(context.Context, AwaitingApproval) bool
	cancel context.CancelFunc // ends agree; nil before it is called
	result chan<- error
	peer   identity.Peer
	until  time.Time // zero: still running
}

// NewLink returns a link. It does nothing until Run is called.
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
		l.listener.nameFor = cfg.NameFor
	}
	return l
}

// Deliver passes in a payload that the transport received. from is the source
// that the relay states; it is not trusted. Deliver never blocks: if the queue
// is full it drops the payload, and the peer resends it. The link keeps
// payload.
func (l *Link) Deliver(from [32]byte, payload []byte) {
	select {
	case l.in <- packet{from, payload}:
	default:
		l.count(&l.counts.Overflowed, 1)
	}
}

// Reconnected tells the link that the transport has a new connection, so
// sessions ask for missing frames at once.
func (l *Link) Reconnected() {
	select {
	case l.connUp <- struct{}{}:
	default:
	}
}

// Run runs the link until ctx ends and returns the cause. Call it once. Waiting
// calls of Send then fail with ErrStopped.
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

// write passes payloads to the transport, which may block, in a goroutine of
// its own.
func (l *Link) write(ctx context.Context) {
	for {
		select {
		case p := <-l.out:
			_ = l.cfg.Transport.Send(ctx, p.device, p.payload) // an error counts as a drop
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

// Send sends a message to a peer and waits until the peer's device has it.
// Messages arrive in the order of the calls. If ctx ends first, the message may
// still arrive. ErrUnknownPeer, ErrSuspended, ErrTooLarge and ErrQueueFull mean
// that nothing was sent. After ErrUnreachable, ErrForgotten and ErrViolation it
// is unknown whether the message arrived.
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

// Join pairs this device with the host of the invite and stores the host as a
// peer. agree decides whether the digits are the host's; it usually asks a
// person, and nothing is stored before its yes. It runs in its own goroutine,
// which Run waits for; its ctx ends when the pairing does. A nil agree refuses.
// Errors: ErrRefused, ErrDeclined, ErrNoAnswer, ErrUnreachable, ErrOldRelease,
// identity.ErrInviteExpired, identity.ErrInviteUsed.
func (l *Link) Join(ctx context.Context, in identity.Invite, capabilities []string, agree func(context.Context, AwaitingApproval) bool) (identity.Peer, error) {
	return l.JoinAs(ctx, l.cfg.Name, in, capabilities, agree)
}

// JoinAs is Join under another name than that of the LinkConfig.
func (l *Link) JoinAs(ctx context.Context, name string, in identity.Invite, capabilities []string, agree func(context.Context, AwaitingApproval) bool) (identity.Peer, error) {
	result := make(chan error, 1)
	j := &joinCall{result: result, agree: agree}
	err := l.call(ctx, func(now time.Time) {
		join, err := NewJoiner(now, l.cfg.Self, in, name, capabilities)
		switch {
		case err != nil:
			result <- err
		case l.joins[in.Host.ID] != nil && l.joins[in.Host.ID].until.IsZero():
			result <- errors.New("a pairing with this host is already under way")
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
			j.end()
			if l.joins[in.Host.ID] == j && j.until.IsZero() {
				delete(l.joins, in.Host.ID)
			}
		})
		return identity.Peer{}, err
	}
	return j.peer, nil
}

// Next waits for the next event of any peer. Events of one peer are in order.
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

// inboxFull reports whether the inbox holds too much of a peer. Data frames of
// the peer are then dropped, and the peer resends them.
func (l *Link) inboxFull(from identity.DeviceID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.inboxLoad[from]
	return n.messages >= inboxMessages || n.bytes >= inboxBytes
}

// Counts are the statistics of a Link. They do not distinguish peers and
// contain no content. All but Unsent and Lost count incoming payloads or
// messages.
type Counts struct {
	Received   uint64 // payloads
	Delivered  uint64 // messages
	Dropped    uint64 // not authentic, too late or unexpected
	Repeated   uint64 // authentic duplicates, replays, or frames too far ahead
	Strangers  uint64 // from devices that are not paired, or that use other keys than at pairing
	Overflowed uint64 // dropped because a receive queue was full; the peer resends them
	Violations uint64 // authentic, but against the protocol
	Unsent     uint64 // dropped because the send queue was full; they are resent
	Lost       uint64 // messages whose arrival is unknown
}

// Counts returns the statistics since NewLink. It is safe for concurrent use.
func (l *Link) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// count adds n to a field of l.counts.
func (l *Link) count(field *uint64, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*field += uint64(n)
}
