package device

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/share"
)

// Options say how a device connects.
type Options struct {
	Relay string // URL; "" is that of the Config, else those of the peers
	Name  string // what the device calls itself; "" is the machine's name
	// Audit records one request of another device to a shared agent, and how it
	// ended. An error refuses the request. A nil func records nothing.
	Audit func(share.AuditEntry) error
	// Listen is called before anything arrives, so that what it adds misses
	// nothing. May be nil.
	Listen func(*Connection) error
}

// A Connection is a device that is online. Agents are shared, devices paired and
// rooms watched over it, any number at a time. Its methods are safe for
// concurrent use. Close ends it.
type Connection struct {
	*Device
	Link       *session.Link     // the encrypted sessions with other devices
	Dispatcher *relay.Dispatcher // of messages from other devices
	Quota      *quota.Quota      // counts that limit calls between devices

	opts     Options
	routes   *router
	offline  deviceSet // devices that are not connected, as the relays say
	pairings pairings
	ready    chan struct{} // closed when a relay has let the device in

	sharing sync.Mutex
	journal *share.Journal // of shared agents; nil until one is shared
	shared  *share.Share   // nil until an agent is shared

	unlock func()
	stop   context.CancelCauseFunc
	once   sync.Once // closes ready
	ctx    context.Context

	mu     sync.Mutex // of closed: nothing is started after Close
	closed bool
	runs   sync.WaitGroup
}

// Connect brings the device online until Close is called. The end of ctx does
// not end the connection.
func (d *Device) Connect(ctx context.Context, o Options) (*Connection, error) {
	unlock, err := d.hold()
	if err != nil {
		return nil, err
	}
	c := &Connection{Device: d, opts: o, ready: make(chan struct{}), unlock: unlock}
	c.ctx, c.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := c.start(o); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Connection) start(o Options) error {
	urls, err := c.Device.Relays(o.Relay)
	if err != nil {
		return err
	}
	if c.Quota, err = quota.Open(filepath.Join(c.cfg.Dir, "calls")); err != nil {
		return err
	}
	c.routes = &router{peers: c.Peers, first: urls[0], relays: map[string]*relayClient{}, joining: map[identity.DeviceID]string{}}
	c.Link = session.NewLink(session.LinkConfig{
		Self: c.Self, Name: c.name(), Peers: c.Peers, Invites: c.Invites, Transport: c.routes,
		Admit: c.pairings.admit, NameFor: c.pairings.nameFor, Stored: c.pairings.stored, Paired: c.pairings.paired, Unpaired: c.pairings.unpaired,
		Log: func(from identity.DeviceID, err error) {
			c.cfg.Log.Warn("another device was not answered", "device", from.Short(), "reason", err)
		},
	})
	c.Dispatcher = relay.NewDispatcher(c.Self.ID(), c.Link, c.cfg.Log)
	if o.Listen != nil {
		if err := o.Listen(c); err != nil {
			return err
		}
	}
	c.spawn(func() { _ = c.Link.Run(c.ctx) })
	c.spawn(c.logCounts)
	c.spawn(func() { _ = c.Dispatcher.Run(c.ctx) })
	for _, url := range urls {
		if _, err := c.Use(url); err != nil {
			return err
		}
	}
	return nil
}

// spawn runs f until it returns. Close waits for it. It reports false, and does
// not run f, when the connection is closed.
func (c *Connection) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.runs.Go(f)
	return true
}

// Share serves agents to other owners until Unshare or Close is called. None is
// shared if one of the profiles is shared already.
func (c *Connection) Share(agents []share.AgentConfig) error {
	c.sharing.Lock()
	defer c.sharing.Unlock()
	if c.shared != nil {
		return c.shared.Add(agents)
	}
	var err error
	if c.journal, err = share.OpenJournal(journalFile(c.cfg.Dir)); err != nil { // its one writer is the process that is online
		return err
	}
	c.shared = share.New(share.Config{
		Self: c.Self.ID(), Agents: agents, Journal: c.journal, Quota: c.Quota, Name: c.NameOf, Log: c.cfg.Log, Audit: c.opts.Audit,
		Trusted: func(id identity.DeviceID) error { return c.Trusted(id)() },
	})
	c.Dispatcher.Handle(c.shared)
	return nil
}

// Unshare ends the share of profiles and waits for their agents. Requests in
// progress are answered with "interrupted".
func (c *Connection) Unshare(profiles ...string) {
	if s := c.share(); s != nil {
		s.Remove(profiles...)
	}
}

// AwaitAgents returns when the agents of shared profiles are ready for their
// first rooms, or have failed, which is logged.
func (c *Connection) AwaitAgents(ctx context.Context, profiles ...string) error {
	s := c.share()
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })()
	if err := s.AwaitPrepared(ctx, profiles...); err != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (c *Connection) share() *share.Share {
	c.sharing.Lock()
	defer c.sharing.Unlock()
	return c.shared
}

// Done is closed when the connection has ended, by Close or because no relay
// lets the device in.
func (c *Connection) Done() <-chan struct{} { return c.ctx.Done() }

// Err returns why no relay lets the device in, nil while one may.
func (c *Connection) Err() error {
	if err := context.Cause(c.ctx); c.ctx.Err() != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Await returns when a relay has let the device in.
func (c *Connection) Await(ctx context.Context) error {
	select {
	case <-c.ready:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close takes the device offline and waits for everything that Connect
// started.
func (c *Connection) Close() {
	c.pairings.linger()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop(nil)
	c.runs.Wait()
	if c.journal != nil {
		if err := c.journal.Close(); err != nil {
			c.cfg.Log.Error("the journal cannot be closed", "error", err)
		}
	}
	c.unlock()
}

// countsInterval is how often the counts are logged when they have changed.
const countsInterval = time.Minute

// logCounts logs how many frames came through the relay and what became of
// them, and once more at the end. It logs counts only: they show a relay that
// drops, repeats or forges frames, and reveal no message.
func (c *Connection) logCounts() {
	ticker := time.NewTicker(countsInterval)
	defer ticker.Stop()
	var logged session.Counts
	loggedViolations := c.Dispatcher.Violations()
	for last := false; !last; {
		select {
		case <-ticker.C:
		case <-c.ctx.Done():
			last = true
		}
		c.dropOld()
		n, violations := c.Link.Counts(), c.Dispatcher.Violations()
		if n == logged && violations == loggedViolations && !last {
			continue
		}
		logged, loggedViolations = n, violations
		c.cfg.Log.Debug("counts of the relay's frames", "received", n.Received, "messages", n.Delivered, "dropped", n.Dropped, "repeated", n.Repeated,
			"strangers", n.Strangers, "overflowed", n.Overflowed, "violations", violations, "unsent", n.Unsent, "lost", n.Lost, "last", last)
	}
}

// dropOld drops answers from the journal that are older than a day.
func (c *Connection) dropOld() {
	c.sharing.Lock()
	defer c.sharing.Unlock()
	if c.journal == nil {
		return
	}
	if err := c.journal.DropOld(); err != nil {
		c.cfg.Log.Error("the journal cannot be shortened", "error", err)
	}
}

func machineName() string {
	name, err := os.Hostname()
	if err != nil {
		return "moot"
	}
	name, _, _ = strings.Cut(name, ".")
	return name
}
