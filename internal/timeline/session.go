package timeline

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A Room is a running room, as a session needs it.
type Room interface {
	Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[coordinator.Update, error]
	Do(ctx context.Context, c room.Command) ([]room.Event, error)
	View() room.View
}

// ViaTerminal is [room.Command].Via of what a person types in a session.
const ViaTerminal = "terminal"

// A Session connects one person with one room. Set the exported fields, then call
// Run once. The caller runs the room.
type Session struct {
	Room     Room
	Printer  *Printer
	Before   *room.State // state shown before, for a resumed room; else nil
	Actor    string      // the person; "" is the host
	In       io.Reader   // commands, one a line; not read with a Terminal
	Out      io.Writer   // the timeline
	Err      io.Writer   // answers and errors
	Terminal *Terminal   // nil shows the timeline and reads commands line by line
	Quiet    bool        // show only what needs the person: drafts and permission requests
	// Attached says that another process runs the room: the end of the input, of
	// ctx or of the session does not pause it.
	Attached bool
	// Shown is the sequence number of the first event that is shown; earlier ones
	// are read only.
	Shown int64
	// Events formats events in place of the Printer; nil uses the Printer.
	Events func(room.Event) string
	// Policy returns a built-in policy by name, for the command policy; it may be
	// nil.
	Policy func(name string) (room.PolicyRef, error)
	// Inbox is what waits in other rooms; nil for none. A screen shows it.
	Inbox Inbox
	// Interrupt is called at Ctrl-C, which a terminal in raw mode does not
	// turn into a signal.
	Interrupt func()

	pane      *pane                           // the timeline of the screen while it is shown
	waits     waiting                         // what waits for the person
	act       func(room.Act)                  // gives a command of the person to the room
	elsewhere func(id string, a inbox.Answer) // answers an item of another room
	ended     bool                            // there is no more input
	leaving   bool
	held      string // a command of a script that cannot run yet
	busy      int    // commands in flight
	caused    int64  // sequence number of the last event caused by a command
	pausing   bool
	working   string // what a person waits for besides the room, or ""

	// The state after the events shown so far.
	seq    int64
	view   room.View // at seq, or older
	phase  room.Phase
	ending room.Ending
	draft  string // hash of the waiting draft
	turns  int    // turns of the room that have ended

	requests   []room.PermissionAsked // that wait for the person, oldest first
	passedOver string                 // id of the oldest request, if it has just ended by itself and others wait

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

// An unwatched is the end of the updates of the room; nil if it has ended.
type unwatched struct{ err error }

// Run shows the room and runs the commands of the person. It returns when the
// room has ended for good or the person leaves. When ctx ends it pauses the room
// first, unless the session is attached. The result is in the View of the room.
//
// A read of In cannot be interrupted, so without a Terminal a goroutine may
// block in it until In or the process ends.
func (s *Session) Run(ctx context.Context) error {
	s.begin()
	if s.Terminal == nil {
		s.showHead()
		return s.runLines(ctx, s.In)
	}
	over, err := s.runScreen(ctx)
	if over || s.Attached {
		return err
	}
	return errors.Join(err, s.runLines(ctx, nil)) // the person has left; the room is paused
}

// start watches the room and carries out commands. deliver is given what comes
// of both, by several goroutines, and returns at the latest after stop was
// called. stop waits for them.
func (s *Session) start(ctx context.Context, deliver func(any)) (stop func()) {
	watched, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	after := s.seq
	group.Go(func() {
		for u, err := range s.Room.Watch(watched, after, room.Internal) {
			if err != nil {
				deliver(unwatched{err})
				return
			}
			deliver(u)
		}
		deliver(unwatched{})
	})
	var last chan struct{} // closed when the room has the act before; nil for none
	s.act = func(do room.Act) {
		s.busy++
		before, done := last, make(chan struct{})
		if urgent(do) {
			before = nil
		} else {
			last = done
		}
		group.Go(func() {
			if before != nil {
				<-before
			}
			events, err := s.Room.Do(watched, room.Command{Actor: s.actor(), Via: ViaTerminal, Do: do})
			close(done)
			deliver(outcome{events, err})
		})
	}
	var answers chan struct{} // closed when the answer before is given; nil for none
	s.elsewhere = func(id string, a inbox.Answer) {
		s.busy++
		before, done := answers, make(chan struct{})
		answers = done
		group.Go(func() {
			if before != nil {
				<-before // the first key is the answer
			}
			err := s.Inbox.Answer(watched, id, a)
			close(done)
			deliver(answered{err})
		})
	}
	if s.Inbox != nil && s.pane != nil {
		group.Go(func() { s.follow(watched, deliver) })
	}
	return func() {
		unwatch()
		group.Wait()
		s.busy = 0
	}
}

// urgent reports whether an act does not wait for those before, which may hang.
func urgent(do room.Act) bool {
	switch do.(type) {
	case room.Pause, room.Stop:
		return true
	}
	return false
}

// handle handles what start delivers. It reports whether the session has to
// end, and why.
func (s *Session) handle(m any) (end bool, err error) {
	switch m := m.(type) {
	case coordinator.Update:
		s.update(m)
	case outcome:
		s.busy--
		if n := len(m.events); n > 0 {
			s.caused = max(s.caused, m.events[n-1].Seq)
		}
		if s.leaving && m.err != nil && !errors.Is(m.err, room.ErrOver) {
			return true, m.err
		}
		s.answer(m.err)
		s.retry()
	case answered:
		s.busy--
		s.answer(m.err)
	case followed:
		s.noteFollowed(m)
	case unwatched:
		return true, m.err
	}
	return false, nil
}

func (s *Session) begin() {
	s.phase, s.taken = room.PhaseLive, map[string]bool{}
	if b := s.Before; b != nil {
		s.seq, s.phase, s.ending, s.view = b.Seq, b.Phase, b.Ending, b.View(room.Internal)
		s.turns = b.Tally.Turns
		if b.Turn != nil {
			s.turns--
			if b.Turn.Draft != nil {
				s.draft = b.Turn.Draft.Hash
			}
		}
		for _, x := range b.Seats {
			if x.TakenBy == s.actor() {
				s.taken[x.ID] = true
			}
		}
	}
	v := s.Room.View()
	s.caused = v.Seq // the room continues before the first line is drawn
	if s.Before == nil {
		s.view = room.View{Room: v.Room, Name: v.Name, Limits: v.Limits, Phase: room.PhaseLive}
	}
	s.listOwn()
}

// showHead shows what a person needs to go on with a resumed room.
func (s *Session) showHead() {
	if s.Before == nil {
		return
	}
	before := *s.Printer
	text := s.Printer.Recall(s.Before)
	if s.pane != nil && !s.Quiet {
		s.pane.add(block{render: func(st Style) string { return before.with(st).recallHead(s.Before) }})
	}
	if after := *s.Printer; s.pane != nil && s.draft != "" {
		s.pane.add(block{draft: s.draft, render: func(st Style) string { return after.with(st).recallDraft(s.Before) }})
	}
	if s.Events == nil && !s.Quiet && (s.pane == nil || !shows(s.Out)) {
		io.WriteString(s.Out, text)
	}
	if s.pane == nil && s.draft != "" && s.In != nil {
		s.reply(s.advice)
	}
}

func (s *Session) actor() string { return cmp.Or(s.Actor, room.ActorHost) }

// current reports whether all events that the person caused were shown. The next
// command of a script waits for them.
func (s *Session) current() bool { return s.busy == 0 && s.seq >= s.caused }

// over reports whether the session has nothing left to do.
func (s *Session) over() bool {
	switch {
	case s.Attached && s.leaving:
		return s.busy == 0
	case s.phase == room.PhaseLive || !s.current():
		return false
	case s.Attached && (s.phase == room.PhasePaused || s.ending.Cause == room.CauseSettled):
		return false // other people may go on
	case s.leaving || s.ended && s.held == "":
		return true
	case s.phase == room.PhaseCompleted:
		return s.ending.Cause != room.CauseSettled
	}
	return s.phase == room.PhaseStopped && s.ending.Cause == room.CausePerson
}

// leave pauses a live room and ends the session once that is recorded. An
// attached session ends once its commands are.
func (s *Session) leave() {
	s.leaving, s.held = true, ""
	if s.phase == room.PhaseLive && !s.Attached {
		s.act(room.Pause{})
	}
}

// update handles an update of the room.
func (s *Session) update(u coordinator.Update) {
	switch {
	case u.Pausing:
		s.pausing = true
	case u.Event == nil:
		if s.delta.who != u.Participant {
			s.delta.who, s.delta.text = u.Participant, ""
		}
		s.delta.text += u.Delta
		if c := u.Tool; c != nil && c.Status != endpoint.ToolCompleted && c.Status != endpoint.ToolFailed {
			s.delta.text = strings.TrimSuffix(s.delta.text, "\n[tool] "+c.String()+"\n") + "\n[tool] " + c.String() + "\n"
		}
		s.delta.text = s.delta.text[max(0, len(s.delta.text)-400):]
	default:
		s.note(*u.Event)
		s.tell(*u.Event)
		s.retry()
		s.unattended()
	}
}

// tell shows an event, on the screen and in Out if that is not the terminal of
// the screen.
func (s *Session) tell(e room.Event) {
	before, render := *s.Printer, (*Printer).Event
	if _, edited := e.Body.(room.TurnEdited); s.pane != nil && (edited || s.draft == "" && len(s.requests) == 0) {
		s.pane.release()
	}
	if e.Seq < s.Shown {
		render = (*Printer).skip
	}
	text := render(s.Printer, e)
	draft, request := draftOf(e), s.asking(e)
	if s.pane != nil && text != "" && (draft != "" || request != "" || !s.Quiet) {
		s.pane.add(block{draft: draft, asks: draft != "" || request != "", render: func(st Style) string { return render(before.with(st), e) }})
	}
	if s.pane != nil && shows(s.Out) {
		return
	}
	if s.Events != nil {
		text = ""
		if e.Seq >= s.Shown {
			text = s.Events(e)
		}
	} else if s.Quiet && request == "" {
		text = ""
	}
	io.WriteString(s.Out, text)
	if s.pane == nil && request != "" && !s.ended && !s.leaving {
		s.adviseRequest(request)
	}
	if s.pane == nil && draft != "" && draft == s.waitingDraft() && !s.ended && !s.leaving {
		s.reply(s.advice)
	}
}

// waitingDraft returns the hash of the draft that waits now, or "". An event that
// was read late may show an older one.
func (s *Session) waitingDraft() string {
	if d := s.Room.View().Draft; d != nil {
		return d.Hash
	}
	return ""
}

// draftOf returns the hash of the draft that an event shows, or "".
func draftOf(e room.Event) string {
	switch b := e.Body.(type) {
	case room.TurnDrafted:
		return b.Draft
	case room.TurnEdited:
		return b.Draft
	}
	return ""
}

// reply shows the answer to a command.
func (s *Session) reply(render func(Style) string) {
	if s.pane != nil {
		s.pane.add(block{answer: true, render: func(st Style) string { return render(st) + "\n" }})
		s.pane.bottom()
		s.pane.replied = true
		return
	}
	io.WriteString(s.Err, render(s.Printer.Style))
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
	case room.PermissionAsked:
		if s.asking(e) != "" {
			s.requests = append(s.requests, b)
		}
	case room.PermissionAnswered:
		s.noteAnswered(e, b)
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
	s.noteOwn(e)
}

func (s *Session) rest(p room.Phase, e room.Ending) { s.phase, s.ending, s.pausing = p, e, false }

// unattended pauses a room with a waiting draft after the end of the input, and
// refuses permission requests. Other people may attend an attached room.
func (s *Session) unattended() {
	if s.Attached {
		return
	}
	if s.ended && s.held == "" && s.current() {
		s.refuseRequests()
	}
	if s.ended && s.held == "" && s.draft != "" && s.current() && s.phase == room.PhaseLive {
		s.warn("a draft waits and there is no more input: the room is paused")
		s.leave()
	}
}
