package timeline

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A Room is what a session needs of a running room.
type Room interface {
	Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[coordinator.Update, error]
	Do(ctx context.Context, c room.Command) ([]room.Event, error)
	View() room.View
}

// A Session is one person in front of one room. Fill in the exported fields,
// then Run it once. Somebody else runs the room.
type Session struct {
	Room    Room
	Printer *Printer
	Before  *room.State // what was shown before, of a room that is opened again; else nil
	Actor   string      // the person; "" is the host
	In      io.Reader   // keys with a Screen, else commands, one a line
	Out     io.Writer   // the timeline
	Err     io.Writer   // answers, errors, and the prompt
	Screen  *Screen     // nil where there is no terminal
	Quiet   bool        // no timeline, only what needs the person
	// Events writes events in another form than lines for people; nil is for
	// people.
	Events func(room.Event) string
	// Policy finds a built-in policy for the command policy; nil has none.
	Policy func(name string) (room.PolicyRef, error)
	// Interrupt is called at Ctrl-C, which a terminal in raw mode does not
	// turn into a signal.
	Interrupt func()

	raw     *Screen // Screen while it is in use
	edit    *editor // what is being typed; nil when keys are commands
	menu    func(room.SeatView) room.Act
	escaped time.Time // when Escape was last pressed
	asked   bool      // q was pressed once
	ended   bool      // there is no more input
	leaving bool
	held    string // a script's command that waits
	busy    int    // commands under way
	caused  int64  // the last event that a command caused
	pausing bool

	// What the events shown so far say.
	seq     int64
	view    room.View // at seq, or older
	phase   room.Phase
	ending  room.Ending
	draft   string // hash of the draft that waits
	turns   int    // turns that have ended
	taken   map[string]bool
	seen    time.Time // when the last event came
	started time.Time // when the open turn began
	delta   struct{ who, text string }
}

// An outcome is what came of a command of the person.
type outcome struct {
	events []room.Event
	err    error
}

// Run shows the room and serves the person until the room has ended for good,
// until the person leaves, or ctx ends: then the room is paused first. What
// happened is in the room's View.
//
// Reading In cannot be interrupted, so a goroutine may stay in it until In
// ends or the process does.
func (s *Session) Run(ctx context.Context) error {
	s.begin()
	watched, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	updates, fault := make(chan coordinator.Update), make(chan error, 1)
	var group sync.WaitGroup
	after := s.seq
	group.Go(func() { fault <- s.watch(watched, after, updates) })
	outcomes := make(chan outcome, 64)
	quit := make(chan struct{})
	defer group.Wait()
	defer unwatch()
	defer close(quit)
	defer s.Screen.Close()
	in := s.read(quit)
	act := func(do room.Act) {
		s.busy++
		group.Go(func() {
			events, err := s.Room.Do(watched, room.Command{Actor: s.actor(), Do: do})
			outcomes <- outcome{events, err}
		})
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !s.over() {
		s.draw()
		lines := in.lines
		if s.held != "" || !s.current() {
			lines = nil
		}
		select {
		case <-ctx.Done():
			ctx = context.WithoutCancel(ctx)
			s.raw = nil
			s.Screen.Close()
			s.leave(act)
		case u, ok := <-updates:
			if !ok {
				return <-fault
			}
			s.update(u, act)
		case o := <-outcomes:
			s.busy--
			if n := len(o.events); n > 0 {
				s.caused = max(s.caused, o.events[n-1].Seq)
			}
			if s.leaving && o.err != nil && !errors.Is(o.err, room.ErrOver) {
				return o.err
			}
			s.answer(o.err)
			s.retry(act)
		case b := <-in.keys:
			s.keys(b, act)
		case line, ok := <-lines:
			s.line(line, ok, act)
		case <-tick.C:
		}
	}
	return nil
}

func (s *Session) begin() {
	s.phase, s.taken = room.PhaseLive, map[string]bool{}
	if b := s.Before; b != nil {
		s.seq, s.phase, s.ending, s.view = b.Seq, b.Phase, b.Ending, b.View(room.Internal)
		if b.Turn != nil && b.Turn.Draft != nil {
			s.draft = b.Turn.Draft.Hash
		}
		for _, x := range b.Seats {
			if x.TakenBy == s.actor() {
				s.taken[x.ID] = true
			}
		}
	}
	s.caused = s.Room.View().Seq // the room goes on before the first line is drawn
	if s.Screen.live() {
		s.raw = s.Screen
	}
}

func (s *Session) actor() string { return orElse(s.Actor, room.ActorHost) }

func (s *Session) watch(ctx context.Context, after int64, updates chan<- coordinator.Update) error {
	defer close(updates)
	for u, err := range s.Room.Watch(ctx, after, room.Internal) {
		if err != nil {
			return err
		}
		select {
		case updates <- u:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// current reports whether everything that the person has caused was shown, so
// that the next command of a script is decided on what the last one did.
func (s *Session) current() bool { return s.busy == 0 && s.seq >= s.caused }

// over reports whether the session has nothing left to do.
func (s *Session) over() bool {
	switch {
	case s.phase == room.PhaseLive || !s.current():
		return false
	case s.leaving || s.ended && s.held == "":
		return true
	case s.phase == room.PhaseCompleted:
		return s.ending.Cause != room.CauseSettled
	}
	return s.phase == room.PhaseStopped && s.ending.Cause == room.CausePerson
}

// leave pauses a live room and ends the session once that is recorded.
func (s *Session) leave(act func(room.Act)) {
	s.leaving, s.held = true, ""
	if s.phase == room.PhaseLive {
		act(room.Pause{})
	}
}
