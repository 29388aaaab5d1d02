package timeline

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/coordinator"
)

// maxLine bounds a command in bytes; a message of the default output limit fits.
const maxLine = 1 << 20

// runLines shows the session line by line and reads commands from in, one a
// line. It returns when the session is over, and pauses the room when ctx ends.
// Without input it pauses the room at once.
func (s *Session) runLines(ctx context.Context, in io.Reader) error {
	quit := make(chan struct{})
	inbox := make(chan any)
	stop := s.start(ctx, func(m any) {
		select {
		case inbox <- m:
		case <-quit:
		}
	})
	defer stop()
	defer close(quit)
	commands := make(chan string)
	if s.Terminal == nil {
		go readLines(in, commands, quit)
	} else {
		s.leave()
	}
	for !s.over() {
		lines := commands
		if s.ended || s.held != "" || !s.current() { // closed, commands is always ready
			lines = nil
		}
		select {
		case <-ctx.Done():
			ctx = context.WithoutCancel(ctx)
			s.leave()
		case m := <-inbox:
			if end, err := s.handle(m); end {
				return err
			}
		case line, ok := <-lines:
			s.command(line, ok)
		}
	}
	return nil
}

// readLines sends the lines of in to commands, which it closes at the end.
func readLines(in io.Reader, commands chan<- string, quit <-chan struct{}) {
	defer close(commands)
	if in == nil {
		return
	}
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxLine)
	for scan.Scan() {
		select {
		case commands <- strings.TrimSpace(scan.Text()):
		case <-quit:
			return
		}
	}
}

// command runs a command of a script, or holds it until it can run.
func (s *Session) command(text string, ok bool) {
	switch {
	case !ok:
		s.ended = true
		s.unattended()
		return
	case text == "":
		return
	}
	s.held = text
	s.retry()
}

// retry runs the held command if it can run now.
func (s *Session) retry() {
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
	s.carryOut(v, rest)
	s.unattended()
}

// carryOut runs a command.
func (s *Session) carryOut(v verb, rest string) {
	switch v.name {
	case "quit":
		s.leave()
	case "help":
		s.reply(func(Style) string { return help() })
	case "inbox":
		s.reply(func(Style) string { return "`moot inbox` lists what waits in all rooms\n" })
	case "roster":
		text := s.roster()
		s.reply(func(Style) string { return text })
	case "wait":
		_, err := condition(rest)
		s.answer(err)
	default:
		do, err := v.act(s, rest)
		if err != nil {
			s.answer(err)
			return
		}
		s.act(do)
	}
}

// answer shows the person why a command was refused.
func (s *Session) answer(err error) {
	if err == nil || errors.Is(err, coordinator.ErrClosed) || errors.Is(err, context.Canceled) {
		return
	}
	text := problemText(err)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Fix != "" {
		text += "\n  fix: " + p.Fix
	}
	s.warn(text)
}

// problemText returns an error without its fix.
func problemText(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.What + "   [" + p.Code + "]"
	}
	return err.Error()
}

// warn tells the person what was not done. The inbox has a line of its own for that.
func (s *Session) warn(text string) {
	if s.waits.shown {
		s.waits.said = term.Line(strings.ReplaceAll(text, "\n  fix: ", "; fix: "))
		return
	}
	s.reply(func(st Style) string { return st.paint(yellow, "! ") + st.body(text, "") })
}
