package relay

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// A Link carries messages between this device and those that it is paired
// with: once, in order, encrypted. *session.Link is one.
type Link interface {
	// Send returns when the device has the message, or with why that will not be
	// known. When ctx ends first the message may arrive all the same.
	Send(ctx context.Context, to identity.DeviceID, message []byte) error
	// Next returns the next event of any device.
	Next(ctx context.Context) (session.Inbound, error)
}

// A Post hands out what arrives at this device. Make one with NewPost, and run
// it with Run; its other methods may be called by anybody.
type Post struct {
	self  identity.DeviceID
	link  Link
	log   *slog.Logger
	share *Share   // nil: this device serves nothing
	other listener // nil: nobody watches, and nobody is watched

	broken atomic.Uint64 // how often others broke the protocol

	mu     sync.Mutex
	seats  map[identity.DeviceID][]*Endpoint
	errand sync.WaitGroup
	ctx    context.Context // of errands; set by Run
	ready  chan struct{}   // closed then
	done   chan struct{}   // closed when Run has ended
}

// NewPost returns the post of the device self. share and log may be nil.
func NewPost(self identity.DeviceID, link Link, share *Share, log *slog.Logger) *Post {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Post{self: self, link: link, share: share, log: log, seats: map[identity.DeviceID][]*Endpoint{}, ready: make(chan struct{}), done: make(chan struct{})}
}

// A listener takes what belongs to no request of an agent: a [Gallery] or a
// [Watcher]. None of its methods but end waits for anything.
type listener interface {
	begin(context.Context, *Post)
	take(from identity.DeviceID, e envelope.Envelope) bool // false: it is none of its own
	met(from identity.DeviceID)                            // a device was started again
	end()
}

// ServeGallery has g answer those who watch. It is called before Run.
func (p *Post) ServeGallery(g *Gallery) { p.other = g }

// ServeWatcher hands w what it watches. It is called before Run.
func (p *Post) ServeWatcher(w *Watcher) { p.other = w }

// Run hands out until ctx ends, then ends what the share is doing and waits
// for everything that it started. It is called once.
func (p *Post) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	p.ctx = ctx
	close(p.ready)
	if p.share != nil {
		p.share.begin(ctx, p)
	}
	if p.other != nil {
		p.other.begin(ctx, p)
	}
	defer p.errand.Wait()
	defer close(p.done)
	defer cancel()
	for {
		in, err := p.link.Next(ctx)
		if err != nil {
			if p.share != nil {
				p.share.end()
			}
			if p.other != nil {
				p.other.end()
			}
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		switch e := in.Event.(type) {
		case session.Delivered:
			p.take(in.From, e.Message)
		case session.Connected:
			if e.NewStream {
				p.repeat(in.From)
				p.share.met(in.From)
			}
		case session.Violated:
			p.violation(in.From, "", "session", e.Reason)
		}
	}
}

// take hands on one message of a device.
func (p *Post) take(from identity.DeviceID, b []byte) {
	e, err := envelope.Decode(b)
	if err != nil {
		p.violation(from, "", "bad_frame", err.Error())
		return
	}
	switch e.Type {
	case envelope.TurnRequest, envelope.BidRequest, envelope.TurnCancel:
		if p.share == nil {
			p.refuse(from, e)
			return
		}
		p.share.take(from, e)
	case envelope.TurnResponse, envelope.BidResponse, envelope.Error, envelope.Message:
		p.answered(from, e)
	case envelope.Watch, envelope.Event, envelope.Status, envelope.Bye:
		p.seen(from, e)
	default:
		p.violation(from, e.Profile, "unknown_frame", "nothing of the type "+quote(string(e.Type))+" is expected")
	}
}

// refuse answers a request on a device that serves nothing.
func (p *Post) refuse(from identity.DeviceID, e envelope.Envelope) {
	p.log.Warn("a request came, and this device shares nothing", "device", from.Short())
	if e.Type != envelope.TurnCancel {
		p.respond(from, e, answer{Status: statusError, Code: "denied"})
	}
}

