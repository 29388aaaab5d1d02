package timeline

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/folkmoot/moot/internal/term"
)

// lineBreak stands for a line feed in the field, which has one line only. It is
// a character for private use, so that text does not contain it.
const lineBreak = '\ue00a'

// An input is the line that the person types: a message, a command, or the
// answer to a question. It always has the focus.
type input struct {
	field textinput.Model
	asks  *question // nil: a message or a command
	saved string    // the text that the question interrupted
}

// A question takes over the input until it is answered or left.
type question struct {
	prompt  string
	hint    string
	choices []string // completions
	answer  func(text string)
}

// newInput returns an empty input. Its keys are those of a shell; the system
// clipboard is left to the terminal.
func newInput() input {
	f := textinput.New()
	f.Prompt = ""
	f.CharLimit = maxLine / 4
	f.ShowSuggestions = true
	f.KeyMap.Paste = key.NewBinding()
	f.KeyMap.NextSuggestion = key.NewBinding(key.WithKeys("down"))
	f.KeyMap.PrevSuggestion = key.NewBinding(key.WithKeys("up"))
	f.SetVirtualCursor(false)
	f.Focus()
	return input{field: f}
}

func (in *input) text() string {
	return strings.ReplaceAll(in.field.Value(), string(lineBreak), "\n")
}

func (in *input) empty() bool { return in.field.Value() == "" }

// set replaces the text and puts the cursor at its end.
func (in *input) set(text string) {
	in.field.SetValue(oneLine(text))
	in.field.CursorEnd()
}

func oneLine(text string) string {
	return strings.NewReplacer("\r\n", string(lineBreak), "\r", string(lineBreak), "\n", string(lineBreak)).Replace(text)
}

// press gives a key to the field.
func (in *input) press(msg tea.KeyPressMsg) {
	in.field, _ = in.field.Update(msg) // its commands only blink a cursor
}

// insert inserts text at the cursor.
func (in *input) insert(text string) {
	in.field, _ = in.field.Update(tea.PasteMsg{Content: oneLine(text)})
}

// ask begins a question. The text so far comes back when the question ends.
func (in *input) ask(q *question, text string) {
	if in.asks == nil {
		in.saved = in.text()
	}
	in.asks = q
	in.set(text)
}

// dismiss ends a question without an answer.
func (in *input) dismiss() {
	in.asks = nil
	in.set(in.saved)
	in.saved = ""
}

// matches returns the possible completions of the text, if it has any left.
func (in *input) matches() []string {
	found := in.field.MatchedSuggestions()
	if len(found) == 1 && strings.EqualFold(found[0], in.field.Value()) || !in.atEnd() {
		return nil
	}
	return found
}

func (in *input) atEnd() bool { return in.field.Position() == len([]rune(in.field.Value())) }

// completion returns what Tab would append.
func (in *input) completion() string {
	if len(in.matches()) == 0 {
		return ""
	}
	full, typed := []rune(in.field.CurrentSuggestion()), []rune(in.field.Value())
	return string(full[min(len(typed), len(full)):])
}

// line returns the part of the text around the cursor that fits into width
// columns, the completion after it, and the column of the cursor.
func (in *input) line(width int) (text, completion string, col int) {
	value := []rune(in.field.Value())
	at := in.field.Position()
	head := tailWidth(shown(value[max(0, at-2*width):at]), width-1)
	col = columns(head)
	tail := shown(value[at:min(len(value), at+2*width)])
	if rest := width - col; tail != "" && columns(tail) > rest {
		tail = cutWidth(tail, rest)
		if columns(tail) > rest {
			tail = ""
		}
	}
	completion = in.completion()
	if used := columns(head + tail); completion != "" && columns(completion) > width-used {
		completion = ""
	}
	return head + tail, completion, col
}

// tailWidth returns the longest end of s that is at most width columns wide.
func tailWidth(s string, width int) string {
	for excess := columns(s) - width; excess > 0 && s != ""; excess = columns(s) - width {
		s = s[len(cutWidth(s, excess)):]
	}
	return s
}

// shown returns text as one safe line. A draft that is edited is text of an
// agent.
func shown(text []rune) string {
	text = slices.Clone(text)
	for i, r := range text {
		if r == lineBreak {
			text[i] = '⏎'
		}
	}
	return term.Line(string(text))
}
