package device

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/problem"
)

// Options say how a device connects.
type Options struct {
	Relay  string // URL; "" is that of the Config, else those of the peers
	Name   string // what the device calls itself; "" is the machine's name
	Share  *ShareConfig
	Admit  func(context.Context, session.JoinRequest) bool // decides about a device that used an invite
	Paired func(identity.Peer)                             // told of each device that was paired
	// Unpaired is told of each device that used an invite and was not paired.
	Unpaired func(identity.DeviceID, error)
	Listen   func(*Connection) // called before anything arrives; may be nil
}

// ShareConfig says which agents a connection serves to other owners.
type ShareConfig struct {
	Agents []share.AgentConfig
	// Audit records one request of another device and how it ended.
	Audit func(d *Device, asked share.AuditEntry) error
}

// A Connection is a device that is online. Close ends it.
type Connection struct {
	*Device
	Link       *session.Link     // the encrypted sessions with other devices
	Dispatcher *relay.Dispatcher // of messages from other devices
	Quota      *quota.Quota      // counts that limit calls between devices
	URLs       []string          // the relays of the connection

	offline deviceSet      // devices that are not connected, as the relays say
	journal *share.Journal // of shared agents; nil when none is shared
	shared  *share.Share   // nil when none is shared
	ready   chan struct{}  // closed when a relay has let the device in

	unlock func()
	stop   context.CancelCauseFunc
	runs   sync.WaitGroup
	once   sync.Once
	ctx    context.Context
}

// Connect brings the device online until Close is called. The end of ctx does
// not end the connection.
func (d *Device) Connect(ctx context.Context, o Options) (*Connection, error) {
	unlock, err := d.hold()
	if err != nil {
		return nil, err
	}
	c := &Connection{Device: d, ready: make(chan struct{}), unlock: unlock}
	c.ctx, c.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := c.start(o); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Connection) start(o Options) (err error) {
	if c.URLs, err = c.Relays(o.Relay); err != nil {
		return err
	}
	if c.Quota, err = quota.Open(filepath.Join(c.cfg.Dir, "calls")); err != nil {
		return err
	}
	routes := &router{peers: c.Peers, first: c.URLs[0], clients: map[string]*client.Client{}}
	c.Link = session.NewLink(session.LinkConfig{
		Self: c.Self, Name: cmp.Or(o.Name, machineName()), Peers: c.Peers, Invites: c.Invites, Transport: routes, Admit: o.Admit, Paired: o.Paired, Unpaired: o.Unpaired,
		Log: func(from identity.DeviceID, err error) {
			c.cfg.Log.Warn("another device was not answered", "device", from.Short(), "reason", err)
		},
	})
	for _, url := range c.URLs {
		if routes.clients[url], err = c.client(url); err != nil {
			return err
		}
	}
	c.Dispatcher = relay.NewDispatcher(c.Self.ID(), c.Link, c.cfg.Log)
	if o.Share != nil {
		if c.shared, err = c.share(o.Share); err != nil {
			return err
		}
		c.Dispatcher.Handle(c.shared)
	}
	if o.Listen != nil {
		o.Listen(c)
	}
	c.runs.Go(func() { _ = c.Link.Run(c.ctx) })
	c.runs.Go(c.logCounts)
	c.runs.Go(func() { _ = c.Dispatcher.Run(c.ctx) })
	for _, cl := range routes.clients {
		c.runs.Go(func() {
			if err := cl.Run(c.ctx); err != nil {
				c.stop(err) // refused for good: Err and Await return the reason
			}
		})
	}
	return nil
}

// share serves agents on the connection. The journal has one writer, the
// process that is online.
func (c *Connection) share(cfg *ShareConfig) (s *share.Share, err error) {
	if c.journal, err = share.OpenJournal(journalFile(c.cfg.Dir)); err != nil {
		return nil, err
	}
	return share.New(share.Config{
		Self: c.Self.ID(), Agents: cfg.Agents, Journal: c.journal, Quota: c.Quota, Name: c.NameOf, Log: c.cfg.Log,
		Trusted: func(id identity.DeviceID) error { return c.Trusted(id)() },
		Audit:   func(asked share.AuditEntry) error { return cfg.Audit(c.Device, asked) },
	}), nil
}

func (c *Connection) client(url string) (*client.Client, error) {
	token := ""
	if c.cfg.Token != nil {
		var err error
		if token, err = c.cfg.Token(url); err != nil {
			return nil, err
		}
	}
	return client.New(client.Config{
		URL: url, Device: frame.ID(c.Self.ID()), Signer: c.Self, Token: token,
		Deliver: func(from frame.ID, payload []byte) {
			c.offline.remove(identity.DeviceID(from))
			c.Link.Deliver(from, payload)
		},
		Gone: func(to frame.ID, why frame.GoneReason) {
			if why == frame.GoneNotHere || why == frame.GoneDisconnected {
				c.offline.add(identity.DeviceID(to))
			}
		},
		Changed: func(s client.Status) {
			if s.Connected {
				c.once.Do(func() { close(c.ready) })
				c.Link.Reconnected()
				c.cfg.Log.Info("connected to the relay", "relay", url)
				return
			}
			c.cfg.Log.Warn("not connected to the relay", "relay", url, "error", s.Err, "retry", s.Retry)
		},
	})
}

// Relays lists the relays that the device connects to; new devices are met at
// the first. A url replaces the relay of the Config.
func (d *Device) Relays(url string) ([]string, error) {
	urls := []string{cmp.Or(url, d.cfg.Relay)}
	peers, err := d.Peers.List()
	if err != nil {
		return nil, err
	}
	for _, p := range peers {
		if !slices.Contains(urls, p.Relay) {
			urls = append(urls, p.Relay)
		}
	}
	urls = slices.DeleteFunc(urls, func(u string) bool { return u == "" })
	if len(urls) == 0 {
		return nil, &problem.Error{Code: "RELAY-NONE", What: "this device knows no relay", Fix: "name one: --relay wss://relay.example.org, or relay: {url: ...} in the settings file; an invite brings its own"}
	}
	return urls, nil
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

// AwaitAgents returns when the agents that the connection shares are ready for
// their first rooms, or have failed, which is logged.
func (c *Connection) AwaitAgents(ctx context.Context) error {
	if c.shared == nil {
		return nil
	}
	select {
	case <-c.shared.Prepared():
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
	if c.journal == nil {
		return
	}
	if err := c.journal.DropOld(); err != nil {
		c.cfg.Log.Error("the journal cannot be shortened", "error", err)
	}
}

// A router sends payloads by the relay where a peer is met.
type router struct {
	peers   *identity.Peers
	first   string
	clients map[string]*client.Client // by URL; constant
}

// Send implements [session.Transport]. A device that is not paired yet is met
// at the first relay.
func (r *router) Send(ctx context.Context, to [32]byte, payload []byte) error {
	url := r.first
	if p, err := r.peers.Lookup(to); err == nil && r.clients[p.Relay] != nil {
		url = p.Relay
	}
	return r.clients[url].Send(ctx, to, payload)
}

func machineName() string {
	name, err := os.Hostname()
	if err != nil {
		return "moot"
	}
	name, _, _ = strings.Cut(name, ".")
	return name
}
