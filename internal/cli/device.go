package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
)

// A device is this data folder towards other owners: its keys, those it is
// paired with, and the invites it gave.
type device struct {
	app     *app
	dir     string
	self    *identity.Device
	peers   *identity.Peers
	invites *identity.Invites
}

// openDevice reads the device's files; keys are made when there are none.
func (a *app) openDevice() (*device, error) {
	d := &device{app: a, dir: filepath.Join(a.settings.Data, "device")}
	var err error
	if d.self, err = d.keys(); err != nil {
		return nil, err
	}
	if d.peers, err = identity.OpenPeers(filepath.Join(d.dir, "peers.json")); err != nil {
		return nil, err
	}
	d.invites, err = identity.OpenInvites(filepath.Join(d.dir, "invites.json"))
	return d, err
}

// keys asks for a passphrase only when the key file has one.
func (d *device) keys() (*identity.Device, error) {
	path := filepath.Join(d.dir, "keys.json")
	self, err := identity.LoadOrGenerate(path, nil, time.Now())
	if !errors.Is(err, identity.ErrPassphrase) || !d.app.interactive() {
		return self, err
	}
	phrase, err := d.app.askPassphrase("passphrase of " + path + ": ")
	if err != nil {
		return nil, err
	}
	return identity.LoadOrGenerate(path, phrase, time.Now())
}

// find returns a peer by name or id. A room needs no more of it.
func (d *device) find(peer string) (id, owner string, err error) {
	p, err := d.peers.Find(peer)
	return p.ID.String(), p.Name, err
}

// nameOf is what the device's owner calls another device.
func (d *device) nameOf(id identity.DeviceID) string {
	p, err := d.peers.Lookup(id)
	if err != nil {
		return ""
	}
	return p.Name
}

// profile is a local agent's rules, nothing allowed when it has none.
func (a *app) profile(name string) (quota.Profile, error) {
	for _, p := range a.settings.Profiles {
		if p.Name == name {
			return rulesOf(p)
		}
	}
	return quota.Profile{Name: name}, nil
}

func rulesOf(p config.Profile) (quota.Profile, error) {
	r := quota.Profile{Name: p.Name, Allow: p.Allow, MaxConcurrent: p.MaxConcurrent, MaxHops: p.MaxHops, PerMinute: p.PerMinute, Burst: p.Burst}
	for _, text := range p.Devices {
		id, err := identity.ParseDeviceID(text)
		if err != nil {
			return r, &problem.Error{
				Code: "CONFIG-VALUE", What: "profile " + p.Name + " allows what is no device id", Where: text,
				Fix: "`moot peers ls` prints the ids of paired devices", Err: err,
			}
		}
		r.Devices = append(r.Devices, id)
	}
	return r, nil
}

// A connection is a device that is online.
type connection struct {
	*device
	link       *session.Link
	journal    *share.Journal // nil when nothing is shared
	dispatcher *relay.Dispatcher
	quota      *quota.Quota
	urls       []string
	ready      chan struct{} // closed when a relay has let the device in

	unlock func()
	stop   context.CancelCauseFunc
	runs   sync.WaitGroup
	once   sync.Once
	ctx    context.Context
}

// online says how a device connects.
type online struct {
	url    string // of the relay; "" is that of the settings, or of the peers
	name   string // what the device calls itself; "" is the machine's name
	share  func(*connection) (*share.Share, error)
	admit  func(context.Context, session.JoinRequest) bool
	paired func(identity.Peer)
	listen func(*connection) // told before anything arrives; may be nil
	plain  bool
}

// connect brings the device online until close is called. Only one process of
// a data folder can be: a relay lets a device in once.
func (d *device) connect(ctx context.Context, o online) (*connection, error) {
	unlock, err := d.hold()
	if err != nil {
		return nil, err
	}
	c := &connection{device: d, ready: make(chan struct{}), unlock: unlock}
	c.ctx, c.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := c.start(o); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *connection) start(o online) (err error) {
	if c.urls, err = c.relays(o.url); err != nil {
		return err
	}
	if c.quota, err = quota.Open(filepath.Join(c.dir, "calls")); err != nil {
		return err
	}
	lines := &lines{peers: c.peers, first: c.urls[0], to: map[string]*client.Client{}}
	c.link = session.NewLink(session.LinkConfig{
		Self: c.self, Name: orElse(o.name, deviceName()), Peers: c.peers, Invites: c.invites, Transport: lines, Admit: o.admit, Paired: o.paired,
		Log: func(from identity.DeviceID, err error) {
			c.app.log.Warn("another device was not answered", "device", from.Short(), "reason", err)
		},
	})
	for _, url := range c.urls {
		cl, err := c.client(url, o.plain)
		if err != nil {
			return err
		}
		lines.to[url] = cl
	}
	c.dispatcher = relay.NewDispatcher(c.self.ID(), c.link, c.app.log)
	if o.share != nil {
		s, err := o.share(c)
		if err != nil {
			return err
		}
		c.dispatcher.Handle(s)
	}
	if o.listen != nil {
		o.listen(c)
	}
	c.runs.Go(func() { _ = c.link.Run(c.ctx) })
	c.runs.Go(c.tellCounts)
	c.runs.Go(func() { _ = c.dispatcher.Run(c.ctx) })
	for _, cl := range lines.to {
		c.runs.Go(func() {
			if err := cl.Run(c.ctx); err != nil {
				c.stop(err) // refused for good: whoever waits learns why
			}
		})
	}
	return nil
}

