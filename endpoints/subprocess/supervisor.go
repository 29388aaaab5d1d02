package subprocess

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/internal/spawn"
	"github.com/folkmoot/moot/problem"
)

// A Connection is the protocol that is spoken with one process. Its methods are
// called concurrently.
type Connection interface {
	// Read handles the output of the process until it ends. The supervisor calls
	// it once.
	Read(stdout io.Reader) error
	// End fails the request in flight, if any, and all later ones with err. Only
	// the first call has an effect.
	End(err error)
	// Done is closed by End.
	Done() <-chan struct{}
	// Cause returns the error that End was given, or nil before.
	Cause() error
}

// A Link is what a Connection gets of its process.
type Link struct {
	Stdin   *os.File        // to be written through one Writer
	Stderr  func() string   // the last lines of standard error so far
	Signals *inflight.Queue // to the room
}

// A Config says which program to run, and its limits.
type Config struct {
	Spawn   spawn.Config
	Restart int           // how often a process that has ended is replaced
	Grace   time.Duration // for a late answer, and for the end after SIGTERM; 0 is 5 s
	Close   time.Duration // for the end at Close, and again after SIGTERM; at most Grace; 0 is 2 s
	Resumes bool          // the endpoint raises endpoint.SignalForgot itself
}

const (
	defaultGrace = 5 * time.Second
	defaultClose = 2 * time.Second // twice is less than 5 s
)

// A Supervisor starts and replaces the process of one agent. Its methods may be
// called concurrently.
type Supervisor[C Connection] struct {
	Slot
	cfg     Config
	connect func(Link) C

	mu       sync.Mutex
	floor    endpoint.Floor // of the latest request
	process  *Process[C]    // the latest, or nil
	restarts int
	closed   bool
}

// New returns a supervisor without a process. It calls connect for each process
// that it starts.
func New[C Connection](cfg Config, connect func(Link) C) *Supervisor[C] {
	if cfg.Grace <= 0 {
		cfg.Grace = defaultGrace
	}
	if cfg.Close <= 0 {
		cfg.Close = defaultClose
	}
	return &Supervisor[C]{Slot: NewSlot(), cfg: cfg, connect: connect}
}

// SetFloor sets where signals go from now on; nil drops them.
func (s *Supervisor[C]) SetFloor(f endpoint.Floor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floor = f
}

func (s *Supervisor[C]) currentFloor() endpoint.Floor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.floor
}

// Latest returns the process that was started last, which may have ended, or nil.
func (s *Supervisor[C]) Latest() *Process[C] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// Ready returns a process that can take a request. It starts one if there is none
// or the latest has ended, and waits for the end of a process that is at work on an
// abandoned request. The caller has acquired the slot. Errors are those of
// spawn.Start, the cause of a process that is not replaced, ErrClosed, and that of
// ContextError.
func (s *Supervisor[C]) Ready(ctx context.Context) (*Process[C], error) {
	s.mu.Lock()
	p, closed := s.process, s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case p == nil:
		return s.start()
	}
	if err := Await(ctx, p.lateAnswer()); err != nil {
		return nil, err
	}
	if p.running() {
		return p, nil
	}
	if err := Await(ctx, p.done); err != nil { // two processes never run at once
		return nil, err
	}
	if !s.countRestart(p) {
		return nil, p.Conn.Cause()
	}
	return s.start()
}

// countRestart reports whether p may be replaced, and counts that unless p was
// ended without counting.
func (s *Supervisor[C]) countRestart(p *Process[C]) bool {
	free := p.endedFree()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case free:
		return true
	case s.restarts >= s.cfg.Restart:
		return false
	}
	s.restarts++
	return true
}

// mayRestart reports whether p will be replaced once it has ended.
func (s *Supervisor[C]) mayRestart(p *Process[C]) bool {
	free := p.endedFree()
	s.mu.Lock()
	defer s.mu.Unlock()
	return free || s.restarts < s.cfg.Restart
}

// MarkRestart adds endpoint.ErrInterrupted to an error of p that wraps
// endpoint.ErrExited, if p will be replaced. It returns other errors unchanged.
func (s *Supervisor[C]) MarkRestart(p *Process[C], err error) error {
	if !errors.Is(err, endpoint.ErrExited) || !s.mayRestart(p) {
		return err
	}
	coded, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return err
	}
	marked := *coded
	marked.Fix, marked.Kind = "see its last words; it is restarted for its next turn", errors.Join(endpoint.ErrExited, endpoint.ErrInterrupted)
	return &marked
}

func (s *Supervisor[C]) start() (*Process[C], error) {
	proc, err := spawn.Start(s.cfg.Spawn)
	if err != nil {
		return nil, err
	}
	p := &Process[C]{proc: proc, grace: s.cfg.Grace, Signals: inflight.NewQueue(s.currentFloor), done: make(chan struct{})}
	p.Conn = s.connect(Link{Stdin: proc.Stdin(), Stderr: proc.Stderr, Signals: p.Signals})
	p.wg.Go(p.readOutput)
	go s.cleanUp(p)
	s.mu.Lock()
	s.process = p
	closed := s.closed
	s.mu.Unlock()
	if closed { // Close was called meanwhile and has not seen p
		p.Conn.End(ErrClosed)
		<-p.done
		return nil, ErrClosed
	}
	return p, nil
}

// cleanUp ends the process when its connection has ended, waits for its
// goroutines, and reports the end to the room.
func (s *Supervisor[C]) cleanUp(p *Process[C]) {
	<-p.Conn.Done()
	closing := errors.Is(p.Conn.Cause(), endpoint.ErrClosed)
	if closing {
		grace := min(s.cfg.Close, s.cfg.Grace)
		p.proc.Close(grace, grace)
	} else {
		p.proc.Close(0, s.cfg.Grace)
	}
	asked := p.finish()
	if !closing {
		s.reportEnd(p, asked)
	}
	p.Signals.Close(!closing)
	close(p.done)
}

// reportEnd tells the room that the process has ended and, if another one follows,
// that the agent has lost what it was told.
func (s *Supervisor[C]) reportEnd(p *Process[C], asked bool) {
	code := endpoint.ExitedForGood
	if s.mayRestart(p) {
		code = endpoint.ExitedRestarts
		if asked && !s.cfg.Resumes {
			p.Signals.Put(endpoint.Signal{Kind: endpoint.SignalForgot})
		}
	}
	p.Signals.Put(endpoint.Signal{Kind: endpoint.SignalExited, Code: code, Detail: p.Conn.Cause().Error()})
}

// Close ends the process and its group, first by closing its standard input, and
// waits for them. Requests in progress fail with endpoint.ErrClosed.
func (s *Supervisor[C]) Close() error {
	s.mu.Lock()
	s.closed = true
	p := s.process
	s.mu.Unlock()
	if p != nil {
		p.Conn.End(ErrClosed)
		p.Signals.Cancel() // the room may not take signals any more
		<-p.done
	}
	return nil
}
