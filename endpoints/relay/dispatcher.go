package relay

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// A Link carries messages between this device and its paired devices: each
// once, in order, encrypted. *session.Link is one.
type Link interface {
	// Send returns when the device has the message, or an error when that will
	// not be known. If ctx ends first, the message may still arrive.
	Send(ctx context.Context, to identity.DeviceID, message []byte) error
	// Next returns the next event of any device.
	Next(ctx context.Context) (session.Inbound, error)
}

// A Handler serves one role of this device: share.Share, spectate.Server or
// spectate.Client. Take and PeerRestarted must not wait.
type Handler interface {
	// Begin is called once, before the handler is given any message. ctx ends
	// with the dispatcher.
	Begin(ctx context.Context, d *Dispatcher)
	// Take handles a message, or reports false when it is not for this role.
	Take(from identity.DeviceID, e envelope.Envelope) bool
	// PeerRestarted reports that a device has lost its sessions.
	PeerRestarted(from identity.DeviceID)
	// End stops all work of the role and waits for it. A message may arrive
	// afterwards, and is then dropped.
	End()
}

// A Seat awaits answers of one device: seat.Endpoint. Its methods must not
// wait.
type Seat interface {
	// Take handles a message, or reports false when it belongs to no request of
	// the seat.
	Take(e envelope.Envelope) bool
	// PeerRestarted reports that the seat's device has lost its sessions.
	PeerRestarted()
	// Violation reports that the seat's device broke a rule of the protocol.
	Violation(code, detail string)
}

// A Dispatcher hands each message that arrives at this device to its seat or
// handler. Make one with NewDispatcher and run it with Run. Its other methods
// may be called concurrently, unless they say otherwise.
type Dispatcher struct {
	self identity.DeviceID
	link Link
	log  *slog.Logger

	violations atomic.Uint64

	// The handlers have a lock of their own, because Begin may send.
	handling sync.Mutex
	handlers []Handler
	phase    phase

	mu    sync.Mutex
	seats map[identity.DeviceID][]seatEntry
	sends sync.WaitGroup
	ctx   context.Context // of background sends; set by Run
	ready chan struct{}   // closed by Run
	done  chan struct{}   // closed when Run has ended
}

// A phase is how far a dispatcher is. Handlers that are added later begin, or
// end, at once.
type phase int

const (
	waiting phase = iota // Run was not called yet
	running
	ended
)

type seatEntry struct {
	Seat
	profile string // of the remote agent
}

// NewDispatcher returns the dispatcher of the device self. log may be nil.
func NewDispatcher(self identity.DeviceID, link Link, log *slog.Logger) *Dispatcher {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Dispatcher{self: self, link: link, log: log, seats: map[identity.DeviceID][]seatEntry{}, ready: make(chan struct{}), done: make(chan struct{})}
}

// Handle adds a role of the device. Messages that arrived before are not for
// it, so a role that others wait for is added before Run.
func (d *Dispatcher) Handle(h Handler) {
	d.handling.Lock()
	defer d.handling.Unlock()
	if d.phase != waiting {
		h.Begin(d.ctx, d)
	}
	if d.phase == ended {
		h.End()
		return
	}
	d.handlers = append(slices.Clone(d.handlers), h)
}

// Unhandle removes a role that was added, and ends it.
func (d *Dispatcher) Unhandle(h Handler) {
	d.handling.Lock()
	i := slices.Index(d.handlers, h)
	if i >= 0 {
		d.handlers = slices.Delete(slices.Clone(d.handlers), i, i+1)
	}
	begun := d.phase != waiting
	d.handling.Unlock()
	if i >= 0 && begun {
		h.End()
	}
}

// roles returns the handlers of now. The caller must not change the list.
func (d *Dispatcher) roles() []Handler {
	d.handling.Lock()
	defer d.handling.Unlock()
	return d.handlers
}

// begin begins all handlers that were added before Run.
func (d *Dispatcher) begin(ctx context.Context) {
	d.handling.Lock()
	defer d.handling.Unlock()
	d.ctx = ctx
	close(d.ready)
	d.phase = running
	for _, h := range d.handlers {
		h.Begin(ctx, d)
	}
}

// end ends all handlers.
func (d *Dispatcher) end() {
	d.handling.Lock()
	all := d.handlers
	d.handlers, d.phase = nil, ended
	d.handling.Unlock()
	for _, h := range all {
		h.End()
	}
}

// Self returns the id of this device.
func (d *Dispatcher) Self() identity.DeviceID { return d.self }

// Ready returns a channel that is closed when Run has started.
func (d *Dispatcher) Ready() <-chan struct{} { return d.ready }

// Violations returns how often other devices broke the protocol.
func (d *Dispatcher) Violations() uint64 { return d.violations.Load() }

// Run dispatches messages until ctx ends, then ends all roles and waits for
// all goroutines that it started. It is called once. Its error is that of the
// Link; it is nil when ctx has ended.
func (d *Dispatcher) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	d.begin(ctx)
	defer d.sends.Wait()
	defer close(d.done)
	defer cancel()
	for {
		in, err := d.link.Next(ctx)
		if err != nil {
			d.end()
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		switch e := in.Event.(type) {
		case session.Delivered:
			d.take(in.From, e.Message)
		case session.Connected:
			if e.NewStream {
				d.peerRestarted(in.From)
			}
		case session.Violated:
			d.Violation(in.From, "", "session", e.Reason)
		}
	}
}