func (c *connection) client(url string, plain bool) (*client.Client, error) {
	token, err := c.token(url)
	if err != nil {
		return nil, err
	}
	return client.New(client.Config{
		URL: url, Device: frame.ID(c.self.ID()), Signer: c.self, Token: token, Plain: plain,
		Deliver: func(from frame.ID, payload []byte) { c.link.Deliver(from, payload) },
		Changed: func(s client.Status) {
			if s.Connected {
				c.once.Do(func() { close(c.ready) })
				c.link.Reconnected()
				c.app.log.Info("connected to the relay", "relay", url)
				return
			}
			c.app.log.Warn("not connected to the relay", "relay", url, "error", s.Err, "retry", s.Retry)
		},
	})
}

// relays lists the relays to be connected to, that of new devices first.
func (c *connection) relays(url string) ([]string, error) {
	var urls []string
	add := func(u string) {
		for _, have := range urls {
			if have == u || u == "" {
				return
			}
		}
		if u != "" {
			urls = append(urls, u)
		}
	}
	add(url)
	if url == "" {
		add(c.app.settings.RelayURL)
	}
	peers, err := c.peers.List()
	if err != nil {
		return nil, err
	}
	for _, p := range peers {
		add(p.Relay)
	}
	if len(urls) == 0 {
		return nil, &problem.Error{Code: "RELAY-NONE", What: "this device knows no relay", Fix: "name one: --relay wss://relay.example.org, or relay: {url: ...} in the settings file; an invite brings its own"}
	}
	return urls, nil
}

// token is what a private relay wants to hear.
func (c *connection) token(url string) (string, error) {
	s := c.app.settings
	if s.TokenFile == "" || s.RelayURL != "" && s.RelayURL != url {
		return "", nil
	}
	tokens, err := relayTokens(s.TokenFile)
	if err != nil || len(tokens) == 0 {
		return "", err
	}
	return tokens[0], nil
}

// refused is why no relay lets the device in, if that is so.
func (c *connection) refused() error {
	if err := context.Cause(c.ctx); c.ctx.Err() != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// await returns when a relay has let the device in.
func (c *connection) await(ctx context.Context) error {
	select {
	case <-c.ready:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close goes offline and waits for everything that connect started.
func (c *connection) close() {
	c.stop(nil)
	c.runs.Wait()
	if c.journal != nil {
		if err := c.journal.Close(); err != nil {
			c.app.log.Error("the journal cannot be closed", "error", err)
		}
	}
	c.unlock()
}

// A lines sends payloads by the relay at which a peer is met.
type lines struct {
	peers *identity.Peers
	first string
	to    map[string]*client.Client // by URL; not changed any more
}

// Send sends by the relay of a peer, and by the first for one that is not
// paired yet.
func (l *lines) Send(ctx context.Context, to [32]byte, payload []byte) error {
	url := l.first
	if p, err := l.peers.Lookup(to); err == nil && l.to[p.Relay] != nil {
		url = p.Relay
	}
	return l.to[url].Send(ctx, to, payload)
}

// deviceName is what a device calls itself when nobody says otherwise.
func deviceName() string {
	name, err := os.Hostname()
	if err != nil {
		return "moot"
	}
	return strings.SplitN(name, ".", 2)[0]
}

// hold makes this process the only one of the device that is online.
func (d *device) hold() (unlock func(), err error) {
	unlock, holder, err := holdFile(filepath.Join(d.dir, "online.lock"))
	switch {
	case err != nil:
		return nil, &problem.Error{Code: "RELAY-FILE", What: "the device's folder cannot be used", Where: d.dir, Fix: "make it writable", Err: err}
	case unlock == nil:
		return nil, &problem.Error{
			Code: "RELAY-ONLINE", What: fmt.Sprintf("this device is online in process %s, and a relay lets a device in once", holder), Where: d.dir,
			Fix: "end that process, or use another data folder: --data; `moot run --share` does both at once",
		}
	}
	return unlock, nil
}
