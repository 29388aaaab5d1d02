package ndjson

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// A Config says which agent to run, and its limits.
type Config struct {
	Command  []string // the program and its arguments; no shell is used
	Root     string   // when set, Dir must lie inside it
	Dir      string   // working folder; "" is the current one
	Env      []string // KEY=VALUE, in addition to the few variables that every agent gets
	AllowEnv []string // variables of this process to pass on: "NAME" or "PREFIX*"
	Profile  string   // profile_id of frames whose prompt names none

	// AwaitReady makes Start wait until the agent writes a desktop.ready frame.
	AwaitReady bool

	Restart  int           // how often a process that has ended is replaced
	MaxLine  int           // bytes of a line; 0 is 8 MiB
	MaxNoise int           // lines without a frame between two frames; 0 is 10, negative is none
	Grace    time.Duration // see the package's "Time"; 0 is 5 s
	Close    time.Duration // that a process has to end at Close, and again after SIGTERM; 0 is 2 s
}

const (
	defaultMaxLine  = 8 << 20
	defaultMaxNoise = 10
	defaultGrace    = 5 * time.Second

	defaultClose = 2 * time.Second // together less than 5 s
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
	if c.Close <= 0 {
		c.Close = defaultClose
	}
	return c
}

// An Endpoint drives one agent. Its methods may be called concurrently, but only
// one Speak at a time gets through.
type Endpoint struct {
	cfg  Config
	slot chan struct{} // holds a token while a request is in flight

	mu       sync.Mutex
	floor    endpoint.Floor // of the latest prompt
	process  *process       // the latest, or nil
	restarts int
	closed   bool
}

// New returns an endpoint. Its process starts with the first prompt.
func New(cfg Config) *Endpoint {
	return &Endpoint{cfg: cfg.withDefaults(), slot: make(chan struct{}, 1)}
}

// Start starts the process, or replaces one that has ended, and waits until it can
// take a prompt: until a process that is at work on an abandoned turn has answered
// or was ended, and with Config.AwaitReady until the agent says so. It ends an
// agent that is not ready at the deadline of ctx, and leaves it running when ctx
// is cancelled. Signals go to floor until the next prompt; nil drops them. Errors
// are those of Speak.
func (e *Endpoint) Start(ctx context.Context, floor endpoint.Floor) error {
	select { // a request that was cancelled just now still holds the slot
	case e.slot <- struct{}{}:
		defer func() { <-e.slot }()
	case <-ctx.Done():
		return endedError(ctx)
	}
	e.setFloor(floor)
	_, err := e.readyAgent(ctx)
	return err
}

// readyAgent returns a process that can take a prompt, and starts one if there is
// none. See Start.
func (e *Endpoint) readyAgent(ctx context.Context) (*process, error) {
	pr, err := e.ready(ctx)
	if pr == nil || !e.cfg.AwaitReady {
		return pr, err
	}
	select {
	case <-pr.wire.ready:
		return pr, nil
	case <-pr.wire.done:
	case <-ctx.Done():
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, endedError(ctx)
		}
		pr.wire.end(pr.exitError("the agent was ended: it was not ready in time"))
	}
	return nil, e.markRestart(pr, pr.wire.cause())
}

// Speak sends p to the agent and waits for its one answer. Errors wrap
// endpoint's: ErrBusy, ErrClosed, ErrTimeout (also after p.Timeout), ErrExited,
// ErrProtocol, ErrTooLarge and ErrAgent. They wrap the cause of ctx when ctx was
// cancelled. Other errors say why the process cannot be started. A reply that
// comes with an error has at most a usage.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	release, err := e.acquire()
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
		return endpoint.Reply{}, endedError(ctx)
	}
	if p.Profile == "" {
		p.Profile = e.cfg.Profile
	}
	e.setFloor(floor)
	pr, err := e.readyAgent(ctx) // the process may have ended since the start
	if err != nil {
		return endpoint.Reply{}, err
	}
	pr.setAsked()
	reply, abandoned, err := pr.wire.ask(ctx, p)
	if abandoned != nil {
		if p.Kind != endpoint.Bid {
			pr.awaitLate(abandoned, ctx.Err() == context.Canceled, e.cfg.Grace)
		}
		return endpoint.Reply{}, endedError(ctx)
	}
	return reply, e.markRestart(pr, err)
}

// Close ends the process and its group, first by closing its standard input, and
// waits for them. A Speak in progress returns endpoint.ErrClosed.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	e.closed = true
	pr := e.process
	e.mu.Unlock()
	if pr != nil {
		pr.wire.end(errClosed)
		pr.signals.Cancel() // the room may not take signals any more
		<-pr.done
	}
	return nil
}

// Noise returns how many lines of the agent's output had no frame.
func (e *Endpoint) Noise() int {
	e.mu.Lock()
	pr := e.process
	e.mu.Unlock()
	if pr == nil {
		return 0
	}
	return pr.wire.noiseSeen()
}

// acquire takes the slot, or fails with endpoint.ErrBusy.
func (e *Endpoint) acquire() (release func(), err error) {
	select {
	case e.slot <- struct{}{}:
		return func() { <-e.slot }, nil
	default:
		return nil, codedError("AGENT-BUSY", "the agent has a request in flight", "wait for its answer", endpoint.ErrBusy)
	}
}

func (e *Endpoint) setFloor(f endpoint.Floor) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.floor = f
}

func (e *Endpoint) currentFloor() endpoint.Floor {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.floor
}
