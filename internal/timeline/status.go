package timeline

import (
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// meters returns what the room has used of its limits.
func (s *Session) meters(now time.Time) []string {
	v := s.view
	meters := []string{
		fmt.Sprintf("%d/%d turns", v.Turn, v.Limits.MaxTurns),
		clockOf(s.clock(v, now)) + "/" + clockOf(v.Limits.MaxDuration), human.Rough(thousands(v.Tally.Tokens), v.Tally.Estimated) + " tokens",
	}
	if v.Tally.Cost > 0 {
		meters = append(meters, "cost "+human.Rough(human.Money(v.Tally.Cost), v.Tally.CostEstimated))
	}
	if auto := s.unreviewed(v); auto != "" {
		meters = append([]string{"AUTO " + auto}, meters...)
	}
	return meters
}

// unreviewed names the seats that a person has set to full_auto.
func (s *Session) unreviewed(v room.View) string {
	var who []string
	for _, x := range v.Seats {
		if x.ModeSet && x.Mode == room.FullAuto {
			who = append(who, s.Printer.label(x.ID))
		}
	}
	return strings.Join(who, ", ")
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
	case v.Phase == room.PhaseCompleted && v.Ending.Degraded:
		return "! SETTLED, DEGRADED", yellow
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
	if len(v.Requests) > 0 {
		return s.waiting(v, now), yellow
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
	if s.working != "" {
		return s.working, green
	}
	if away := sessionsAwaited(v); len(away) > 0 {
		return "○ WAITS for a session: " + strings.Join(away, ", "), yellow
	}
	return "● LIVE", green
}

// sessionsAwaited returns the agents whose sessions a room waits for: all that could speak, or
// none.
func sessionsAwaited(v room.View) (away []string) {
	for _, x := range v.Seats {
		switch {
		case x.Phase == "away":
			away = append(away, x.ID)
		case x.Kind != policy.Human && (x.Phase == "idle" || x.Phase == "starting" || x.Phase == "thinking" || x.Phase == "taken over"):
			return nil
		}
	}
	return away
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
func (x *screen) hint() string {
	v := x.view
	switch matches := x.matches(); {
	case x.asked && x.Attached:
		return "Ctrl-D again leaves, and the room runs on; any other key stays"
	case x.asked:
		return "Ctrl-D again pauses the room and leaves; any other key stays"
	case time.Since(x.escaped) < twice:
		return "Esc again stops the room"
	case x.asks != nil:
		return x.asks.hint
	case x.draftMark != "":
		return "Enter approves this draft  Esc leaves it"
	case len(matches) > 0:
		return "Tab completes: " + strings.Join(matches, "  ")
	case x.panel == inboxPanel:
		return x.inboxHint()
	case x.panel == rosterPanel:
		return "↑↓ PgUp PgDn scroll  Esc closes"
	case len(x.requests) > 0 && x.phase == room.PhaseLive:
		return x.requestHint()
	case x.draft != "" && x.phase == room.PhaseLive:
		return "Ctrl-O approve  Ctrl-X edit  Ctrl-R reject  Tab highlight  /help"
	case v.Phase == room.PhasePaused && v.Ending.Cause == room.CausePolicy:
		return "/policy NAME, then Ctrl-Q resume  /quit"
	case v.Phase == room.PhaseStopped && v.Ending.Cause != room.CausePerson:
		return "/limits " + strings.Join(config.ChangedLimits(v.Limits, v.Raised), " ") + " goes on  /quit"
	case v.Phase == room.PhaseCompleted && suspended(v) != "":
		return "/restore " + suspended(v) + ", then Ctrl-Q resume  /quit"
	case v.Phase == room.PhaseCompleted:
		return "a message goes on  /quit"
	case v.Phase != "" && v.Phase != room.PhaseLive:
		return "Ctrl-Q resume  /quit  /help"
	}
	hint := "Ctrl-S pause  Esc Esc stop  Ctrl-P roster"
	if x.waits.count() > 0 {
		hint += "  Ctrl-V inbox"
	}
	return hint + "  /help"
}

// suspended returns the first suspended participant, or "".
func suspended(v room.View) string {
	for _, x := range v.Seats {
		if x.Phase == string(room.Suspended) {
			return x.ID
		}
	}
	return ""
}

// advice says how to decide about the draft that waits, where there are no keys.
func (s *Session) advice(st Style) string {
	who := "an agent"
	if d := s.Room.View().Draft; d != nil {
		who = s.Printer.label(d.Message.From)
	}
	return st.paint(yellow, "? ") + st.body("the draft of "+who+" waits: type approve, edit TEXT or reject [REASON]", "")
}

// clockOf formats a duration as minutes and seconds.
func clockOf(d time.Duration) string {
	d = d.Truncate(time.Second)
	if d >= time.Hour {
		return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
