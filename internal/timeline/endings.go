package timeline

import (
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
)

func (p *Printer) claimed(b room.Claimed) string {
	if !b.Restart {
		return ""
	}
	return p.notice(yellow, "reopened: the host had ended while the room was live")
}

// standing shows a change of a seat.
func (p *Printer) standing(e room.Event) string {
	switch b := e.Body.(type) {
	case room.SeatChanged:
		code := ""
		if b.Standing == room.Suspended || b.Standing == room.Removed {
			code = yellow
		}
		return p.notice(code, p.label(b.Participant)+" is now "+string(b.Standing)+p.by(e.Actor)+because(b.Reason))
	case room.SeatTaken:
		return p.notice("", p.label(b.Participant)+" is taken over"+p.by(b.By))
	case room.SeatReleased:
		return p.notice("", p.label(b.Participant)+" is released")
	}
	return ""
}

// ending shows the end or the start of a live phase.
func (p *Printer) ending(e room.Event) string {
	switch b := e.Body.(type) {
	case room.Paused:
		if b.Cause == room.CausePolicy {
			return p.mark(red, "‖ paused: "+b.Reason+codeOf(b.Code))
		}
		return p.mark(yellow, "‖ "+p.byWhom("paused", e.Actor, b.Reason))
	case room.Resumed:
		return p.mark(green, "▶ resumed"+p.by(e.Actor))
	case room.Stopped:
		if b.Cause == room.CausePerson {
			return p.mark(yellow, "■ "+p.byWhom("stopped", e.Actor, b.Reason))
		}
		return p.mark(yellow, "■ stopped: "+b.Reason)
	case room.Completed:
		if b.Cause == room.CauseSettled {
			return p.mark(green, "✓ settled: "+b.Reason)
		}
		if b.Cause == room.CausePerson {
			return p.mark(green, "✓ "+p.byWhom("completed", e.Actor, b.Reason))
		}
		return p.mark(green, "✓ completed: "+b.Reason)
	case room.Errored:
		return p.mark(red, "✗ error: "+b.Reason+codeOf(b.Code))
	}
	return ""
}

// byWhom describes the end of a live phase by the actor and the reason, unless
// the reason only repeats the actor.
func (p *Printer) byWhom(what, actor, reason string) string {
	if reason == "" || reason == what+" by "+actor {
		return what + p.by(actor)
	}
	return what + p.by(actor) + ": " + reason
}

func codeOf(code string) string {
	if code == "" {
		return ""
	}
	return "   [" + code + "]"
}

func (p *Printer) mark(code, text string) string {
	var b strings.Builder
	for i, line := range wrap(term.Line(text), p.width()-2) {
		if i > 0 {
			line = "  " + line
		}
		b.WriteString(p.paint(code, line) + "\n")
	}
	return b.String() + "\n"
}

func orElse(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
