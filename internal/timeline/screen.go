package timeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
)

// A screen is the view of a session in a terminal: the timeline, the state of
// the room, and the line that the person types. All methods run in the loop of
// the program.
type screen struct {
	*Session
	input
	panels
	width, height int
	draftMark     string    // hash of the highlighted draft, or ""
	escaped       time.Time // when Escape was pressed, if no other key followed
	asked         bool      // Ctrl-D was pressed once
	interrupted   bool      // Ctrl-C was pressed
	others        *notes
	done          bool  // the room is no longer watched
	fault         error // why
}

// Messages of the program besides those of the room.
type (
	tick    struct{}
	written struct{} // other parts of the process wrote to the terminal
)

// framesPerSecond bounds how often the terminal is written to.
const framesPerSecond = 30

// runScreen shows the session in its terminal until the session is over, ctx
// ends, the person presses Ctrl-C or the terminal fails. The terminal is then
// as it was before, with the timeline written to it. It returns whether the
// session is over.
func (s *Session) runScreen(ctx context.Context) (over bool, err error) {
	x := &screen{Session: s, input: newInput(), others: newNotes()}
	s.pane = newPane(s.Terminal.Color)
	s.showHead()
	x.detail = viewport.New()
	program := tea.NewProgram(x, tea.WithInput(s.Terminal.In), tea.WithOutput(s.Terminal.Out), tea.WithEnvironment(environment()),
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond))
	stop := s.start(ctx, func(m any) { program.Send(m) })
	background, end := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { x.background(background, program) })
	restore := func() {}
	if s.Terminal.Divert != nil {
		restore = s.Terminal.Divert(x.others)
	}
	_, err = program.Run()
	end()
	group.Wait()
	stop()
	restore()
	rest, _ := x.others.take()
	s.leaveScreen(rest)
	switch {
	case x.done:
		return true, x.fault
	case s.over():
		return true, nil
	case x.interrupted && s.Interrupt != nil:
		s.Interrupt()
		return false, nil
	case ctx.Err() != nil:
		return false, nil
	case errors.Is(err, tea.ErrProgramPanic):
		return false, err
	}
	return false, nil
}

// environment is that of the process. The variables of tmux are left out,
// because the library would start tmux to ask for its colours.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TMUX") {
			env = append(env, v)
		}
	}
	return env
}

// background wakes the program for its clocks and for what others wrote, and
// ends it with ctx.
func (x *screen) background(ctx context.Context, program *tea.Program) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			program.Quit()
			return
		case <-x.others.more:
			program.Send(written{})
		case <-t.C:
			program.Send(tick{})
		}
	}
}

// leaveScreen writes the timeline to the terminal, which has forgotten the
// screen, and what could not be shown any more.
func (s *Session) leaveScreen(rest string) {
	p := s.pane
	s.pane = nil
	style := p.style
	style.Width = min(style.Width, maxWidth)
	_, _ = s.Terminal.Out.WriteString(p.text(style) + rest) // a terminal that has gone away has no reader
}

// Init implements tea.Model.
func (x *screen) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (x *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		x.width, x.height = msg.Width, msg.Height
		x.fit()
	case tea.KeyPressMsg:
		x.key(msg)
	case tea.PasteMsg:
		x.escaped = time.Time{}
		x.unmark()
		x.insert(msg.Content)
	case written:
		var text string
		if text, x.working = x.others.take(); text != "" {
			x.pane.add(block{render: func(s Style) string { return s.body(text, "") }})
		}
	case tick:
	default:
		x.done, x.fault = x.handle(msg)
	}
	if x.pane.replied && x.panel == rosterPanel {
		x.closePanel()
	}
	x.pane.replied = false
	x.field.SetSuggestions(x.choices())
	if x.draftMark != x.draft {
		x.unmark()
	}
	if x.done || x.interrupted || x.over() {
		return x, tea.Quit
	}
	return x, nil
}

// chrome is the number of lines around the timeline. Small terminals leave out
// the keys, then the head.
func (x *screen) chrome() int {
	switch {
	case x.height >= 8:
		return 4
	case x.height >= 5:
		return 3
	}
	return 2
}

// View implements tea.Model.
func (x *screen) View() tea.View {
	if x.width == 0 {
		return tea.View{AltScreen: true}
	}
	now := time.Now()
	var lines []string
	chrome := x.chrome()
	if chrome > 3 {
		lines = append(lines, x.head(now))
	}
	lines = append(lines, x.main(now), x.rule(now))
	typed, col := x.typed()
	lines = append(lines, typed)
	if chrome > 2 {
		lines = append(lines, x.pane.style.paint(dim, clip(x.hint(), x.width)))
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	row := x.height - 1
	if chrome > 2 {
		row--
	}
	v.Cursor = tea.NewCursor(min(col, x.width-1), row)
	return v
}

// minName is the number of columns that a room's name keeps before its meters are left
// out.
const minName = 8

// head returns the first line: the room at the left, its meters at the right.
func (x *screen) head(now time.Time) string {
	st := x.pane.style
	for parts := x.meters(now); len(parts) > 0; parts = parts[:len(parts)-1] {
		meters := strings.Join(parts, "  ")
		name := clip(x.title(), max(minName, x.width-columns(meters)-2))
		if gap := x.width - columns(name) - columns(meters); gap >= 2 {
			return st.paint(bold, name) + strings.Repeat(" ", gap) + st.paint(dim, meters)
		}
	}
	return st.paint(bold, clip(x.title(), x.width))
}

// title returns the name of the room and its badge.
func (x *screen) title() string {
	name := cmp.Or(x.view.Name, x.view.Room)
	if b := x.Printer.Badge; b != "" {
		name += "  " + b
	}
	return name
}

// rule returns the line between the timeline and the input, with the state of
// the room and the number of unseen blocks.
func (x *screen) rule(now time.Time) string {
	st := x.pane.style
	text, code := x.state(x.view, now)
	tail := ""
	if n := x.waits.count(); n > 0 {
		tail = fmt.Sprintf(" inbox %d ", n)
	}
	if n := x.pane.unseen; n > 0 && x.panel == noPanel {
		tail += fmt.Sprintf(" %d new ↓ ", n)
	} else if x.below() {
		tail += " more ↓ "
	}
	room := x.width - columns(tail) - 6
	if room < 4 {
		return st.paint(code, clip(text, x.width))
	}
	text = " " + clip(text, room) + " "
	fill := max(0, x.width-columns(text)-columns(tail)-4)
	return st.paint(dim, "──") + st.paint(code, text) + st.paint(dim, strings.Repeat("─", fill)+tail+"──")
}

// typed returns the line of the input, and the column of the cursor.
func (x *screen) typed() (line string, col int) {
	st := x.pane.style
	prompt := clip(x.prompt(), max(2, x.width/2))
	text, completion, at := x.line(max(2, x.width-columns(prompt)-1))
	return st.paint(bold, prompt) + text + st.paint(dim, completion), columns(prompt) + at
}

// prompt says what Enter does with the text.
func (x *screen) prompt() string {
	switch {
	case x.asks != nil:
		return x.asks.prompt + "> "
	case x.commanding():
		return "command> "
	}
	if own := x.mine(); own != "" {
		return x.Printer.label(own) + "> "
	}
	return "say> "
}