// take dispatches one message of a device.
func (d *Dispatcher) take(from identity.DeviceID, b []byte) {
	e, err := envelope.Decode(b)
	if err != nil {
		d.Violation(from, "", "bad_frame", err.Error())
		return
	}
	switch e.Type {
	case envelope.TurnResponse, envelope.BidResponse, envelope.Error, envelope.Message, envelope.Offered:
		if d.offer(from, e) {
			return
		}
	}
	if slices.ContainsFunc(d.roles(), func(h Handler) bool { return h.Take(from, e) }) {
		return
	}
	switch e.Type {
	case envelope.TurnRequest, envelope.BidRequest, envelope.TurnCancel:
		d.log.Warn("another device sent a request, and this device shares nothing", "device", from.Short())
		if e.Type != envelope.TurnCancel {
			d.Send(from, wire.ResponseTo(e, wire.Body(wire.Refusal(wire.CodeDenied))))
		}
	case envelope.TurnResponse, envelope.BidResponse, envelope.Error:
		d.Violation(from, e.Profile, "unknown_request", "an answer to "+endpoint.Quote(e.ID)+", which is no request of this device")
	case envelope.Message:
		d.Violation(from, e.Profile, "unsolicited", "a message that belongs to no request")
	case envelope.Watch:
		d.Send(from, wire.ReplyTo(e, wire.ErrorReply(wire.ReplyAbsent)))
	case envelope.Status:
		d.status(from, e)
	case envelope.Event:
		d.Violation(from, e.Profile, "unsolicited", "an event of a room that this device does not watch")
	case envelope.Offers: // this device shares nothing
		d.Send(from, envelope.Envelope{ID: e.ID, Type: envelope.Offered, Body: wire.Body(wire.Offered{Profiles: []string{}})})
	case envelope.Bye, envelope.Offered, envelope.MessageAnswer: // also an answer that came too late
	default:
		d.Violation(from, e.Profile, "unknown_frame", "nothing of the type "+endpoint.Quote(string(e.Type))+" is expected")
	}
}

// status hands a status of a device or of a request to the seats.
func (d *Dispatcher) status(from identity.DeviceID, e envelope.Envelope) {
	var v wire.Status
	if err := e.DecodeBody(&v); err != nil {
		d.Violation(from, e.Profile, "bad_frame", err.Error())
		return
	}
	switch v.State {
	case "":
	case wire.StateRestarted:
		for _, s := range d.seatsOf(from) {
			s.Take(e)
		}
	case wire.StateThinking:
		if !d.offer(from, e) {
			d.Violation(from, e.Profile, "unknown_request", "work on "+endpoint.Quote(e.ID)+", which is no request of this device")
		}
	default:
		d.Violation(from, e.Profile, "bad_status", "its state is "+endpoint.Quote(v.State))
	}
}

// offer hands a message to the seat whose request it belongs to.
func (d *Dispatcher) offer(from identity.DeviceID, e envelope.Envelope) bool {
	return slices.ContainsFunc(d.seatsOf(from), func(s seatEntry) bool { return s.Take(e) })
}

// Violation records that a device broke a rule, and tells the seat of the
// profile, or the first seat of the device.
func (d *Dispatcher) Violation(from identity.DeviceID, profile, code, detail string) {
	d.violations.Add(1)
	d.log.Warn("another device broke the protocol", "device", from.Short(), "rule", code, "detail", endpoint.CleanLine(detail, maxDetail))
	seats := d.seatsOf(from)
	if len(seats) == 0 {
		return
	}
	i := max(0, slices.IndexFunc(seats, func(s seatEntry) bool { return s.profile == profile }))
	seats[i].Violation(code, detail)
}

// maxDetail bounds the detail of a violation in the log, in runes.
const maxDetail = 300

// peerRestarted tells all roles and seats that a device was restarted. They
// send again what it has not answered.
func (d *Dispatcher) peerRestarted(from identity.DeviceID) {
	for _, s := range d.seatsOf(from) {
		s.PeerRestarted()
	}
	for _, h := range d.roles() {
		h.PeerRestarted(from)
	}
}

func (d *Dispatcher) seatsOf(device identity.DeviceID) []seatEntry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.seats[device])
}

// Add adds the seat of an agent with a profile on a device.
func (d *Dispatcher) Add(device identity.DeviceID, profile string, s Seat) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seats[device] = append(d.seats[device], seatEntry{s, profile})
}

// Remove removes a seat that was added.
func (d *Dispatcher) Remove(device identity.DeviceID, s Seat) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seats[device] = slices.DeleteFunc(d.seats[device], func(x seatEntry) bool { return x.Seat == s })
}

// Deliver sends an encoded envelope and returns when the device has it; see
// Link.
func (d *Dispatcher) Deliver(ctx context.Context, to identity.DeviceID, message []byte) error {
	return d.link.Send(ctx, to, message)
}

// Send sends e in the background, if the dispatcher runs. A failure is only
// logged.
func (d *Dispatcher) Send(to identity.DeviceID, e envelope.Envelope) {
	d.send(to, e, func(err error) {
		d.log.Warn("a message may not have arrived", "device", to.Short(), "type", string(e.Type), "error", err)
	})
}

// Greet tells a device that this device was started. The other device need not
// be online.
func (d *Dispatcher) Greet(to identity.DeviceID) {
	e := envelope.Envelope{ID: "hello", Type: envelope.Status, Body: wire.Body(wire.Status{State: wire.StateRestarted})}
	d.send(to, e, func(error) {})
}

func (d *Dispatcher) send(to identity.DeviceID, e envelope.Envelope, failed func(error)) {
	b, err := envelope.Encode(e)
	if err != nil {
		d.log.Error("a message cannot be written", "type", string(e.Type), "error", err)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.ready:
	default:
		return
	}
	select {
	case <-d.done:
		return
	default:
	}
	d.sends.Go(func() {
		if err := d.link.Send(d.ctx, to, b); err != nil && !errors.Is(err, context.Canceled) {
			failed(err)
		}
	})
}
