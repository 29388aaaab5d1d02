package timeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/problem"
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
	s.phase, s.taken = room.Live, map[string]bool{}
	if b := s.Before; b != nil {
		s.seq, s.phase, s.ending, s.view = b.Seq, b.Phase, b.Ending, b.View(room.Internal)
		if b.Turn != nil && b.Turn.Draft != nil {
			s.draft = b.Turn.Draft.Hash
		}
		for _, x := range b.Seats {
			if x.Owner == s.actor() {
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
	case s.phase == room.Live || !s.current():
		return false
	case s.leaving || s.ended && s.held == "":
		return true
	case s.phase == room.Done:
		return s.ending.Cause != room.DoneSettled
	}
	return s.phase == room.Halted && s.ending.Cause == room.StopBy
}

// leave pauses a live room and ends the session once that is recorded.
func (s *Session) leave(act func(room.Act)) {
	s.leaving, s.held = true, ""
	if s.phase == room.Live {
		act(room.Pause{})
	}
}

// update shows what the room tells.
func (s *Session) update(u coordinator.Update, act func(room.Act)) {
	switch {
	case u.Pausing:
		s.pausing = true
	case u.Event == nil:
		if s.delta.who != u.Participant {
			s.delta.who, s.delta.text = u.Participant, ""
		}
		s.delta.text = tail(s.delta.text+u.Delta, 400)
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
	switch {
	case s.Events != nil:
		text = s.Events(e)
	case s.Quiet && !s.needed(e):
		text = ""
	}
	if text != "" {
		s.show(s.Out, text)
	}
}

// needed are the events that are shown in spite of Quiet: without them nobody
// knows what is asked of them.
func (s *Session) needed(e room.Event) bool {
	_, draft := e.Body.(room.TurnDrafted)
	return draft && s.raw != nil
}

// note keeps what the session needs to know of an event.
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
		if s.phase == room.Done && s.ending.Cause == room.DoneSettled && s.Room.View().Phase == room.Live {
			s.phase = room.Live
		}
	case room.SeatTaken:
		s.taken[b.Participant] = b.By == s.actor()
		if !s.taken[b.Participant] {
			delete(s.taken, b.Participant)
		}
	case room.SeatReleased:
		delete(s.taken, b.Participant)
	case room.Paused:
		s.rest(room.Waiting, room.Ending{Cause: b.Cause})
	case room.Stopped:
		s.rest(room.Halted, room.Ending{Cause: b.Cause})
	case room.Completed:
		s.rest(room.Done, room.Ending{Cause: b.Cause})
	case room.Errored:
		s.rest(room.InError, room.Ending{})
	case room.Resumed:
		s.phase, s.ending = room.Live, room.Ending{}
	}
}

func (s *Session) rest(p room.Phase, e room.Ending) { s.phase, s.ending, s.pausing = p, e, false }

// unattended pauses a room whose draft nobody will ever look at.
func (s *Session) unattended(act func(room.Act)) {
	if s.ended && s.held == "" && s.draft != "" && s.current() && s.phase == room.Live {
		s.warn("a draft waits and there is no more input: the room is paused")
		s.leave(act)
	}
}

// line carries out a script's command, or holds it until it can be.
func (s *Session) line(text string, ok bool, act func(room.Act)) {
	switch {
	case !ok:
		s.ended = true
		s.unattended(act)
		return
	case text == "":
		return
	}
	s.held = text
	s.retry(act)
}

// retry carries out the command that is held, if it can be now.
func (s *Session) retry(act func(room.Act)) {
	if s.held == "" || !s.current() {
		return
	}
	v, rest, err := parse(s.held)
	if err == nil && v.ready != nil && !v.ready(s, rest) {
		return
	}
	s.held = ""
	if err != nil {
		s.answer(err)
		return
	}
	s.carryOut(v, rest, act)
	s.unattended(act)
}

// carryOut does what a command says.
func (s *Session) carryOut(v verb, rest string, act func(room.Act)) {
	switch v.name {
	case "quit":
		s.leave(act)
		return
	case "help":
		s.show(s.Err, help())
		return
	case "roster":
		s.show(s.Err, s.roster())
		return
	case "wait":
		return
	}
	do, err := v.act(s, rest)
	if err != nil {
		s.answer(err)
		return
	}
	act(do)
}

// answer tells the person why a command was refused.
func (s *Session) answer(err error) {
	if err == nil || errors.Is(err, coordinator.ErrClosed) || errors.Is(err, context.Canceled) {
		return
	}
	text := err.Error()
	if p, ok := errors.AsType[*problem.Error](err); ok {
		text = p.What + "   [" + p.Code + "]"
		if p.Fix != "" {
			text += "\n  fix: " + p.Fix
		}
	}
	s.warn(text)
}

func (s *Session) warn(text string) {
	s.show(s.Err, s.Printer.paint(yellow, "! ")+s.Printer.body(text, ""))
}

// roster lists who is in the room.
func (s *Session) roster() string {
	out := ""
	for _, x := range s.Room.View().Seats {
		phase := x.Phase
		if x.Why != "" {
			phase += ": " + x.Why
		}
		if x.Cooling > 0 {
			phase += fmt.Sprintf(", %d turns left", x.Cooling)
		}
		out += fmt.Sprintf("  %-14s %-7s %2d turns  ~%s tokens  %s\n", clip(x.ID, 14), x.Kind, x.Turns, thousands(x.Tokens), clip(phase, 60))
	}
	return out
}

func (s *Session) screenWidth() int {
	if w := s.Screen.width(); w > 0 {
		return w
	}
	return defaultWidth
}

// show writes finished lines above the last line.
func (s *Session) show(w io.Writer, text string) {
	if s.raw != nil {
		s.raw.clear()
	}
	io.WriteString(w, s.Screen.lines(w, text))
}

// draw redraws the last line.
func (s *Session) draw() {
	switch {
	case s.raw == nil:
	case s.edit != nil:
		prompt := s.prompt()
		line, col := s.edit.line(max(4, s.screenWidth()-len([]rune(prompt))-1))
		s.raw.last(s.Printer.paint(bold, prompt)+line, len([]rune(prompt))+col)
	case s.menu != nil:
		s.raw.last(s.choices(), -1)
	case s.asked:
		s.raw.last(s.Printer.paint(yellow, "q again pauses the room and leaves; any other key stays"), -1)
	default:
		s.raw.last(s.statusLine(time.Now()), -1)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// tail is the end of s, at most n bytes of it.
func tail(s string, n int) string { return s[max(0, len(s)-n):] }
