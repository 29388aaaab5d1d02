package device

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/problem"
)

// maxRelays bounds the relays of a connection.
const maxRelays = 64

// A router sends payloads by the relay where a peer is met, and owns the
// connections to the relays.
type router struct {
	peers *identity.Peers

	mu     sync.Mutex
	first  string
	relays map[string]*relayClient // by URL
	order  []string                // the URLs, in the order in which they were added

	// The relays of devices that are not paired yet.
	joining map[identity.DeviceID]string // of the invites that this device is using
	sources map[identity.DeviceID]string // from which a payload of the device came last
}

// maxSources bounds router.sources: a relay may name any number of devices.
const maxSources = 1_000

// A relayClient is the connection to one relay.
type relayClient struct {
	url    string
	client *client.Client
	stop   context.CancelFunc
	ready  chan struct{} // closed when the relay has let the device in
	once   sync.Once     // closes ready
	ended  chan struct{} // closed when there are no more attempts to connect

	mu     sync.Mutex
	users  int   // those that keep it; see Use
	online bool  // connected now
	err    error // why it is not; once ended is closed, for good
}

// A Relay is the state of the connection to one relay.
type Relay struct {
	URL       string
	Connected bool
	Err       error // why it is not connected
}

// Send implements [session.Transport].
func (r *router) Send(ctx context.Context, to [32]byte, payload []byte) error {
	return r.choose(to).client.Send(ctx, to, payload)
}

// choose returns the relay for a device: that of the invite which this device is
// using, else that of the peer, else the one from which its last payload came.
func (r *router) choose(to identity.DeviceID) *relayClient {
	p, err := r.peers.Lookup(to)
	r.mu.Lock()
	defer r.mu.Unlock()
	urls := []string{r.joining[to], "", r.sources[to], r.first}
	if err == nil {
		urls[1] = p.Relay
	}
	for _, url := range urls {
		if x := r.relays[url]; x != nil {
			return x
		}
	}
	return nil // the first is never released
}

// noteSource notes the relay from which a payload of a device came.
func (r *router) noteSource(from identity.DeviceID, url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources[from] == url {
		return
	}
	if r.sources == nil || len(r.sources) >= maxSources {
		r.sources = map[identity.DeviceID]string{}
	}
	r.sources[from] = url
}

// join makes payloads to the host of an invite go to the relay of the invite
// until leave is called.
func (r *router) join(in identity.Invite) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.joining[in.Host.ID] = in.Relay
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.joining, in.Host.ID)
	}
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

// Relays returns the relays of the connection, the first first.
func (c *Connection) Relays() []Relay {
	r := c.routes
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Relay, len(r.order))
	for i, url := range r.order {
		x := r.relays[url]
		x.mu.Lock()
		all[i] = Relay{URL: url, Connected: x.online, Err: x.err}
		x.mu.Unlock()
	}
	return all
}

// URLs returns the URLs of the relays of the connection, the first first.
func (c *Connection) URLs() []string {
	c.routes.mu.Lock()
	defer c.routes.mu.Unlock()
	return slices.Clone(c.routes.order)
}

// Use connects to a relay as well, if the connection does not use it yet, until
// release is called by each of its users. It does not wait for the connection.
func (c *Connection) Use(url string) (release func(), err error) {
	r := c.routes
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.relays[url]
	if x == nil || x.hasEnded() {
		if x, err = c.add(url); err != nil {
			return nil, err
		}
	}
	x.mu.Lock()
	x.users++
	x.mu.Unlock()
	return sync.OnceFunc(func() { c.release(x) }), nil
}

// Reach connects to the relay where a peer is met, if the connection does not
// use it yet.
func (c *Connection) Reach(id identity.DeviceID) error {
	p, err := c.Peers.Lookup(id)
	if err != nil || p.Relay == "" {
		return err
	}
	_, err = c.Use(p.Relay) // for as long as the connection lasts
	return err
}

// add connects to a relay. The caller holds routes.mu.
func (c *Connection) add(url string) (*relayClient, error) {
	r := c.routes
	if len(r.order) >= maxRelays {
		return nil, &problem.Error{Code: "RELAY-MANY", What: fmt.Sprintf("this device is connected to %d relays, which is the most", maxRelays), Fix: "remove peers that are met at relays of their own: `moot peers ls`"}
	}
	x := &relayClient{url: url, ready: make(chan struct{}), ended: make(chan struct{})}
	var err error
	if x.client, err = c.client(x); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(c.ctx)
	x.stop = stop
	if !slices.Contains(r.order, url) {
		r.order = append(r.order, url)
	}
	r.relays[url] = x
	if !c.spawn(func() { c.runRelay(ctx, x) }) {
		close(x.ended)
	}
	return x, nil
}

