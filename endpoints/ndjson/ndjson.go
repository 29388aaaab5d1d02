package ndjson

import (
	"context"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// A Config says which agent to drive, and how patiently.
type Config struct {
	Command  []string // argv; never given to a shell
	Root     string   // when set, Dir must lie inside it
	Dir      string   // working folder; "" is the present one
	Env      []string // KEY=VALUE, beside the few variables that every agent gets
	AllowEnv []string // variables of ours to pass on; "NAME" or "PREFIX*"
	Profile  string   // profile_id of frames whose prompt names none

	Restart  int           // how often a process that ended is replaced
	MaxLine  int           // bytes of a line; 0 is 8 MiB
	MaxNoise int           // lines between two frames that are no frames; 0 is 10, negative is none
	Grace    time.Duration // see the package's "Time"; 0 is 5 s
}

const (
	defaultMaxLine  = 8 << 20
	defaultMaxNoise = 10
	defaultGrace    = 5 * time.Second

	// closePatience is how long a process has to end by itself at Close, and
	// again after SIGTERM: together less than 5 s.
	closePatience = 2 * time.Second
)

func (c Config) withDefaults() Config {
	if c.MaxLine <= 0 {
		c.MaxLine = defaultMaxLine
	}
	switch {
	case c.MaxNoise == 0:
		c.MaxNoise = defaultMaxNoise
	case c.MaxNoise < 0:
		c.MaxNoise = 0
	}
	if c.Grace <= 0 {
		c.Grace = defaultGrace
	}
	return c
}

// An Endpoint drives one agent. Its methods may be used concurrently, though
// only one Speak at a time gets through.
type Endpoint struct {
	cfg  Config
	slot chan struct{} // a token: the request in flight

	mu       sync.Mutex
	floor    endpoint.Floor // of the latest prompt
	run      *run           // the latest process, or nil
	restarts int
	closed   bool
}

// New returns an endpoint whose process starts with its first prompt.
func New(cfg Config) *Endpoint {
	return &Endpoint{cfg: cfg.withDefaults(), slot: make(chan struct{}, 1)}
}

// Start starts the process ahead of the first prompt, which shows whether its
// command is right. It does nothing when the process is running.
func (e *Endpoint) Start(ctx context.Context) error {
	release, err := e.take()
	if err != nil {
		return err
	}
	defer release()
	_, err = e.ready(ctx)
	return err
}

// Speak hands p to the agent and waits for its one answer. Errors wrap
// endpoint's: ErrBusy, ErrClosed, ErrTimeout (also after p.Timeout), ErrExited,
// ErrProtocol, ErrTooLarge and ErrAgent; the cause of ctx when it was
// cancelled; or they say why the process cannot be started. A reply that comes
// with an error holds at most the usage that was stated.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	release, err := e.take()
	if err != nil {
		return endpoint.Reply{}, err
	}
	defer release()
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.Timeout)
		defer cancel()
	}
	if ctx.Err() != nil {
		return endpoint.Reply{}, ended(ctx)
	}
	if p.Profile == "" {
		p.Profile = e.cfg.Profile
	}
	e.mu.Lock()
	e.floor = floor
	e.mu.Unlock()
	r, err := e.ready(ctx)
	if err != nil {
		return endpoint.Reply{}, err
	}
	r.hand()
	reply, left, err := r.wire.ask(ctx, p)
	if left != nil {
		if p.Kind != endpoint.Bid {
			r.overdue(left, ctx.Err() == context.Canceled, e.cfg.Grace)
		}
		return endpoint.Reply{}, ended(ctx)
	}
	return reply, e.ending(r, err)
}

// Close ends the process and its group and waits for them: first by closing
// its standard input. A Speak that is under way returns endpoint.ErrClosed.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	e.closed = true
	r := e.run
	e.mu.Unlock()
	if r != nil {
		r.wire.end(errClosed)
		r.notes.cancel() // the room that closes us may not listen any more
		<-r.over
	}
	return nil
}

// Noise returns how many lines of the agent's output were no frames.
func (e *Endpoint) Noise() int {
	e.mu.Lock()
	r := e.run
	e.mu.Unlock()
	if r == nil {
		return 0
	}
	return r.wire.noiseSeen()
}

func (e *Endpoint) take() (release func(), err error) {
	select {
	case e.slot <- struct{}{}:
		return func() { <-e.slot }, nil
	default:
		return nil, fail("AGENT-BUSY", "the agent has a request in flight", "wait for its answer", endpoint.ErrBusy)
	}
}

func (e *Endpoint) listener() endpoint.Floor {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.floor
}
