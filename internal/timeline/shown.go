package timeline

import (
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// update handles an update of the room.
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

// needed reports whether an event is shown even if Quiet is set, because the
// person must act on it.
func (s *Session) needed(e room.Event) bool {
	_, draft := e.Body.(room.TurnDrafted)
	return draft && s.raw != nil
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