// runRelay keeps a relay connected until ctx ends or the relay refuses the
// device for good.
func (c *Connection) runRelay(ctx context.Context, x *relayClient) {
	err := x.client.Run(ctx)
	x.mu.Lock()
	x.online = false
	if err != nil {
		x.err = err
	}
	x.mu.Unlock()
	close(x.ended)
	if err == nil {
		return
	}
	if c.anyRelay() {
		c.cfg.Log.Warn("a relay does not let this device in", "relay", x.url, "error", err)
		return
	}
	c.stop(err) // Err and Await return the reason
}

// anyRelay reports whether a relay may let the device in.
func (c *Connection) anyRelay() bool {
	c.routes.mu.Lock()
	defer c.routes.mu.Unlock()
	for _, x := range c.routes.relays {
		if !x.hasEnded() {
			return true
		}
	}
	return false
}

func (x *relayClient) hasEnded() bool {
	select {
	case <-x.ended:
		return true
	default:
		return false
	}
}

// release ends one use of a relay, and the connection to the relay if it has no
// other, and no peer is met there.
func (c *Connection) release(x *relayClient) {
	peers, err := c.Peers.List()
	r := c.routes
	r.mu.Lock()
	defer r.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.users--
	met := err != nil || slices.ContainsFunc(peers, func(p identity.Peer) bool { return p.Relay == x.url })
	if x.users > 0 || met || r.relays[x.url] != x {
		return
	}
	x.stop()
	delete(r.relays, x.url)
	r.order = slices.DeleteFunc(r.order, func(u string) bool { return u == x.url })
}

// Reclaim connects at once to the relays that have ended the connection for another process of
// this device. The caller has reason to believe that the process has ended.
func (c *Connection) Reclaim() {
	c.routes.mu.Lock()
	defer c.routes.mu.Unlock()
	for _, x := range c.routes.relays {
		x.client.Reclaim()
	}
}

// AwaitRelay returns when a relay that is in use has let the device in.
func (c *Connection) AwaitRelay(ctx context.Context, url string) error {
	c.routes.mu.Lock()
	x := c.routes.relays[url]
	c.routes.mu.Unlock()
	if x == nil {
		return context.Canceled // it was released
	}
	select {
	case <-x.ready:
		return nil
	case <-x.ended:
		x.mu.Lock()
		defer x.mu.Unlock()
		return cmp.Or(x.err, context.Canceled)
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// client makes the client of a relay.
func (c *Connection) client(x *relayClient) (*client.Client, error) {
	token := ""
	if c.cfg.Token != nil {
		var err error
		if token, err = c.cfg.Token(x.url); err != nil {
			return nil, err
		}
	}
	return client.New(client.Config{
		URL: x.url, Device: frame.ID(c.Self.ID()), Signer: c.Self, Token: token,
		Deliver: func(from frame.ID, payload []byte) {
			c.offline.remove(identity.DeviceID(from))
			c.routes.noteSource(identity.DeviceID(from), x.url)
			c.Link.Deliver(from, payload)
		},
		Gone: func(to frame.ID, why frame.GoneReason) {
			if why == frame.GoneNotHere || why == frame.GoneDisconnected {
				c.offline.add(identity.DeviceID(to))
			}
		},
		Changed: func(s client.Status) { c.relayChanged(x, s) },
	})
}

// relayChanged takes note of the state of the connection to a relay.
func (c *Connection) relayChanged(x *relayClient, s client.Status) {
	x.mu.Lock()
	x.online, x.err = s.Connected, s.Err
	x.mu.Unlock()
	if !s.Connected {
		c.cfg.Log.Warn("not connected to the relay", "relay", x.url, "error", s.Err, "retry", s.Retry)
		return
	}
	x.once.Do(func() { close(x.ready) })
	c.once.Do(func() { close(c.ready) })
	c.Link.Reconnected()
	c.cfg.Log.Info("connected to the relay", "relay", x.url)
}
