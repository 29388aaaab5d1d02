// Package bus connects the relays of a group over NATS.
//
// Each device has a subject, to which the relay subscribes that the device is
// connected to. So NATS carries a message to that relay alone (interest-based
// routing), and tells its sender when no relay is subscribed.
//
// Nothing is stored: the subjects must not belong to a stream of JetStream. A
// message that cannot be carried is lost, and its sender is told if that is known.
//
// Passwords and tokens of the URL, and ids of devices, are in no error and in no
// log of this package.
package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/problem"
)

// Config says how a relay reaches its group. URL is required.
type Config struct {
	URL string       // of the servers: nats://one:4222,nats://two:4222; a path names the group
	Log *slog.Logger // nil disables logging

	// Timeout bounds each wait for a server, and a server that is silent for longer
	// than one and a half of it is taken as lost. 0 is 2 s.
	Timeout time.Duration
}

// A Bus is one relay's connection to the NATS servers. All methods are safe for
// concurrent use.
type Bus struct {
	nc       *nats.Conn
	subjects subjects
	log      *slog.Logger
	timeout  time.Duration
	inbox    chan *nats.Msg
	changed  chan struct{} // capacity 1: the state or the overflows may have changed

	mu        sync.Mutex
	err       error                // of the last attempt to connect
	overflows int                  // not reported yet
	logged    map[string]time.Time // when an error was logged last
}

// inboxSize is how many messages wait for Run. Others are dropped.
const inboxSize = 1024

// await waits for the outcome of the first attempt, whose error comes later.
func (b *Bus) await() {
	if b.nc.IsConnected() {
		return
	}
	select {
	case <-b.changed:
	case <-time.After(b.timeout):
	}
}

