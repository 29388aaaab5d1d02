package spectate

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/room"
)

// A Snapshot is one answer of a host. Over all snapshots, Events has each event
// once and in order.
type Snapshot struct {
	Room    string
	Opening []room.Event // in the first answer, if it begins later: the events that open the room
	Events  []room.Event
	State   string // "" while the room runs
	Phase   room.Phase
	Reason  string
}

// Over reports whether the room has ended.
func (s Snapshot) Over() bool { return s.State == wire.RoomOver }

// Away reports whether the room's host has ended and may resume the room.
func (s Snapshot) Away() bool { return s.State == wire.RoomAway }

// A ClientConfig says what to watch. Host and Show are required.
type ClientConfig struct {
	Host identity.DeviceID
	Room string // "" is the only room that this device may watch
	// After is the last event that is known. Nil: begin with the Last events.
	After *int64
	Last  int
	// Show is called by Run with each answer. The host sends no more until it
	// returns. An error ends Run.
	Show func(Snapshot) error
	// Wait bounds the wait for a host that does not answer; 0 is for ever.
	Wait time.Duration
	// Silent is called when a host has not answered for a while. The client keeps
	// asking. May be nil.
	Silent func()
}

// A Client watches one room on another owner's device. It is a relay.Handler.
// Make one with NewClient, give it to a dispatcher and call Run once. Say may be
// called concurrently.
type Client struct {
	cfg        ClientConfig
	dispatcher *relay.Dispatcher
	ctx        context.Context // of the dispatcher
	begun      chan struct{}   // closed by Begin
	entered    chan struct{}   // closed with the first snapshot
	done       chan struct{}   // closed when Run has ended

	answers   chan envelope.Envelope
	restarted chan struct{} // holds a token when the host was restarted

	// Used by Run only.
	room   string
	after  int64
	known  bool // after is set
	inside bool // a snapshot has arrived

	tag     string // of the ids of this client's messages
	mu      sync.Mutex
	request string                            // id of the subscribe request in flight
	says    map[string]chan envelope.Envelope // by id of the message
	again   chan struct{}                     // closed, and replaced, when the host was restarted
	sends   sync.WaitGroup
}

// NewClient returns a client for one dispatcher.
func NewClient(cfg ClientConfig) *Client {
	c := &Client{
		cfg: cfg, begun: make(chan struct{}), entered: make(chan struct{}), done: make(chan struct{}),
		answers: make(chan envelope.Envelope, 4), restarted: make(chan struct{}, 1),
		room: cfg.Room, tag: rand.Text() + ".", says: map[string]chan envelope.Envelope{}, again: make(chan struct{}),
	}
	if cfg.After != nil {
		c.after, c.known = *cfg.After, true
	}
	return c
}

// Begin starts the client.
func (c *Client) Begin(ctx context.Context, d *relay.Dispatcher) {
	c.ctx, c.dispatcher = ctx, d
	close(c.begun)
}

// End does nothing: Run ends with the dispatcher's context.
func (c *Client) End() {}

// PeerRestarted makes the client send its requests again: a restarted host does
// not know them any more.
func (c *Client) PeerRestarted(from identity.DeviceID) {
	if from != c.cfg.Host {
		return
	}
	signal(c.restarted)
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.again)
	c.again = make(chan struct{})
}

// newID returns the id of a message. The host keeps clients of one device apart
// by the part before the dot, and so does the dispatcher of this device.
func (c *Client) newID() string { return c.tag + rand.Text() }

// Take keeps an answer of the host to this client.
func (c *Client) Take(from identity.DeviceID, e envelope.Envelope) bool {
	switch e.Type {
	case envelope.Event, envelope.Status, envelope.Error:
	default:
		return false
	}
	if from != c.cfg.Host || !strings.HasPrefix(e.ID, c.tag) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if reply := c.says[e.ID]; reply != nil && e.Type != envelope.Event {
		delete(c.says, e.ID)
		reply <- e // it holds one
		return true
	}
	if e.ID != c.request || e.Type == envelope.Status {
		return true // an answer to a request that was given up
	}
	c.request = ""
	select {
	case c.answers <- e:
	default: // cannot happen: Run takes each answer before its next request
	}
	return true
}

// Run asks and shows until the room has ended, Show returns an error, or ctx
// ends. Errors wrap endpoint's: ErrDenied, ErrUnreachable, ErrUntrusted and
// ErrProtocol.
func (c *Client) Run(ctx context.Context) error {
	defer c.sends.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer close(c.done)
	defer func() { c.sayBye(ctx) }()
	select {
	case <-c.begun:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		e, err := c.ask(ctx)
		if err != nil {
			return err
		}
		over, err := c.show(e)
		if over || err != nil {
			return err
		}
	}
}

// byeTimeout bounds the wait for the delivery of the last message.
const byeTimeout = 250 * time.Millisecond

// sayBye tells the host that this device stops watching, unless the host ended
// the stream itself. The message may get lost.
func (c *Client) sayBye(ctx context.Context) {
	if !c.inside || ctx.Err() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), byeTimeout)
	defer cancel()
	<-c.send(ctx, envelope.Envelope{ID: c.newID(), Type: envelope.Bye, Room: c.room})
}

// send delivers e in the background and returns a channel with the result.
func (c *Client) send(ctx context.Context, e envelope.Envelope) <-chan error {
	sent := make(chan error, 1)
	b, err := envelope.Encode(e)
	if err != nil {
		sent <- err
		return sent
	}
	c.sends.Go(func() { sent <- c.dispatcher.Deliver(ctx, c.cfg.Host, b) })
	return sent
}

// show checks an answer and hands it to the caller.
func (c *Client) show(e envelope.Envelope) (over bool, err error) {
	if e.Type == envelope.Error {
		return true, refusedError(replyCode(e))
	}
	var v wire.Snapshot
	err = e.DecodeBody(&v)
	var opening, events []room.Event
	if err == nil {
		opening, events, err = v.Read(c.after, c.known)
	}
	switch {
	case err == nil && (e.Room == "" || c.room != "" && e.Room != c.room):
		err = errors.New("it is of another room")
	case err == nil && len(opening) > 0 && c.known:
		err = errors.New("it opens a room that was open")
	}
	if err != nil {
		c.dispatcher.Violation(c.cfg.Host, "", "bad_frame", err.Error())
		return true, wire.Problem("AGENT-PROTOCOL", "the answer of the other owner's device cannot be read: "+endpoint.CleanLine(err.Error(), maxReason),
			"ask its owner which release of moot it runs", endpoint.ErrProtocol)
	}
	c.room, c.after, c.known = e.Room, v.Through, true
	if !c.inside {
		c.inside = true
		close(c.entered)
	}
	s := Snapshot{Room: e.Room, Opening: opening, Events: events, State: v.State, Phase: v.Phase, Reason: endpoint.CleanLine(v.Reason, maxReason)}
	return s.Over(), c.cfg.Show(s)
}
