package timeline

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/room"
)

// An input is the source of keys or commands of the person.
type input struct {
	keys  chan []byte
	lines chan string // closed at the end
}

// maxLine bounds a command; a message of the default output limit fits.
const maxLine = 1 << 20

// read starts the goroutine that reads In.
func (s *Session) read(quit <-chan struct{}) input {
	in := input{}
	if s.raw != nil {
		in.keys = make(chan []byte)
		go s.readKeys(in.keys, quit)
		return in
	}
	in.lines = make(chan string)
	go s.readLines(in.lines, quit)
	return in
}

func (s *Session) readKeys(keys chan<- []byte, quit <-chan struct{}) {
	for {
		b := make([]byte, 4096)
		n, err := s.In.Read(b)
		if err != nil {
			return
		}
		select {
		case keys <- b[:n]:
		case <-quit:
			return
		}
	}
}

func (s *Session) readLines(lines chan<- string, quit <-chan struct{}) {
	defer close(lines)
	if s.In == nil {
		return
	}
	scan := bufio.NewScanner(s.In)
	scan.Buffer(nil, maxLine)
	for scan.Scan() {
		select {
		case lines <- strings.TrimSpace(scan.Text()):
		case <-quit:
			return
		}
	}
}

// keys handles the keys of one read. Several characters at once are a paste or
// fast typing, so they are text, not commands. The same key twice, as in q q, is
// not a paste.
func (s *Session) keys(b []byte, act func(room.Act)) {
	keys := decodeKeys(b)
	if s.edit == nil && s.menu == nil && len(keys) > 1 && keys[0] > ' ' && keys[1] >= ' ' && keys[1] != keys[0] {
		s.edit = &editor{}
	}
	for _, k := range keys {
		switch {
		case k == keyInterrupt:
			s.interrupt(act)
		case s.edit != nil:
			s.typed(k, act)
		case s.menu != nil:
			s.chosen(k, act)
		default:
			s.pressed(k, act)
		}
	}
}

// interrupt restores the terminal first, so that the next Ctrl-C is a signal
// again and ends moot immediately.
func (s *Session) interrupt(act func(room.Act)) {
	s.raw = nil
	s.Screen.Close()
	if s.Interrupt != nil {
		s.Interrupt()
		return
	}
	s.leave(act)
}

// typed handles a key of the line editor.
func (s *Session) typed(k key, act func(room.Act)) {
	switch {
	case k == keyEscape, k == keyEnd && len(s.edit.text) == 0:
		s.edit = nil
	case k == keyEnter:
		text := strings.TrimSpace(s.edit.String())
		s.edit = nil
		s.entered(text, act)
	default:
		s.edit.press(k)
	}
}

// entered runs a typed line: a command after a slash, otherwise a message.
func (s *Session) entered(text string, act func(room.Act)) {
	if text == "" {
		return
	}
	command, ok := strings.CutPrefix(text, "/")
	if !ok {
		command = "say " + text
	}
	v, rest, err := parse(command)
	if err != nil {
		s.answer(err)
		return
	}
	s.carryOut(v, rest, act)
}

// twice is the time within which a second Escape must follow the first.
const twice = time.Second

// pressed runs the command of a key. Any other key starts a message.
func (s *Session) pressed(k key, act func(room.Act)) {
	asked := s.asked
	s.asked = false
	switch k {
	case keyEscape:
		if time.Since(s.escaped) < twice {
			act(room.Stop{})
		}
		s.escaped = time.Now()
	case 'q', keyEnd:
		s.asked = !asked
		if asked {
			s.leave(act)
		}
	case 'p':
		s.pauseOrResume(act)
	case 'a', 'e', 'x':
		s.review(k, act)
	case 's', keyEnter:
		s.edit = &editor{}
	case 't':
		s.menu = func(x room.SeatView) room.Act { return room.TakeOver{Participant: x.ID} }
	case 'n':
		s.menu = func(x room.SeatView) room.Act { return room.Next{Participant: x.ID} }
	case 'm':
		s.menu = mute
	case 'r':
		s.releaseSeat(act)
	case '?', 'h':
		s.show(s.Err, keyHelp+"\nCommands, behind a /:\n"+help())
	default:
		if k > ' ' {
			s.edit = &editor{}
			s.edit.press(k)
		}
	}
}

const keyHelp = `Keys:
  p pause, resume       s say something (or just begin to type, then Enter)
  a approve  e edit  x reject: the draft that waits
  t take over a seat    r release it    n give an agent the floor    m mute, unmute
  Esc Esc stop the room    q q pause and leave    Ctrl-C pause and leave
`

func (s *Session) pauseOrResume(act func(room.Act)) {
	switch s.phase {
	case room.PhaseLive:
		s.pausing = true
		act(room.Pause{})
	case room.PhasePaused, room.PhaseError:
		act(room.Resume{})
	default:
		s.warn("the room has ended")
	}
}

// review approves, rejects or edits the draft that the person sees.
func (s *Session) review(k key, act func(room.Act)) {
	switch {
	case s.draft == "":
		s.warn("no draft is waiting; s says something")
	case k == 'a':
		act(room.Approve{Draft: s.draft})
	case k == 'x':
		act(room.Reject{Draft: s.draft})
	default:
		if d := s.Room.View().Draft; d != nil {
			s.edit = &editor{}
			s.edit.set("/edit " + d.Message.Text)
		}
	}
}

func mute(x room.SeatView) room.Act {
	if x.Phase == string(room.Muted) {
		return room.SetStanding{Participant: x.ID, Standing: room.Active}
	}
	return room.SetStanding{Participant: x.ID, Standing: room.Muted}
}

// releaseSeat releases a seat that the person has taken over.
func (s *Session) releaseSeat(act func(room.Act)) {
	switch len(s.taken) {
	case 0:
		s.warn("you have taken over no seat")
	case 1:
		for id := range s.taken {
			act(room.Release{Participant: id})
		}
	default:
		s.menu = func(x room.SeatView) room.Act { return room.Release{Participant: x.ID} }
	}
}

// chosen handles a key of a menu.
func (s *Session) chosen(k key, act func(room.Act)) {
	menu := s.menu
	s.menu = nil
	if i := int(k - '1'); i >= 0 && i < min(9, len(s.agents())) {
		act(menu(s.agents()[i]))
	}
}

// choices returns the line of a menu, with the agents to choose from.
func (s *Session) choices() string {
	var b strings.Builder
	b.WriteString("which? ")
	for i, x := range s.agents() {
		if i == 9 {
			break
		}
		b.WriteString(fmt.Sprintf(" %d %s ", i+1, s.Printer.label(x.ID)))
	}
	return clip(b.String()+" Esc none", s.screenWidth()-1)
}

// prompt returns the prompt of the line editor.
func (s *Session) prompt() string {
	if strings.HasPrefix(s.edit.String(), "/") {
		return "command "
	}
	if own := s.mine(); own != "" {
		return clip(s.Printer.label(own), 20) + "> "
	}
	return "say> "
}
