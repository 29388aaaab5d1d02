package timeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// line runs a command of a script, or holds it until it can run.
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

// retry runs the held command if it can run now.
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

// carryOut runs a command.
func (s *Session) carryOut(v verb, rest string, act func(room.Act)) {
	switch v.name {
	case "quit":
		s.leave(act)
	case "help":
		s.show(s.Err, help())
	case "roster":
		s.show(s.Err, s.roster())
	case "wait":
	default:
		do, err := v.act(s, rest)
		if err != nil {
			s.answer(err)
			return
		}
		act(do)
	}
}

// answer shows the person why a command was refused.
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

// roster lists the participants of the room.
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
