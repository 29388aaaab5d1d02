package hold

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/endpoints/session"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// Bounds of what one device may ask.
const (
	ratePerSecond = 5
	rateBurst     = 40
	maxRunning    = 16 // requests in progress, of one device
	// deliverTime is how long a turn may take to reach its session, of which the
	// lease runs as long.
	deliverTime = 30 * time.Second
)

// trustInterval is how often the server checks that devices may still hold their seats.
const trustInterval = time.Second

// A Server serves the seats of this device's rooms to sessions on other devices. It is
// a relay.Handler.
type Server struct {
	cfg        ServerConfig
	dispatcher *relay.Dispatcher
	ctx        context.Context // of all work; set by Begin
	stop       context.CancelFunc

	mu      sync.Mutex
	awaits  map[string]*await // by device and id of the envelope
	held    map[place]string  // the newest await of each seat, as in awaits
	devices map[identity.DeviceID]*usage
	ended   bool
	wg      sync.WaitGroup
}

// A place is a seat that a device has asked for.
type place struct {
	device identity.DeviceID
	seat   session.Seat
}

// An await is one in progress.
type await struct {
	end       context.CancelCauseFunc
	delivered bool // its turn is on its way
}

// A usage is what a device asks.
type usage struct {
	rate    *rate.Limiter
	running int
}

// Causes of the end of an await.
var (
	errEnded    = errors.New("the session does not wait any more")
	errRepeated = errors.New("the session asks again")
	errRemoved  = errors.New("the device may not hold the seat any more")
)

// NewServer returns a server for one dispatcher.
func NewServer(cfg ServerConfig) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Audit == nil {
		cfg.Audit = func(AuditEntry) error { return nil }
	}
	return &Server{cfg: cfg, awaits: map[string]*await{}, held: map[place]string{}, devices: map[identity.DeviceID]*usage{}}
}

// Begin implements [relay.Handler].
func (s *Server) Begin(ctx context.Context, d *relay.Dispatcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dispatcher = d
	s.ctx, s.stop = context.WithCancel(ctx)
	s.wg.Go(s.watchPeers)
}

// End stops all work and waits for it.
func (s *Server) End() {
	s.mu.Lock()
	s.ended = true
	s.stop()
	s.mu.Unlock()
	s.wg.Wait()
}

// PeerRestarted does nothing: a restarted session asks again.
func (s *Server) PeerRestarted(identity.DeviceID) {}

// Take handles an await, its end, or an answer.
func (s *Server) Take(from identity.DeviceID, e envelope.Envelope) bool {
	switch e.Type {
	case envelope.SeatAwait:
		var q wire.SeatAwait
		if s.read(from, e, &q) && s.admit(from, e, q.Seat) {
			s.start(from, e, func() { s.await(from, e, q) })
		}
	case envelope.SeatAnswer:
		var q wire.SeatAnswer
		if s.read(from, e, &q) && s.admit(from, e, q.Seat) {
			s.start(from, e, func() { s.answer(from, e, q) })
		}
	case envelope.Bye:
		return s.cancel(from.String()+" "+e.ID, errEnded)
	default:
		return false
	}
	return true
}

// read decodes the body of a request. One that cannot be read is a violation.
func (s *Server) read(from identity.DeviceID, e envelope.Envelope, q interface{ Check() error }) bool {
	err := e.DecodeBody(q)
	if err == nil {
		err = q.Check()
	}
	if err != nil {
		s.dispatcher.Violation(from, "", "bad_frame", err.Error())
	}
	return err == nil
}

// may reports whether a device may hold a seat.
func (s *Server) may(from identity.DeviceID, seat session.Seat) (identity.Peer, bool) {
	p, err := s.cfg.Peer(from)
	return p, err == nil && !p.Suspended() && slices.Contains(p.Seats, identity.SeatRef{Room: seat.Room, Seat: seat.Name})
}

