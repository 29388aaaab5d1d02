package acp

import (
	"context"
	"errors"
	"sync"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/subprocess"
)

// An Endpoint drives one agent. Its methods may be called concurrently, but only
// one Speak at a time gets through.
type Endpoint struct {
	cfg        Config
	supervisor *subprocess.Supervisor[*client]

	removeDefaults func() // removes the file of default settings

	mu      sync.Mutex
	session *session // the latest, of the running process or an earlier one
}

type process = subprocess.Process[*client]

// New returns an endpoint. Its process starts with Start or the first prompt.
func New(cfg Config) *Endpoint {
	cfg, remove := cfg.withDefaults().withDefaultSettings()
	e := &Endpoint{cfg: cfg, removeDefaults: remove}
	e.supervisor = subprocess.New(cfg.process(), func(l subprocess.Link) *client {
		return newClient(cfg, l)
	})
	return e
}

// Start starts the process, or replaces one that has ended, and opens its session:
// the one that it had, if the agent can restore it, else a new one. It ends an agent
// that is not ready at the deadline of ctx, and leaves it running when ctx is
// cancelled. Signals go to floor until the next prompt; nil drops them. Errors are
// those of Speak.
func (e *Endpoint) Start(ctx context.Context, floor endpoint.Floor) error {
	release, err := e.supervisor.AcquireWait(ctx)
	if err != nil {
		return err
	}
	defer release()
	e.supervisor.SetFloor(floor)
	p, _, err := e.open(ctx)
	if err == nil || p == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	p.Conn.End(p.ExitError("the agent was ended: it was not ready in time"))
	return e.supervisor.MarkRestart(p, p.Conn.Cause())
}

// open returns a process with a session that can take a prompt. The process is not
// nil if the error is one of its session.
func (e *Endpoint) open(ctx context.Context) (*process, *session, error) {
	p, err := e.supervisor.Ready(ctx)
	if err != nil {
		return nil, nil, err
	}
	e.mu.Lock()
	earlier := e.session
	e.mu.Unlock()
	s, forgot, err := p.Conn.open(ctx, earlier)
	if forgot {
		e.reportForgot(ctx, p)
	}
	if s != nil {
		e.mu.Lock()
		e.session = s
		e.mu.Unlock()
	}
	switch {
	case err == nil:
		return p, s, nil
	case ctx.Err() != nil:
		return p, nil, subprocess.ContextError(ctx)
	}
	return p, nil, e.supervisor.MarkRestart(p, p.Conn.explain(err))
}

// reportForgot tells the room that the agent has lost what it was told, and waits
// until the room has taken that: the next prompt then has the full context.
func (e *Endpoint) reportForgot(ctx context.Context, p *process) {
	told := make(chan struct{})
	p.Signals.Ask(endpoint.Signal{Kind: endpoint.SignalForgot}, func(endpoint.Answer, error) { close(told) })
	select {
	case <-told:
	case <-ctx.Done():
	case <-p.Conn.Done():
	}
}

// Speak sends p to the agent and waits for the end of its turn. p.Timeout begins
// when the session is open and has got the prompt, and does not pass while a
// permission request waits for the room. Errors wrap endpoint's: ErrBusy, ErrClosed,
// ErrTimeout, ErrExited, ErrProtocol, ErrTooLarge and ErrAgent. They wrap the cause
// of ctx when ctx was cancelled. Other errors say why the process cannot be
// started. A reply that comes with an error has at most a usage. A bid is passed
// at once: the protocol has none.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	if p.Kind == endpoint.Bid {
		return endpoint.Reply{Outcome: endpoint.Passed}, nil
	}
	release, err := e.supervisor.Acquire()
	if err != nil {
		return endpoint.Reply{}, err
	}
	defer release()
	if ctx.Err() != nil {
		return endpoint.Reply{}, subprocess.ContextError(ctx)
	}
	e.supervisor.SetFloor(floor)
	opening, stop := context.WithTimeout(ctx, e.cfg.Open)
	pr, s, err := e.open(opening)
	stop()
	if err != nil {
		return endpoint.Reply{}, err
	}
	if p.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = endpoint.WithClock(ctx, p.Timeout)
		defer stop()
	}
	return e.converse(ctx, pr, s, p, floor)
}

// converse runs one turn.
func (e *Endpoint) converse(ctx context.Context, pr *process, s *session, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	c := pr.Conn
	pr.MarkAsked()
	t, err := c.prompt(ctx, s, p)
	if err != nil {
		return endpoint.Reply{}, e.supervisor.MarkRestart(pr, err)
	}
	waited := c.await(ctx, t, floor)
	if waited != nil && c.cancelTurn(t) {
		pr.AwaitLate(t.ended, true)
		return endpoint.Reply{}, waited
	}
	reply, err := c.reply(t)
	if c.leaves(s) {
		e.reportForgot(ctx, pr)
	}
	return reply, e.supervisor.MarkRestart(pr, err)
}

// Close ends the process and its group, first by closing its standard input, and
// waits for them. A Speak in progress returns endpoint.ErrClosed.
func (e *Endpoint) Close() error {
	defer e.removeDefaults()
	return e.supervisor.Close()
}

// Noise returns how many lines of the agent's output had no message.
func (e *Endpoint) Noise() int {
	if p := e.supervisor.Latest(); p != nil {
		return p.Conn.noiseSeen()
	}
	return 0
}

// Agent returns the name and the version that the agent states once it has
// started, or "".
func (e *Endpoint) Agent() (name, version string) {
	p := e.supervisor.Latest()
	if p == nil {
		return "", ""
	}
	p.Conn.mu.Lock()
	defer p.Conn.mu.Unlock()
	if a := p.Conn.agent.Agent; a != nil {
		return endpoint.CleanLine(a.Name, 80), endpoint.CleanLine(a.Version, 80)
	}
	return "", ""
}