// seen handles what those who watch and those who are watched say.
func (p *Post) seen(from identity.DeviceID, e envelope.Envelope) {
	switch {
	case p.other != nil && p.other.take(from, e):
	case e.Type == envelope.Watch:
		p.send(from, refusal(e, verdict{Status: statusError, Code: verdictAbsent}))
	case e.Type == envelope.Status:
		p.status(from, e)
	case e.Type == envelope.Event:
		p.violation(from, e.Profile, "unsolicited", "an event of a room that nobody here watches")
	}
}

// answered gives an answer or a message to the seat that asked.
func (p *Post) answered(from identity.DeviceID, e envelope.Envelope) {
	for _, seat := range p.seatsOf(from) {
		if seat.take(e) {
			return
		}
	}
	if p.other != nil && p.other.take(from, e) {
		return
	}
	code, what := "unknown_request", "an answer to "+quote(e.ID)+", which is no request of this device"
	if e.Type == envelope.Message {
		code, what = "unsolicited", "a message that belongs to no request"
	}
	p.violation(from, e.Profile, code, what)
}

// Violations counts how often other devices broke the protocol.
func (p *Post) Violations() uint64 { return p.broken.Load() }

// violation notes that a device broke a rule, with the seat that it concerns
// where one is known.
func (p *Post) violation(from identity.DeviceID, profile, code, detail string) {
	p.broken.Add(1)
	detail = endpoint.CleanLine(detail, maxDetail)
	p.log.Warn("another device broke the protocol", "device", from.Short(), "rule", code, "detail", detail)
	seats := p.seatsOf(from)
	for _, seat := range seats {
		if seat.cfg.Remote == profile {
			seat.notes.put(violation(code, detail))
			return
		}
	}
	if len(seats) > 0 {
		seats[0].notes.put(violation(code, detail))
	}
}

// repeat asks a device again what it has not answered: it was started again,
// and knows what it has done.
func (p *Post) repeat(from identity.DeviceID) {
	for _, seat := range p.seatsOf(from) {
		seat.repeat()
	}
	if p.other != nil {
		p.other.met(from)
	}
}

func (p *Post) seatsOf(d identity.DeviceID) []*Endpoint {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*Endpoint(nil), p.seats[d]...)
}

func (p *Post) add(e *Endpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seats[e.cfg.Device] = append(p.seats[e.cfg.Device], e)
}

func (p *Post) remove(e *Endpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seats := p.seats[e.cfg.Device]
	for i := range seats {
		if seats[i] == e {
			p.seats[e.cfg.Device] = append(append([]*Endpoint(nil), seats[:i]...), seats[i+1:]...)
			return
		}
	}
}

// send does what nobody waits for.
func (p *Post) send(to identity.DeviceID, e envelope.Envelope) {
	b, err := envelope.Encode(e)
	if err != nil {
		p.log.Error("a message cannot be written", "type", string(e.Type), "error", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.ready:
	default:
		return
	}
	select {
	case <-p.done:
		return
	default:
	}
	p.errand.Go(func() {
		if err := p.link.Send(p.ctx, to, b); err != nil && !errors.Is(err, context.Canceled) {
			p.log.Warn("a message may not have arrived", "device", to.Short(), "type", string(e.Type), "error", err)
		}
	})
}

// respond ends a request of another device.
func (p *Post) respond(to identity.DeviceID, q envelope.Envelope, a answer) {
	p.send(to, response(q, body(a)))
}

// greet tells a device that this one is here.
func (p *Post) greet(id identity.DeviceID) {
	b, err := envelope.Encode(envelope.Envelope{ID: "hello", Type: envelope.Status, Body: body(status{stateAnew})})
	if err != nil {
		return // it is always the same
	}
	p.errand.Go(func() { _ = p.link.Send(p.ctx, id, b) }) // it need not be there
}
