package timeline

import (
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
	"github.com/rivo/uniseg"
)

// statusLine returns the state of the room, its meters and the useful keys, as of
// the events shown. Parts that do not fit are left out from the right.
func (s *Session) statusLine(now time.Time) string {
	v := s.view
	state, code := s.state(v, now)
	meters := []string{
		fmt.Sprintf("%d/%d turns", v.Turn, v.Limits.MaxTurns),
		clockOf(s.clock(v, now)) + "/" + clockOf(v.Limits.MaxDuration), "~" + thousands(v.Tally.Tokens) + " tokens",
	}
	parts := append([]string{state}, append(meters, s.hint(v))...)
	if v.Draft != nil || v.Phase != room.PhaseLive { // the room waits for the person
		parts = append([]string{state, s.hint(v)}, meters...)
	}
	width := s.screenWidth() - 1
	line := ""
	for i, part := range parts {
		if i > 0 {
			part = "  " + part
		}
		if uniseg.StringWidth(line+part) > width {
			if i == 0 {
				line = clip(part, width)
			}
			break
		}
		line += part
	}
	if rest, ok := strings.CutPrefix(line, state); ok {
		return s.Printer.paint(code, state) + s.Printer.paint(dim, rest)
	}
	return s.Printer.paint(code, line)
}

// clock returns the running time of the room now; the view has that of the last
// event.
func (s *Session) clock(v room.View, now time.Time) time.Duration {
	if v.Phase != room.PhaseLive || s.seen.IsZero() {
		return v.Clock
	}
	return v.Clock + max(0, now.Sub(s.seen))
}

// state returns the state of the room in a few words, and its colour.
func (s *Session) state(v room.View, now time.Time) (text, code string) {
	switch {
	case s.pausing && v.Phase == room.PhaseLive && v.Turn > 0:
		return "‖ PAUSING (turn in flight)", yellow
	case v.Phase == room.PhasePaused && v.Ending.Cause == room.CausePolicy:
		return "‖ PAUSED: the policy failed", red
	case v.Phase == room.PhasePaused:
		return "‖ PAUSED", yellow
	case v.Phase == room.PhaseCompleted && v.Ending.Cause == room.CauseSettled:
		return "✓ SETTLED", green
	case v.Phase == room.PhaseCompleted:
		return "✓ COMPLETED", green
	case v.Phase == room.PhaseStopped:
		return "■ STOPPED: " + v.Ending.Cause + " " + v.Ending.Name, yellow
	case v.Phase == room.PhaseError:
		return "✗ ERROR", red
	case v.Draft != nil:
		return "DRAFT of " + s.Printer.label(v.Draft.Message.From) + " waits for you", yellow
	}
	for _, x := range v.Seats {
		if x.Phase != "thinking" {
			continue
		}
		if s.taken[x.ID] {
			return "● YOU have the floor for " + s.Printer.label(x.ID), green
		}
		return "● " + s.Printer.label(x.ID) + " is thinking" + s.elapsed(now) + s.live(x.ID), green
	}
	return "● LIVE", green
}

// elapsed returns the duration of the open turn.
func (s *Session) elapsed(now time.Time) string {
	if s.started.IsZero() {
		return ""
	}
	if d := now.Sub(s.started); d >= time.Second {
		return " " + clockOf(d)
	}
	return ""
}

// live returns the end of the live text of a participant.
func (s *Session) live(id string) string {
	if s.delta.who != id || s.delta.text == "" {
		return ""
	}
	tail := []rune(term.Line(s.delta.text))
	return ": …" + string(tail[max(0, len(tail)-30):])
}

// hint returns the keys that the person can use now.
func (s *Session) hint(v room.View) string {
	switch {
	case s.raw == nil:
		return ""
	case v.Draft != nil && v.Phase == room.PhaseLive:
		return "[a]pprove [e]dit [x]reject"
	case v.Phase == room.PhasePaused && v.Ending.Cause == room.CausePolicy:
		return "/policy NAME, then p; q quit"
	case v.Phase == room.PhaseStopped && v.Ending.Cause != room.CausePerson:
		return "/limits maxTurns=N goes on; q quit"
	case v.Phase == room.PhaseCompleted:
		return "s say goes on; q quit"
	case v.Phase != room.PhaseLive:
		return "p resume  s say  q quit"
	}
	return "p pause  s say  ? help"
}

// clockOf formats a duration as minutes and seconds.
func clockOf(d time.Duration) string {
	d = d.Truncate(time.Second)
	if d >= time.Hour {
		return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
