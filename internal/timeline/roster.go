package timeline

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// Marks of the seats that have the floor, and get it next.
const (
	speaksMark = "► "
	nextMark   = "› "
	noMark     = "  "
)

// markOf returns the mark of a seat. The state of the seat says the same in words.
func markOf(x room.SeatView) string {
	switch x.Phase {
	case "thinking", "waiting for approval", "waiting for permission":
		return speaksMark
	case "next":
		return nextMark
	}
	return noMark
}

// badge returns the kind of a participant, with the owner of one that is not the
// host's.
func (p *Printer) badge(x room.SeatView) string {
	s, known := p.seats[x.ID]
	badge := cmp.Or(x.Badge, p.kind(x.ID))
	switch {
	case known && s.Kind == policy.Human:
		return p.kind(x.ID)
	case s.Session || x.Presence != "":
		badge = "session"
	}
	if x.Owner != "" {
		badge += " · " + clip(x.Owner, 30)
	}
	return badge
}

// seatState returns the state of a seat in words.
func (s *Session) seatState(x room.SeatView, now time.Time) string {
	switch x.Phase {
	case "thinking":
		if s.taken[x.ID] {
			return "you have the floor" + s.elapsed(now)
		}
		return "thinking" + s.elapsed(now)
	case "waiting for permission":
		if len(s.view.Requests) > 0 {
			return x.Phase + " " + clockOf(s.left(s.view.Requests[0], now))
		}
	case "cooling":
		return fmt.Sprintf("cooling, %s left", plural(x.Cooling, "turn"))
	case "taken over":
		return x.Phase + s.Printer.by(strings.TrimPrefix(x.Why, "by "))
	case "waiting for approval":
		return x.Phase
	case "idle":
		if x.Kind == policy.Human {
			return ""
		}
		return cmp.Or(term.Line(x.Why), x.Phase)
	}
	if x.Why != "" {
		return x.Phase + ": " + term.Line(x.Why)
	}
	return x.Phase
}

// seatFacts returns what the roster says of a seat besides its state.
func (p *Printer) seatFacts(x room.SeatView) []string {
	facts := []string{p.badge(x)}
	if x.Kind == policy.Human {
		return facts
	}
	if mode := string(x.Mode); mode != "" {
		if x.ModeSet {
			mode += " until the room ends"
		}
		facts = append(facts, mode)
	}
	facts = append(facts, plural(x.Turns, "turn"), human.Rough(thousands(x.Tokens), x.Estimated)+" tokens")
	if x.Cost > 0 {
		facts = append(facts, "cost "+human.Rough(human.Money(x.Cost), x.CostEstimated))
	}
	for _, m := range x.Budget {
		facts = append(facts, fmt.Sprintf("%d %% of its budget of the %s", m.Share, m.Window))
	}
	if x.Failed > 0 {
		failed := plural(x.Failed, "failure")
		if x.Failures > 0 {
			failed += fmt.Sprintf(", %d in a row", x.Failures)
		}
		facts = append(facts, failed)
	}
	return facts
}

// plural returns a count of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// roster lists the participants of the room, one a line.
func (s *Session) roster() string {
	var b strings.Builder
	for _, x := range s.Room.View().Seats {
		facts := s.Printer.seatFacts(x)
		line := fmt.Sprintf("%s%-14s %-7s %s  %s", markOf(x), clip(x.ID, 14), facts[0], clip(strings.Join(facts[1:], " · "), 70), clip(s.seatState(x, time.Now()), 90))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// A rosterForm says how many lines of a roster a seat has, from the longest to the
// shortest form.
type rosterForm int

const (
	spaced    rosterForm = iota // all facts, and a blank line
	whole                       // all facts
	twoLines                    // state and facts, each in one line
	stateOnly                   // one line, without the facts
)

// rosterLines returns the roster in lines of a panel: a few for each seat with a blank
// line between two, or as few as are needed to fit into the height. It returns the
// first line of the seat that speaks too, -1 for none.
func (s *Session) rosterLines(st Style, width, height int, now time.Time) (lines []string, speaks int) {
	p, column := s.Printer.with(st), 4
	for _, x := range s.view.Seats {
		column = max(column, min(columns(p.label(x.ID))+2, width/2))
	}
	for form := spaced; form <= stateOnly; form++ {
		lines, speaks = nil, -1
		for i, x := range s.view.Seats {
			if form == spaced && i > 0 {
				lines = append(lines, "")
			}
			if markOf(x) == speaksMark {
				speaks = len(lines)
			}
			lines = append(lines, p.seatLines(x, s.seatState(x, now), column, width, form)...)
		}
		if len(lines) <= height {
			break
		}
	}
	return lines, speaks
}

// seatLines returns a seat of a roster, with its state in a column of its own.
func (p *Printer) seatLines(x room.SeatView, state string, column, width int, form rosterForm) []string {
	code, facts := "", p.seatFacts(x)
	switch markOf(x) {
	case speaksMark:
		code = green
	case nextMark:
		code = yellow
	}
	label := clip(p.label(x.ID), max(1, column-2))
	first := p.paint(code, markOf(x)) + p.paint(p.colorOf(x.ID), label) + strings.Repeat(" ", column-columns(label))
	rest := max(1, width-columns(noMark)-column)
	var lines []string
	if columns(state) <= rest || form >= twoLines {
		lines = append(lines, first+p.paint(code, clip(state, rest)))
	} else {
		lines = append(lines, first)
		for _, part := range wrap(state, width-2) {
			lines = append(lines, noMark+p.paint(code, part))
		}
	}
	switch form {
	case stateOnly:
	case twoLines:
		lines = append(lines, noMark+p.paint(dim, clip(strings.Join(facts, " · "), width-2)))
	default:
		for _, part := range joinFacts(facts, width-2) {
			lines = append(lines, noMark+p.paint(dim, part))
		}
	}
	return lines
}

// joinFacts joins facts with a dot in lines of at most width columns. A fact is
// broken only if it is longer than a line.
func joinFacts(facts []string, width int) (lines []string) {
	line := ""
	for _, f := range facts {
		switch joined := line + " · " + f; {
		case line == "":
			line = f
		case columns(joined) <= width:
			line = joined
		default:
			lines, line = append(lines, wrap(line, width)...), f
		}
	}
	return append(lines, wrap(line, width)...)
}