// admit refuses a device that may not hold the seat, or that asks too often. A room
// that does not exist and a seat of another device look the same to it.
func (s *Server) admit(from identity.DeviceID, e envelope.Envelope, seat string) bool {
	s.mu.Lock()
	u := s.devices[from]
	if u == nil { // a Link has messages of peers only, so there are not many
		u = &usage{rate: rate.NewLimiter(ratePerSecond, rateBurst)}
		s.devices[from] = u
	}
	allowed := u.rate.Allow() && u.running < maxRunning
	s.mu.Unlock()
	if !allowed {
		r := wire.ErrorReply(wire.ReplyLimit)
		r.RetryMS = time.Second.Milliseconds()
		s.dispatcher.Send(from, wire.ReplyTo(e, r))
		return false
	}
	if _, ok := s.may(from, session.Seat{Room: e.Room, Name: seat}); ok {
		return true
	}
	s.cfg.Log.Warn("a device may not hold a seat", "device", from.Short(), "room", endpoint.CleanLine(e.Room, envelope.MaxName), "seat", endpoint.CleanLine(seat, envelope.MaxName))
	s.audit(from, session.Seat{Room: e.Room, Name: seat}, "refused", "RELAY-DENIED")
	s.dispatcher.Send(from, wire.ReplyTo(e, wire.ErrorReply(wire.ReplyDenied)))
	return false
}

// start serves a request in the background.
func (s *Server) start(from identity.DeviceID, e envelope.Envelope, serve func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.devices[from].running++
	s.wg.Go(func() {
		serve()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.devices[from].running--
	})
}

// audit records a request and reports whether it is recorded.
func (s *Server) audit(from identity.DeviceID, seat session.Seat, status, reason string) bool {
	err := s.cfg.Audit(AuditEntry{Time: time.Now(), Device: from, Room: seat.Room, Seat: seat.Name, Status: status, Reason: reason})
	if err != nil {
		s.cfg.Log.Error("the audit cannot be written", "error", err)
	}
	return err == nil
}

// await serves one await.
func (s *Server) await(from identity.DeviceID, e envelope.Envelope, q wire.SeatAwait) {
	at := place{from, session.Seat{Room: e.Room, Name: q.Seat}}
	ctx, a, end, first := s.enter(at, e)
	defer end()
	if first && !s.audit(from, at.seat, "held", "") {
		s.dispatcher.Send(from, wire.ReplyTo(e, wire.ErrorReply(wire.ReplyFailed)))
		return
	}
	p, ok := s.may(from, at.seat)
	if !ok {
		s.dispatcher.Send(from, wire.ReplyTo(e, wire.ErrorReply(wire.ReplyDenied)))
		return
	}
	t, ok, err := s.cfg.Await(ctx, at.seat, session.Holder{Device: from.String(), Owner: p.Name}, time.Duration(q.WaitMS)*time.Millisecond, q.Fresh)
	switch cause := context.Cause(ctx); {
	case cause == errEnded, cause == errRepeated, s.ctx.Err() != nil:
		if ok {
			s.cfg.Undelivered(t)
		}
	case cause == errRemoved:
		s.dispatcher.Send(from, wire.ReplyTo(e, wire.ErrorReply(wire.ReplyDenied)))
	case errors.Is(err, room.ErrOver):
		s.reply(from, e, envelope.SeatTurn, wire.SeatTurn{State: wire.SeatOver, Phase: s.cfg.Phase(ctx, e.Room)})
	case err != nil:
		s.refuse(from, e, err)
	case !ok:
		s.reply(from, e, envelope.SeatTurn, wire.SeatTurn{State: wire.SeatAgain})
	default:
		s.mu.Lock()
		a.delivered = true
		s.mu.Unlock()
		s.deliver(ctx, from, e, t)
	}
}

// enter makes e the newest await of its device for a seat. It ends the same await
// before, and one whose turn is still on its way: the newer one gets that turn. first
// reports whether it is the first one.
func (s *Server) enter(at place, e envelope.Envelope) (ctx context.Context, a *await, end func(), first bool) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	key := at.device.String() + " " + e.ID
	s.mu.Lock()
	defer s.mu.Unlock()
	before, held := s.held[at]
	if old := s.awaits[before]; old != nil && (before == key || old.delivered) {
		old.end(errRepeated)
	}
	a = &await{end: cancel}
	s.awaits[key], s.held[at] = a, key
	return ctx, a, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.awaits[key] == a {
			delete(s.awaits, key)
		}
		cancel(nil)
	}, !held
}

// cancel ends an await and reports whether there is one.
func (s *Server) cancel(key string, cause error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.awaits[key]
	if ok {
		a.end(cause)
	}
	return ok
}

