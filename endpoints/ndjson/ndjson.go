package ndjson

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/subprocess"
	"github.com/folkmoot/moot/internal/spawn"
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
	return c
}

// An Endpoint drives one agent. Its methods may be called concurrently, but only
// one Speak at a time gets through.
type Endpoint struct {
	cfg   Config
	agent *subprocess.Supervisor[*wire]
}

// New returns an endpoint. Its process starts with the first prompt.
func New(cfg Config) *Endpoint {
	c := cfg.withDefaults()
	return &Endpoint{cfg: c, agent: subprocess.New(subprocess.Config{
		Spawn:   spawn.Config{Command: c.Command, Root: c.Root, Dir: c.Dir, Env: c.Env, AllowEnv: c.AllowEnv},
		Restart: c.Restart, Grace: c.Grace, Close: c.Close,
	}, c.connect)}
}

// connect returns the wire of a new process.
func (c Config) connect(l subprocess.Link) *wire {
	w := newWire(l.Stdin, c.MaxLine, c.MaxNoise, l.Signals)
	w.words, w.dir = l.Stderr, c.Dir
	return w
}

// Start starts the process, or replaces one that has ended, and waits until it can
// take a prompt: until a process that is at work on an abandoned turn has answered
// or was ended, and with Config.AwaitReady until the agent says so. It ends an
// agent that is not ready at the deadline of ctx, and leaves it running when ctx
// is cancelled. Signals go to floor until the next prompt; nil drops them. Errors
// are those of Speak.
func (e *Endpoint) Start(ctx context.Context, floor endpoint.Floor) error {
	release, err := e.agent.AcquireWait(ctx)
	if err != nil {
		return err
	}
	defer release()
	e.agent.SetFloor(floor)
	_, err = e.readyAgent(ctx)
	return err
}

// A process is one process of the agent.
type process = subprocess.Process[*wire]

// readyAgent returns a process that can take a prompt, and starts one if there is
// none. See Start.
func (e *Endpoint) readyAgent(ctx context.Context) (*process, error) {
	p, err := e.agent.Ready(ctx)
	if p == nil || !e.cfg.AwaitReady {
		return p, err
	}
	select {
	case <-p.Conn.ready:
		return p, nil
	case <-p.Conn.done:
	case <-ctx.Done():
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, subprocess.ContextError(ctx)
		}
		p.Conn.End(p.ExitError("the agent was ended: it was not ready in time"))
	}
	return nil, e.agent.MarkRestart(p, p.Conn.Cause())
}

// Speak sends p to the agent and waits for its one answer. Errors wrap
// endpoint's: ErrBusy, ErrClosed, ErrTimeout (also after p.Timeout), ErrExited,
// ErrProtocol, ErrTooLarge and ErrAgent. They wrap the cause of ctx when ctx was
// cancelled. Other errors say why the process cannot be started. A reply that
// comes with an error has at most a usage.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	release, err := e.agent.Acquire()
	if err != nil {
		return endpoint.Reply{}, err
	}
	defer release()
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = endpoint.WithClock(ctx, p.Timeout) // it stands while a permission is asked for
		defer cancel()
	}
	if ctx.Err() != nil {
		return endpoint.Reply{}, subprocess.ContextError(ctx)
	}
	if p.Profile == "" {
		p.Profile = e.cfg.Profile
	}
	e.agent.SetFloor(floor)
	pr, err := e.readyAgent(ctx) // the process may have ended since the start
	if err != nil {
		return endpoint.Reply{}, err
	}
	pr.MarkAsked()
	reply, abandoned, err := pr.Conn.ask(ctx, p)
	if abandoned != nil {
		if p.Kind != endpoint.Bid {
			pr.AwaitLate(abandoned.Late, ctx.Err() != context.Canceled)
		}
		return endpoint.Reply{}, subprocess.ContextError(ctx)
	}
	return reply, e.agent.MarkRestart(pr, err)
}

// Close ends the process and its group, first by closing its standard input, and
// waits for them. A Speak in progress returns endpoint.ErrClosed.
func (e *Endpoint) Close() error { return e.agent.Close() }

// Noise returns how many lines of the agent's output had no frame.
func (e *Endpoint) Noise() int {
	p := e.agent.Latest()
	if p == nil {
		return 0
	}
	return p.Conn.noiseSeen()
}
