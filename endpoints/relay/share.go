package relay

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// An Agent answers prompts: any endpoint does.
type Agent interface {
	Speak(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)
	Close() error
}

// A Served is one agent that is shared.
type Served struct {
	Profile Profile
	// Open starts the agent. Each room of each device has one of its own, so
	// that nothing one owner said is remembered in front of another.
	Open func(context.Context) (Agent, error)
	// Timeout bounds one turn, whatever the room allows; 0 is 300 s.
	Timeout time.Duration
	// Candid tells the other side why the agent failed in its own words, such as
	// the last of its standard error.
	Candid bool
}

// A ShareConfig says what a device shares. Journal and Gate are required.
type ShareConfig struct {
	Self    identity.DeviceID
	Serve   []Served
	Journal *Journal
	Gate    *Gate
	// Name returns what this device's owner calls another device.
	Name func(identity.DeviceID) string
	// Audit is told of every request, refusals included, before anything is
	// answered. An error refuses the request. May be nil.
	Audit func(Asked) error
	Log   *slog.Logger
}

// Asked is one request of another device, and what became of it. It holds
// nothing that was said.
type Asked struct {
	Time    time.Time
	Profile string
	Device  identity.DeviceID
	Kind    string // endpoint.Turn or endpoint.Bid
	Room    string
	Turn    int
	Mode    string
	Status  string // granted, posted, passed, failed, interrupted, cancelled, repeated or refused
	Reason  string // a code
	Took    time.Duration
}

// A Share answers requests of other devices with the agents of this one. It
// is run by a [Post].
type Share struct {
	cfg  ShareConfig
	post *Post
	ctx  context.Context // of everything that runs; set by begin
	stop context.CancelFunc

	mu      sync.Mutex
	desks   map[string]*desk // by profile
	running map[string]*work // by device and request
	total   int
	ended   bool
	wg      sync.WaitGroup
}

// maxRunning bounds what a share works on, whatever profiles allow.
const maxRunning = 64

// A work is one request that is being worked on.
type work struct {
	from      identity.DeviceID
	ask       envelope.Envelope
	cancel    context.CancelCauseFunc
	forgotten bool // by the device that asked: it was started again
}

var errCancelled = errors.New("cancelled by the host of the room")

// NewShare returns a share for one Post.
func NewShare(cfg ShareConfig) *Share {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Share{cfg: cfg, desks: map[string]*desk{}, running: map[string]*work{}}
	for _, a := range cfg.Serve {
		if a.Timeout <= 0 {
			a.Timeout = defaultTimeout
		}
		s.desks[a.Profile.Name] = &desk{Served: a, slot: make(chan struct{}, 1), agents: map[string]*hired{}}
	}
	return s
}

// begin is called by the Post that runs the share. Devices that may ask are
// greeted: who waits for an answer then asks again.
func (s *Share) begin(ctx context.Context, p *Post) {
	s.mu.Lock()
	s.post = p
	s.ctx, s.stop = context.WithCancel(ctx)
	s.mu.Unlock()
	greeted := map[identity.DeviceID]bool{}
	for _, d := range s.desks {
		for _, id := range d.Profile.Devices {
			if d.Profile.Allow && !greeted[id] {
				greeted[id] = true
				p.greet(id)
			}
		}
	}
}

// end stops everything and waits for it.
func (s *Share) end() {
	s.mu.Lock()
	s.ended = true
	s.stop()
	s.mu.Unlock()
	s.wg.Wait()
	for _, d := range s.desks {
		d.close()
	}
}

// take handles one request. What may take time is done beside.
func (s *Share) take(from identity.DeviceID, e envelope.Envelope) {
	key := from.String() + " " + e.ID
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.running[key]
	switch {
	case s.ended:
	case e.Type == envelope.TurnCancel:
		if w != nil {
			w.cancel(errCancelled)
		}
	case w != nil:
		if e.Epoch < w.ask.Epoch {
			s.post.respond(from, e, answer{Status: statusError, Code: "stale"})
			return
		}
		w.ask.Epoch, w.forgotten = e.Epoch, false // asked again: there will be one answer
	case s.total >= maxRunning:
		s.post.respond(from, e, answer{Status: statusError, Code: "limit"})
	default:
		ctx, cancel := context.WithCancelCause(s.ctx)
		w := &work{from: from, ask: e, cancel: cancel}
		s.running[key] = w
		s.total++
		s.wg.Go(func() {
			defer cancel(nil)
			quiet := s.ticking(ctx, w)
			a := s.serve(ctx, from, e)
			quiet()
			s.mu.Lock()
			delete(s.running, key)
			s.total--
			q := w.ask
			s.mu.Unlock()
			if a != nil {
				s.post.send(from, response(q, a))
			}
		})
	}
}

