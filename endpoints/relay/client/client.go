package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/problem"
)

// A Signer answers challenges of relays with the device's key. What it signs
// is frame.LoginMessage.
type Signer interface {
	SignLogin(host string, challenge [32]byte, exporter []byte) [64]byte
}

// A Config says where to connect, as whom, and who hears of what arrives. The
// functions are called one at a time, from the goroutine that reads: while
// one runs, nothing is read. Each may be nil.
type Config struct {
	URL    string // of the relay: wss://HOST[:PORT][/PATH]
	Device frame.ID
	Signer Signer
	Token  string // for a relay that wants one

	// Plain allows ws:// to other machines than this one. Payloads are
	// encrypted all the same, but anybody between sees who sends to whom.
	Plain bool

	Deliver func(from frame.ID, payload []byte)                      // payload is the callee's
	Gone    func(to frame.ID, reason frame.GoneReason)               // a hint: the relay's word
	Changed func(Status)                                             // the connection came or went
	Dial    func(ctx context.Context, addr string) (net.Conn, error) // nil: TCP, through the proxy of the environment
	TLS     *tls.Config                                              // nil: the system's roots

	Timing Timing
}

// Timing is how a client waits. Zeros are the defaults.
type Timing struct {
	First     time.Duration // before the second attempt, at most: 0.5 s
	Cap       time.Duration // between attempts, at most: 60 s
	Stable    time.Duration // connected for that long, the next wait is First again: 60 s
	Handshake time.Duration // from dialling to WELCOME: 15 s
	Silence   time.Duration // without a ping of the relay: 60 s
	Write     time.Duration // for one frame: 10 s
}

func (t Timing) withDefaults() Timing {
	for _, p := range []struct {
		have *time.Duration
		def  time.Duration
	}{
		{&t.First, 500 * time.Millisecond},
		{&t.Cap, time.Minute},
		{&t.Stable, time.Minute},
		{&t.Handshake, 15 * time.Second},
		{&t.Silence, time.Minute},
		{&t.Write, 10 * time.Second},
	} {
		if *p.have <= 0 {
			*p.have = p.def
		}
	}
	return t
}

// Status is what has become of the connection.
type Status struct {
	Connected bool
	Err       error         // why it is not
	Retry     time.Duration // until the next attempt
	Health    string        // what the relay said on the way; its word, so text of a stranger
}

// ErrOffline is what Send and Allow return without a connection.
var ErrOffline = errors.New("not connected to the relay")

// ErrReplaced is why a connection ended that a newer login of the same device
// has taken the place of.
var ErrReplaced = errors.New("this device has logged in again elsewhere")

// A Client is one device's connection to one relay.
type Client struct {
	cfg    Config
	timing Timing
	url    *url.URL
	host   string

	mu     sync.Mutex
	link   *link // nil without a connection
	list   []frame.ID
	listed bool // list is to be sent after each login
}

// New makes a client. Errors are *problem.Error with code RELAY-URL or
// RELAY-PLAIN.
func New(cfg Config) (*Client, error) {
	u, err := frame.ParseURL(cfg.URL)
	if err != nil {
		return nil, &problem.Error{Code: "RELAY-URL", What: "this is no relay's URL", Fix: "write it as wss://relay.example.org", Err: err}
	}
	if u.Scheme == "ws" && !cfg.Plain && !frame.Loopback(u) {
		return nil, &problem.Error{
			Code: "RELAY-PLAIN", What: "the connection to the relay would not be encrypted", Where: u.Redacted(),
			Fix: "use wss://, or allow it explicitly: messages stay encrypted, but anybody between sees who writes to whom",
		}
	}
	return &Client{cfg: cfg, timing: cfg.Timing.withDefaults(), url: u, host: frame.Host(u)}, nil
}

// Run connects, and connects again, until ctx ends; then it returns nil. A
// relay that refuses the device before it ever let it in ends it too, with a
// *problem.Error of code RELAY-REJECTED. Run may be called once.
func (c *Client) Run(ctx context.Context) error {
	b := backoff{timing: c.timing}
	for welcomed := false; ctx.Err() == nil; {
		l, err := c.connect(ctx)
		if err == nil {
			welcomed = true
			begin := time.Now()
			c.hold(l)
			c.changed(Status{Connected: true})
			err = l.run(ctx)
			c.hold(nil)
			b.lasted(time.Since(begin))
		}
		if ctx.Err() != nil {
			break
		}
		if final(err) && !welcomed {
			return err
		}
		wait := b.next(err)
		c.changed(Status{Err: err, Retry: wait, Health: healthOf(l)})
		if !sleep(ctx, wait) {
			break
		}
	}
	return nil
}

// Send passes a payload of up to frame.MaxPayload bytes to the relay. It waits
// while the relay does not take what was sent before, but not for a
// connection: without one, or when it ends, it returns ErrOffline. nil means
// that the payload is under way, not that anybody got it. The payload is
// copied.
func (c *Client) Send(ctx context.Context, to frame.ID, payload []byte) error {
	l := c.current()
	if l == nil {
		return ErrOffline
	}
	b, err := frame.Append(make([]byte, 0, 1+len(to)+len(payload)), frame.Send{To: to, Payload: payload})
	if err != nil {
		return err
	}
	return l.put(ctx, b)
}

// Allow lets only these devices send to this one, from now on and after each
// login to come. Without a connection it returns ErrOffline, and is in effect
// from the next login on.
func (c *Client) Allow(ctx context.Context, ids []frame.ID) error {
	b, err := frame.Append(nil, frame.Allow{Devices: ids})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.list, c.listed = append([]frame.ID(nil), ids...), true
	l := c.link
	c.mu.Unlock()
	if l == nil {
		return ErrOffline
	}
	return l.put(ctx, b)
}

func (c *Client) current() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

// hold makes l the connection. What Allow has said goes first.
func (c *Client) hold(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = l
	if l == nil || !c.listed {
		return
	}
	if b, err := frame.Append(nil, frame.Allow{Devices: c.list}); err == nil { // Allow has checked it
		l.out <- b // it has room: nobody else knows it yet
	}
}

func (c *Client) changed(s Status) {
	if c.cfg.Changed != nil {
		c.cfg.Changed(s)
	}
}

// proxy is the proxy of the environment. Loopback addresses have none.
var proxy = http.ProxyFromEnvironment