// deliver sends a turn and waits until the other device has it.
func (s *Server) deliver(ctx context.Context, from identity.DeviceID, e envelope.Envelope, t session.Turn) {
	b, err := encodeTurn(e, t)
	if err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, deliverTime)
		defer cancel()
		err = s.dispatcher.Deliver(ctx, from, b)
	}
	if err != nil {
		s.cfg.Log.Warn("a turn has not reached its session", "device", from.Short(), "room", t.Room, "seat", t.Name, "error", err)
		s.cfg.Undelivered(t)
	}
}

// encodeTurn returns the message with a turn. If it is too large for the relay, it
// leaves out the oldest of the earlier messages.
func encodeTurn(e envelope.Envelope, t session.Turn) ([]byte, error) {
	p := *t.Prompt
	out := envelope.Envelope{ID: e.ID, Type: envelope.SeatTurn, Room: e.Room, Epoch: t.Epoch, Turn: t.Number}
	for {
		q := wire.RequestOf(p)
		out.Body = wire.Body(wire.SeatTurn{State: wire.SeatHasTurn, Request: t.ID, LeftMS: max(0, time.Until(t.Deadline).Milliseconds()), Prompt: &q})
		b, err := envelope.Encode(out)
		if err == nil || len(out.Body) < envelope.MaxSize/2 || !wire.Shorten(&p, len(out.Body)) {
			return b, err
		}
	}
}

// answer serves one answer, which the room stores even if the device goes.
func (s *Server) answer(from identity.DeviceID, e envelope.Envelope, q wire.SeatAnswer) {
	seat := session.Seat{Room: e.Room, Name: q.Seat}
	if !s.audit(from, seat, "answered", "") {
		s.dispatcher.Send(from, wire.ReplyTo(e, wire.ErrorReply(wire.ReplyFailed)))
		return
	}
	a := Answer{Request: q.Request, Epoch: e.Epoch, Reply: endpoint.Reply{Outcome: q.Outcome, Text: q.Text, Reason: q.Reason, Confidence: q.Confidence}}
	done, err := s.cfg.Answer(context.WithoutCancel(s.ctx), seat, a)
	if err != nil {
		s.refuse(from, e, err)
		return
	}
	s.dispatcher.Send(from, envelope.Envelope{
		ID: e.ID, Type: envelope.SeatAnswered, Room: e.Room, Turn: done.Turn, Body: wire.Body(wire.SeatAnswered{Outcome: done.Outcome, Seq: done.Seq}),
	})
}

func (s *Server) reply(from identity.DeviceID, e envelope.Envelope, t envelope.Type, body any) {
	s.dispatcher.Send(from, envelope.Envelope{ID: e.ID, Type: t, Room: e.Room, Body: wire.Body(body)})
}

// replyCodes are the codes of the errors that a session can do something about.
var replyCodes = map[string]string{
	"SEAT-ANSWERED": wire.ReplyAnswered, "SEAT-REQUEST": wire.ReplyClosed, "SEAT-SIZE": wire.ReplySize, "SEAT-AWAIT": wire.ReplyTaken,
	"SEAT-KIND": wire.ReplyDenied, "ROOM-OVER": wire.ReplyOver,
}

// refuse tells the other device that the room does not take a request. It is told a
// code and no text: an error of this device may name what is not its business.
func (s *Server) refuse(from identity.DeviceID, e envelope.Envelope, err error) {
	code := wire.ReplyFailed
	if p, ok := errors.AsType[*problem.Error](err); ok && replyCodes[p.Code] != "" {
		code = replyCodes[p.Code]
	}
	if code == wire.ReplyFailed {
		s.cfg.Log.Warn("a request of a session on another device was not served", "device", from.Short(), "error", err)
	}
	s.dispatcher.Send(from, wire.ReplyTo(e, wire.ErrorReply(code)))
}

// watchPeers ends the leases of devices that may not hold their seats any more.
func (s *Server) watchPeers() {
	ticker := time.NewTicker(trustInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			return
		}
		s.mu.Lock()
		var held []place
		for at := range s.held {
			held = append(held, at)
		}
		s.mu.Unlock()
		for _, at := range held {
			if _, ok := s.may(at.device, at.seat); !ok {
				s.leave(at)
			}
		}
	}
}

func (s *Server) leave(at place) {
	s.mu.Lock()
	key := s.held[at]
	delete(s.held, at)
	s.mu.Unlock()
	s.cancel(key, errRemoved)
	s.cfg.Leave(at.seat, at.device.String())
}