// Connect connects to the servers. If none answers it tries again until Close is
// called, and reports no error. Errors are *problem.Error with code RELAY-NATS.
func Connect(c Config) (*Bus, error) {
	servers, group, err := splitURL(c.URL)
	if err != nil {
		return nil, err
	}
	b := &Bus{
		subjects: newSubjects(group), log: c.Log, timeout: cmp.Or(c.Timeout, 2*time.Second),
		inbox: make(chan *nats.Msg, inboxSize), changed: make(chan struct{}, 1), logged: map[string]time.Time{},
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	b.nc, err = nats.Connect(servers,
		nats.Name("moot relay"), nats.NoEcho(), nats.Timeout(b.timeout), nats.FlusherTimeout(b.timeout),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond), nats.IgnoreAuthErrorAbort(),
		nats.PingInterval(b.timeout/2), nats.MaxPingsOutstanding(2), nats.ReconnectBufSize(-1),
		nats.ConnectHandler(func(*nats.Conn) { b.note(nil) }),
		nats.ReconnectHandler(func(*nats.Conn) { b.note(nil) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { b.note(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { b.note(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { b.onError(err) }),
	)
	if err != nil {
		return nil, badURL("the servers cannot be used: " + plain(err))
	}
	if _, err := b.nc.ChanSubscribe(b.subjects.ownReplies(), b.inbox); err != nil {
		b.nc.Close()
		return nil, badURL("the servers cannot be used: " + plain(err))
	}
	b.await()
	return b, nil
}

// note records an attempt to connect, and wakes Run.
func (b *Bus) note(err error) {
	b.mu.Lock()
	b.err = err
	b.mu.Unlock()
	b.wake()
}

func (b *Bus) wake() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// A Receiver takes what arrives. Its methods are called one at a time.
type Receiver interface {
	// Receive takes ownership of a message for a device, from anyone who may
	// publish.
	Receive(to frame.ID, message []byte)
	// Undelivered reports that no relay had the device to when a message of from
	// was published.
	Undelivered(from, to frame.ID)
	// Overflowed reports that messages were dropped because they came faster than
	// they were received, how many times that began.
	Overflowed(times int)
	// Connected reports that the servers can be reached, or why not. It may report
	// the same again.
	Connected(err error)
}

// Run passes on what arrives until ctx ends.
func (b *Bus) Run(ctx context.Context, r Receiver) {
	b.wake()
	for {
		select {
		case m := <-b.inbox:
			b.dispatch(m, r)
		case <-b.changed:
			if n := b.takeOverflows(); n > 0 {
				r.Overflowed(n)
			}
			err := b.state()
			if err != nil && b.nc.IsConnected() {
				b.wake() // it may only be slow
			}
			r.Connected(err)
		case <-ctx.Done():
			return
		}
	}
}

func (b *Bus) dispatch(m *nats.Msg, r Receiver) {
	if to, ok := b.subjects.device(m.Subject); ok && len(m.Header) == 0 {
		r.Receive(to, m.Data)
		return
	}
	from, to, ok := b.subjects.reply(m.Subject)
	if ok && len(m.Data) == 0 && m.Header.Get("Status") == noResponders {
		r.Undelivered(from, to)
	}
}

// noResponders is the status of a message without a subscriber.
const noResponders = "503"

// errOffline is the state before the first attempt has ended.
var errOffline = errors.New("no server answers")

// state returns nil when a server has processed all subscriptions, else why not.
func (b *Bus) state() error {
	if b.nc.IsConnected() && b.nc.FlushTimeout(b.timeout) == nil {
		return nil
	}
	if err := b.lastError(); err != nil {
		return errors.New(plain(err))
	}
	return errOffline
}

func (b *Bus) lastError() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Subscribe has messages for a device brought to this relay until cancel is
// called. ready waits until the server has processed the subscription and all that
// was published before, for a bounded time. Without a connection it does not wait, and the
// subscription holds as soon as there is one.
func (b *Bus) Subscribe(device frame.ID) (ready, cancel func()) {
	sub, err := b.nc.ChanSubscribe(b.subjects.mailbox(device), b.inbox)
	if err != nil {
		b.logError(err)
		return func() {}, func() {}
	}
	ready = func() {
		if b.nc.IsConnected() {
			_ = b.nc.FlushTimeout(b.timeout) // a lost connection is reported by Connected
		}
	}
	cancel = func() { _ = sub.Unsubscribe() } // fails after Close only
	return ready, cancel
}

// A Message goes to the relay that a device is connected to.
type Message struct {
	To   frame.ID
	Body []byte
	// From is told through Undelivered if no relay has the device, unless it is
	// nil.
	From *frame.ID
}

// Publish sends a message. nil means that it is on its way to a server, not that
// it arrives. Without a connection it fails at once.
func (b *Bus) Publish(m Message) error {
	if !b.nc.IsConnected() {
		return errOffline
	}
	msg := &nats.Msg{Subject: b.subjects.mailbox(m.To), Data: m.Body}
	if m.From != nil {
		msg.Reply = b.subjects.replyTo(*m.From, m.To)
	}
	if err := b.nc.PublishMsg(msg); err != nil {
		b.logError(err)
		return errors.New(plain(err))
	}
	return nil
}

// Close sends what was published, for a bounded time, and disconnects.
func (b *Bus) Close() {
	if b.nc.IsConnected() {
		_ = b.nc.FlushTimeout(b.timeout) // what is lost is sent again by endpoints
	}
	b.nc.Close()
}

// onError takes an error that no call returns.
func (b *Bus) onError(err error) {
	b.logError(err)
	if errors.Is(err, nats.ErrSlowConsumer) {
		b.mu.Lock()
		b.overflows++
		b.mu.Unlock()
		b.wake()
	}
}

func (b *Bus) takeOverflows() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, b.overflows = b.overflows, 0
	return n
}

// logError logs an error of the connection, each once a minute, without its text,
// which can have the id of a device.
func (b *Bus) logError(err error) {
	text := plain(err)
	b.mu.Lock()
	last, had := b.logged[text]
	again := !had || time.Since(last) >= time.Minute
	if again {
		b.logged[text] = time.Now()
	}
	b.mu.Unlock()
	if again {
		b.log.Warn("NATS", "error", text)
	}
}

// plain returns the text of an error of NATS, without subjects.
func plain(err error) string {
	for _, known := range []struct {
		err  error
		text string
	}{
		{nats.ErrPermissionViolation, "the user may not use the subjects of the group"},
		{nats.ErrSlowConsumer, "messages came faster than this relay took them, and were dropped"},
		{nats.ErrMaxPayload, fmt.Sprintf("max_payload of the servers is below the %d bytes of a frame", frame.MaxFrame)},
		{nats.ErrAuthorization, "the servers refuse the user, the password or the token"},
		{nats.ErrNoServers, "no server answers"},
		{nats.ErrStaleConnection, "the server does not answer any more"},
		{nats.ErrTimeout, "the server does not answer in time"},
	} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return "the connection failed"
}

func badURL(why string) error {
	return &problem.Error{Code: "RELAY-NATS", What: why, Where: "relay.nats", Fix: "give the addresses of the servers with commas between them: nats://one:4222,nats://two:4222"}
}
