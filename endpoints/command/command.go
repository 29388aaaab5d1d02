// Package command is an endpoint for programs that know no protocol: each turn
// starts one process, which reads its prompt from standard input and writes its
// reply to standard output.
//
// The input is the instructions of the agent's owner, how to pass, an empty line
// and the text of the prompt. The reply is the whole output without terminal
// sequences, control characters and space at its ends; see [endpoint.PlainAnswer].
// An exit status other than 0 fails the turn with the last lines of standard error.
//
// The process remembers nothing and cannot bid, raise signals or state its usage.
// When a turn ends early, the process group gets SIGTERM and, after Config.Grace,
// SIGKILL. Two processes never run at once: the next turn waits for the end of the
// one before.
package command

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/subprocess"
	"github.com/folkmoot/moot/internal/spawn"
)

// A Config says which program to run, and its limits.
type Config struct {
	Command  []string // the program and its arguments; no shell is used
	Root     string   // when set, Dir must lie inside it
	Dir      string   // working folder; "" is the current one
	Env      []string // KEY=VALUE, in addition to the few variables that every agent gets
	AllowEnv []string // variables of this process to pass on: "NAME" or "PREFIX*"

	MaxOutput int           // bytes of standard output of one turn; 0 is 8 MiB
	Grace     time.Duration // that a process has to end after SIGTERM; 0 is 5 s
}

const (
	defaultMaxOutput = 8 << 20
	defaultGrace     = 5 * time.Second

	closeGrace = 2 * time.Second // that a process has to end at Close, at most
)

// An Endpoint runs one program. Its methods may be called concurrently, but only
// one Speak at a time gets through.
type Endpoint struct {
	cfg     Config
	slot    subprocess.Slot
	closing chan struct{} // closed by Close

	mu     sync.Mutex
	closed bool
	latest *run // nil before the first
}

// New returns an endpoint. It starts nothing.
func New(cfg Config) *Endpoint {
	if cfg.MaxOutput <= 0 {
		cfg.MaxOutput = defaultMaxOutput
	}
	if cfg.Grace <= 0 {
		cfg.Grace = defaultGrace
	}
	return &Endpoint{cfg: cfg, slot: subprocess.NewSlot(), closing: make(chan struct{})}
}

func (e *Endpoint) spawned() spawn.Config {
	c := e.cfg
	return spawn.Config{Command: c.Command, Root: c.Root, Dir: c.Dir, Env: c.Env, AllowEnv: c.AllowEnv}
}

// Start checks that the program can be started, and waits for the end of the
// process of an abandoned turn. It starts no process.
func (e *Endpoint) Start(ctx context.Context, _ endpoint.Floor) error {
	release, err := e.slot.AcquireWait(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := e.awaitLatest(ctx); err != nil {
		return err
	}
	return spawn.Check(e.spawned())
}

// Speak runs the program once with p as its input, and shows its output line by
// line. It passes on bids without
// running it. Errors wrap endpoint's: ErrBusy, ErrClosed, ErrTimeout (also after
// p.Timeout), ErrTooLarge, and ErrAgent for an exit status other than 0 and for an
// empty reply. They wrap the cause of ctx when ctx was cancelled. Other errors say
// why the program cannot be started.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	release, err := e.slot.Acquire()
	if err != nil {
		return endpoint.Reply{}, err
	}
	defer release()
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.Timeout)
		defer cancel()
	}
	if err := e.awaitLatest(ctx); err != nil {
		return endpoint.Reply{}, err
	}
	if p.Kind == endpoint.Bid {
		return endpoint.Reply{Outcome: endpoint.Passed}, nil
	}
	r, err := e.start(p, floor)
	if err != nil {
		return endpoint.Reply{}, err
	}
	select {
	case <-r.done:
		if e.isClosed() {
			return endpoint.Reply{}, subprocess.ErrClosed
		}
		return r.reply(p)
	case <-ctx.Done():
		r.abandon()
		return endpoint.Reply{}, subprocess.ContextError(ctx)
	case <-e.closing:
		return endpoint.Reply{}, subprocess.ErrClosed
	}
}

// awaitLatest waits until nothing of the latest process is left.
func (e *Endpoint) awaitLatest(ctx context.Context) error {
	e.mu.Lock()
	latest, closed := e.latest, e.closed
	e.mu.Unlock()
	switch {
	case closed:
		return subprocess.ErrClosed
	case ctx.Err() != nil:
		return subprocess.ContextError(ctx)
	case latest == nil:
		return nil
	}
	return subprocess.Await(ctx, latest.done)
}

func (e *Endpoint) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// start starts the process of a turn.
func (e *Endpoint) start(p endpoint.Prompt, floor endpoint.Floor) (*run, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, subprocess.ErrClosed
	}
	proc, err := spawn.Start(e.spawned())
	if err != nil {
		return nil, err
	}
	e.latest = newRun(proc, e.cfg, endpoint.PlainInstructions(p)+"\n\n"+strings.TrimSuffix(p.Text, "\n")+"\n", floor)
	return e.latest, nil
}

// Close ends the process of a turn in progress, whose Speak returns
// endpoint.ErrClosed, and waits for it.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	latest := e.latest
	if !e.closed {
		e.closed = true
		close(e.closing)
	}
	e.mu.Unlock()
	if latest != nil {
		latest.proc.Terminate(min(closeGrace, e.cfg.Grace))
		<-latest.done
	}
	return nil
}
