// Package share serves agents of this device to other owners.
//
// A [Share] answers each request exactly once. Before an agent runs, the
// [Journal] has the request on stable storage, and the response before it is
// sent. A request that arrives again gets the same response, or the error
// `interrupted` when there is none: the agent never runs twice. A host that was
// restarted sends its requests with a higher epoch; lower epochs are refused.
//
// Nothing is allowed by default: see quota.Profile. The share checks its own
// rules and limits, whatever the asking device has checked. Each room of each
// device has an agent process of its own, so no owner's text is remembered in
// front of another owner. The agent is told whose room it is: see
// endpoint.Prompt.Host.
package share

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// A Config says what a device shares. Journal and Quota are required.
type Config struct {
	Self    identity.DeviceID
	Agents  []AgentConfig // as if by Add
	Journal *Journal
	Quota   *quota.Quota
	// Name returns the name that this device's owner gave another device.
	Name func(identity.DeviceID) string
	// Trusted returns an error when a device may not be served any more, as when it
	// was removed from the peers. Its work is then ended within a second. May be
	// nil: only the Link decides.
	Trusted func(identity.DeviceID) error
	// Audit is called with every request before it is answered, refused ones
	// included. An error refuses the request. May be nil.
	Audit func(AuditEntry) error
	Log   *slog.Logger
}

// An AuditEntry describes one request of another device and its result. It
// holds no text of a message.
type AuditEntry struct {
	Time    time.Time
	Profile string
	Device  identity.DeviceID
	Kind    string // endpoint.Turn or endpoint.Bid
	Room    string
	Turn    int
	Mode    string
	Status  string // granted, posted, passed, bid, failed, interrupted, cancelled, repeated or refused
	Reason  string // a code
	Took    time.Duration
}

// A Share answers requests of other devices with the agents of this one. It is
// a relay.Handler.
type Share struct {
	cfg        Config
	dispatcher *relay.Dispatcher
	ctx        context.Context // of all work; set by Begin
	stop       context.CancelFunc

	refusals refusalLimiter

	mu       sync.Mutex
	profiles map[string]*sharedProfile
	running  map[string]*request // by device and request id
	total    int                 // requests in running
	asked    map[question]chan wire.MessageAnswer
	numbers  int // of the questions so far
	ended    bool
	wg       sync.WaitGroup
}

// maxRunning bounds the requests in progress, whatever the profiles allow.
const maxRunning = 64

// A request is one request in progress.
type request struct {
	from      identity.DeviceID
	env       envelope.Envelope
	cancel    context.CancelCauseFunc
	forgotten bool // the asking device was restarted and has not asked again
}

// Causes of the end of a request.
var (
	errCancelled = errors.New("cancelled by the host of the room")
	errRemoved   = errors.New("the device is not paired any more")
	errUnshared  = errors.New("the profile is not shared any more")
)

// New returns a share for one dispatcher.
func New(cfg Config) *Share {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Name == nil {
		cfg.Name = func(identity.DeviceID) string { return "" }
	}
	if cfg.Trusted == nil {
		cfg.Trusted = func(identity.DeviceID) error { return nil }
	}
	if cfg.Audit == nil {
		cfg.Audit = func(AuditEntry) error { return nil }
	}
	s := &Share{cfg: cfg, profiles: map[string]*sharedProfile{}, running: map[string]*request{}}
	_ = s.Add(cfg.Agents) // the share does not run yet, and is empty
	return s
}

// Begin starts the share, and one agent of each profile for its next room. It greets
// the devices that may ask, so that they send again the requests whose responses
// they await.
func (s *Share) Begin(ctx context.Context, d *relay.Dispatcher) {
	s.mu.Lock()
	s.dispatcher = d
	s.ctx, s.stop = context.WithCancel(ctx)
	s.wg.Go(s.watchPeers)
	all := slices.Collect(maps.Values(s.profiles))
	s.run(all)
	s.mu.Unlock()
	s.greet(all)
}

// End stops all work and all agents, and waits for them.
func (s *Share) End() {
	s.mu.Lock()
	s.ended = true
	s.stop()
	s.mu.Unlock()
	s.wg.Wait()
	for _, p := range s.shared() {
		p.close()
	}
}

// PeerRestarted stops the heartbeats to a device until it asks again: it does
// not know its requests any more.
func (s *Share) PeerRestarted(from identity.DeviceID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.running {
		if r.from == from {
			r.forgotten = true
		}
	}
}

func (s *Share) audit(a AuditEntry) error {
	a.Time = time.Now()
	return s.cfg.Audit(a)
}

// logFailure tells the owner of an agent that it failed.
func (s *Share) logFailure(profile string, err error) {
	switch wire.CodeOf(err) {
	case wire.CodeRestarts:
		s.cfg.Log.Warn("a shared agent's process has ended", "profile", profile, "error", err, "fix", "see its last words; it is restarted for the next request")
	case wire.CodeExited:
		s.cfg.Log.Error("a shared agent's process has ended, and its endpoint allows no other for this room", "profile", profile, "error", err,
			"fix", "see its last words; start share again, or leave restart: N out")
	default:
		s.cfg.Log.Warn("a shared agent failed", "profile", profile, "error", err)
	}
}

// kindOf returns the kind of prompt that an envelope asks for.
func kindOf(e envelope.Envelope) string {
	if e.Type == envelope.BidRequest {
		return endpoint.Bid
	}
	return endpoint.Turn
}

// reasonOf returns the stable code of an error, for records.
func reasonOf(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return wire.CodeOf(err)
}
