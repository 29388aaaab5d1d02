package timeline

import "strings"

// keyHelp are the keys of a screen, in the order of help.
var keyHelp = [][2]string{
	{"Enter", "send the line as a message; approve the highlighted draft"},
	{"/ and //", "begin a command, and a message with a slash"},
	{"Tab", "complete a command; on an empty line: highlight the draft that waits"},
	{"Ctrl-O", "approve the draft"},
	{"Ctrl-X", "edit the draft"},
	{"Ctrl-R", "reject the draft, with a reason"},
	{"Ctrl-Y Ctrl-G", "allow or deny what an agent asks for, the oldest request first"},
	{"Ctrl-S Ctrl-Q", "pause, resume"},
	{"Ctrl-T Ctrl-N", "take over a seat, give an agent the floor"},
	{"Ctrl-P F2", "show or hide the roster"},
	{"Ctrl-V F3", "show or hide the inbox; there, the keys above answer the chosen item"},
	{"PgUp PgDn", "scroll, also with the arrows"},
	{"Home End", "begin and end of the line; of the timeline if the line is empty"},
	{"Alt-B Alt-F", "move by words; Ctrl-W, Ctrl-U and Ctrl-K delete, as in a shell"},
	{"Esc", "leave a question, the roster, the inbox or the highlighted draft"},
	{"Esc Esc", "stop the room"},
	{"Ctrl-D Ctrl-D", "pause and leave, as Ctrl-C does; with moot attach only leave"},
}

// screenHelp lists the keys and commands of a screen.
func screenHelp(st Style) string {
	var b strings.Builder
	for _, k := range keyHelp {
		st.entry(&b, 15, k[0], k[1])
	}
	b.WriteString("\n")
	for _, v := range verbs() {
		if !v.script {
			st.entry(&b, 26, strings.TrimSpace("/"+v.name+" "+v.args), v.help)
		}
	}
	return b.String()
}

// entry writes a term and its explanation, which begins at a column of its own
// if the terminal is wide enough.
func (s Style) entry(b *strings.Builder, column int, term, text string) {
	indent := column + 2
	if s.width() < 2*indent {
		b.WriteString("  " + s.paint(bold, term) + "\n" + s.body(text, "    "))
		return
	}
	gap := strings.Repeat(" ", max(1, column-columns(term)))
	for i, line := range wrap(text, s.width()-indent) {
		if i == 0 {
			b.WriteString("  " + s.paint(bold, term) + gap + line + "\n")
		} else {
			b.WriteString(strings.Repeat(" ", indent) + line + "\n")
		}
	}
}