// serve works on one request and returns its answer, nil for none.
func (s *Share) serve(ctx context.Context, from identity.DeviceID, e envelope.Envelope) json.RawMessage {
	begun := time.Now()
	a := Asked{Profile: e.Profile, Device: from, Kind: kindOf(e), Room: e.Room, Turn: e.Turn}
	var q question
	err := e.DecodeBody(&q)
	if err == nil {
		err = q.check()
	}
	if err != nil {
		s.cfg.Log.Warn("a request cannot be read", "device", from.Short(), "error", err)
		return s.refuse(a, problemOf("AGENT-PROTOCOL", "the request cannot be read", "", endpoint.ErrProtocol))
	}
	a.Mode = q.Mode
	d, tr, err := s.admit(from, e)
	if err != nil {
		return s.refuse(a, err)
	}
	known, kept, err := s.cfg.Journal.look(from, e.Room, e.ID, e.Epoch)
	switch {
	case err != nil:
		return s.refuse(a, err)
	case known:
		return s.again(a, from, e, kept)
	}
	leave, err := s.cfg.Gate.enter(ctx, serving, d.Profile, from, a.Kind)
	if err != nil {
		return s.refuse(a, err)
	}
	defer leave()
	p := q.prompt()
	p.Kind, p.Request, p.Room, p.Profile, p.Epoch, p.Turn, p.Trace = a.Kind, e.ID, from.Short()+"/"+e.Room, d.Profile.Name, e.Epoch, e.Turn, tr
	p.Host, p.Boundary, p.Session = endpoint.Origin{Name: s.name(from), Device: from.String()}, rand.Text(), p.Room
	return s.work(ctx, job{d, a, p, from, e, begun, q.Knows})
}

// admit finds the agent that is asked for. That there is none, and that it is
// not for this device, look the same from outside.
func (s *Share) admit(from identity.DeviceID, e envelope.Envelope) (*desk, endpoint.Trace, error) {
	d := s.desks[e.Profile]
	if d == nil {
		return nil, endpoint.Trace{}, deny("no profile "+quote(e.Profile)+" is shared", "")
	}
	t, err := d.Profile.admit(s.cfg.Self, from, e.Trace)
	return d, t, err
}

// refuse answers a request that is not worked on. Nothing is written down, so
// asked again it is looked at again.
func (s *Share) refuse(a Asked, err error) json.RawMessage {
	code := codeOf(err)
	switch {
	case errors.Is(err, ErrStale):
		code = "stale"
	case errors.Is(err, errForgot):
		code = codeForgot
	}
	a.Status, a.Reason = "refused", reasonOf(err)
	if aerr := s.audit(a); aerr != nil {
		code = "failed"
	}
	s.cfg.Log.Warn("a request was refused", "device", a.Device.Short(), "profile", a.Profile, "reason", a.Reason)
	return body(answer{Status: statusError, Code: code})
}

// again answers a request that was worked on before.
func (s *Share) again(a Asked, from identity.DeviceID, e envelope.Envelope, kept json.RawMessage) json.RawMessage {
	a.Status = "repeated"
	if kept == nil {
		a.Status = "interrupted"
	}
	if err := s.audit(a); err != nil {
		return body(answer{Status: statusError, Code: "failed"})
	}
	if kept == nil {
		kept = body(answer{Status: statusError, Code: "interrupted"})
		if err := s.cfg.Journal.end(from, e.Room, e.ID, kept); err != nil {
			s.cfg.Log.Error("an answer is not kept", "error", err)
		}
	}
	if err := s.cfg.Journal.begin(from, e.Room, e.ID, e.Epoch); err != nil {
		s.cfg.Log.Error("an epoch is not kept", "error", err)
	}
	return kept
}

func (s *Share) audit(a Asked) error {
	if s.cfg.Audit == nil {
		return nil
	}
	a.Time = time.Now()
	return s.cfg.Audit(a)
}

func (s *Share) name(id identity.DeviceID) string {
	if s.cfg.Name == nil {
		return ""
	}
	return s.cfg.Name(id)
}

func kindOf(e envelope.Envelope) string {
	if e.Type == envelope.BidRequest {
		return endpoint.Bid
	}
	return endpoint.Turn
}

// reasonOf is the stable code of an error, for records.
func reasonOf(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return codeOf(err)
}
