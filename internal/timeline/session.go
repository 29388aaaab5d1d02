package timeline

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A Room is a running room, as a session needs it.
type Room interface {
	Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[coordinator.Update, error]
	Do(ctx context.Context, c room.Command) ([]room.Event, error)
	View() room.View
}

// A Session connects one person with one room. Set the exported fields, then call
// Run once. The caller runs the room.
type Session struct {
	Room    Room
	Printer *Printer
	Before  *room.State // state shown before, for a resumed room; else nil
	Actor   string      // the person; "" is the host
	In      io.Reader   // keys with a Screen, else commands, one a line
	Out     io.Writer   // the timeline
	Err     io.Writer   // answers, errors, and the prompt
	Screen  *Screen     // nil without a terminal
	Quiet   bool        // show only drafts, which need the person
	// Events formats events in place of the Printer; nil uses the Printer.
	Events func(room.Event) string
	// Policy returns a built-in policy by name, for the command policy; it may be
	// nil.
	Policy func(name string) (room.PolicyRef, error)
	// Interrupt is called at Ctrl-C, which a terminal in raw mode does not
	// turn into a signal.
	Interrupt func()

	raw     *Screen // Screen while it is in use
	edit    *editor // the line being typed; nil while keys are commands
	menu    func(room.SeatView) room.Act
	escaped time.Time // when Escape was last pressed
	asked   bool      // q was pressed once
	ended   bool      // there is no more input
	leaving bool
	held    string // a command of a script that cannot run yet
	busy    int    // commands in flight
	caused  int64  // sequence number of the last event caused by a command
	pausing bool

	// The state after the events shown so far.
	seq     int64
	view    room.View // at seq, or older
	phase   room.Phase
	ending  room.Ending
	draft   string // hash of the waiting draft
	turns   int    // turns that have ended
	taken   map[string]bool
	seen    time.Time // when the last event came
	started time.Time // when the open turn began
	delta   struct{ who, text string }
}

// An outcome is the result of a command of the person.
type outcome struct {
	events []room.Event
	err    error
}

// Run shows the room and runs the commands of the person. It returns when the
// room has ended for good or the person leaves. When ctx ends it pauses the room
// first. The result is in the View of the room.
//
// A read of In cannot be interrupted, so a goroutine may block in it until In or
// the process ends.
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
	s.caused = s.Room.View().Seq // the room continues before the first line is drawn
	if s.Screen.live() {
		s.raw = s.Screen
	}
}

func (s *Session) actor() string { return cmp.Or(s.Actor, room.ActorHost) }

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

// current reports whether all events that the person caused were shown. The next
// command of a script waits for them.
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

// update handles an update of the room.
func (s *Session) update(u coordinator.Update, act func(room.Act)) {
	switch {
	case u.Pausing:
		s.pausing = true
	case u.Event == nil:
		if s.delta.who != u.Participant {
			s.delta.who, s.delta.text = u.Participant, ""
		}
		s.delta.text += u.Delta
		s.delta.text = s.delta.text[max(0, len(s.delta.text)-400):]
	default:
		s.note(*u.Event)
		s.Printer.Width = s.Screen.width()
		s.tell(*u.Event)
		s.retry(act)
		s.unattended(act)
	}
}

// tell shows an event.
func (s *Session) tell(e room.Event) {
	text := s.Printer.Event(e)
	_, draft := e.Body.(room.TurnDrafted) // the person must act on it
	switch {
	case s.Events != nil:
		text = s.Events(e)
	case s.Quiet && (!draft || s.raw == nil):
		text = ""
	}
	if text != "" {
		s.show(s.Out, text)
	}
}

// note updates the state of the session from an event.
func (s *Session) note(e room.Event) {
	s.seen, s.seq = time.Now(), e.Seq
	if v := s.Room.View(); v.Seq <= s.seq {
		s.view = v
	}
	switch b := e.Body.(type) {
	case room.TurnGranted:
		s.started, s.draft = s.seen, ""
		s.delta.who = ""
	case room.TurnDrafted:
		s.draft = b.Draft
	case room.TurnEdited:
		s.draft = b.Draft
	case room.TurnRejected, room.TurnPassed, room.TurnFailed, room.TurnInterrupted:
		s.turns, s.draft, s.started = s.turns+1, "", time.Time{}
	case room.MessagePosted:
		if b.Turn > 0 {
			s.turns, s.draft, s.started = s.turns+1, "", time.Time{}
		}
		if s.phase == room.PhaseCompleted && s.ending.Cause == room.CauseSettled && s.Room.View().Phase == room.PhaseLive {
			s.phase = room.PhaseLive
		}
	case room.SeatTaken:
		s.taken[b.Participant] = b.By == s.actor()
		if !s.taken[b.Participant] {
			delete(s.taken, b.Participant)
		}
	case room.SeatReleased:
		delete(s.taken, b.Participant)
	case room.Paused:
		s.rest(room.PhasePaused, room.Ending{Cause: b.Cause})
	case room.Stopped:
		s.rest(room.PhaseStopped, room.Ending{Cause: b.Cause})
	case room.Completed:
		s.rest(room.PhaseCompleted, room.Ending{Cause: b.Cause})
	case room.Errored:
		s.rest(room.PhaseError, room.Ending{})
	case room.Resumed:
		s.phase, s.ending = room.PhaseLive, room.Ending{}
	}
}

func (s *Session) rest(p room.Phase, e room.Ending) { s.phase, s.ending, s.pausing = p, e, false }

// unattended pauses a room with a waiting draft after the end of the input.
func (s *Session) unattended(act func(room.Act)) {
	if s.ended && s.held == "" && s.draft != "" && s.current() && s.phase == room.PhaseLive {
		s.warn("a draft waits and there is no more input: the room is paused")
		s.leave(act)
	}
}
