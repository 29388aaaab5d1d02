package timeline

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
)

// lowPanel is the number of lines below which a panel has no heading, and the chosen item
// only.
const lowPanel = 7

// inboxPanel is the list of what waits, with the chosen item whole below it.
func (x *screen) inboxPanel(width, height int, now time.Time) (lines []string) {
	st, w := x.pane.style, &x.waits
	list, at, n := x.inboxList(width, now), max(0, w.index(w.chosen)), 1
	if height >= lowPanel || len(list) == 0 {
		lines = append(lines, st.paint(bold, "INBOX")+st.paint(dim, clip("  "+w.summary(), width-5)))
		n = max(minLines, (height-1)/maxShare)
	}
	if w.lost != nil {
		lines = append(lines, x.inboxNotes("other rooms are not known: "+term.Line(problemText(w.lost)), width)...)
	}
	n = min(n, len(list))
	top := max(0, min(at-n/2, len(list)-n))
	lines = append(lines, list[top:top+n]...)
	if height >= lowPanel && len(list) > 0 {
		lines = append(lines, x.inboxRule(width, at+1, len(list)))
	}
	if w.said != "" {
		lines = append(lines, x.inboxNotes(w.said, width)...)
	}
	if chosen, ok := w.current(); ok {
		x.showDetail(chosen, width, max(1, height-len(lines)))
		lines = append(lines, strings.Split(x.detail.View(), "\n")...)
	}
	return lines
}

// inboxList returns a line for each item: what it is, whose, how long it waits or how it
// has ended, and its room.
func (x *screen) inboxList(width int, now time.Time) (lines []string) {
	var rows [][4]string
	var wide [4]int
	for _, e := range x.waits.entries {
		row := [4]string{e.Kind, x.agentOf(e), x.waitsSince(e, now), x.roomOf(e)}
		for i, cell := range row {
			row[i] = clip(cell, max(10, width/3))
			wide[i] = max(wide[i], columns(row[i]))
		}
		rows = append(rows, row)
	}
	for i, row := range rows {
		mark, code := noMark, ""
		if x.waits.entries[i].ended != "" {
			code = dim
		}
		if x.waits.entries[i].ID == x.waits.chosen {
			mark, code = speaksMark, reverse
		}
		line := mark
		for c, cell := range row[:3] {
			line += cell + strings.Repeat(" ", wide[c]-columns(cell)+2)
		}
		lines = append(lines, x.pane.style.paint(code, clip(line+row[3], width)))
	}
	return lines
}

// inboxRule is the line between the list and the item.
func (x *screen) inboxRule(width, number, of int) string {
	tail := fmt.Sprintf(" %d of %d ──", number, of)
	text := clip("── "+x.waits.chosen+" ", max(1, width-columns(tail)))
	return x.pane.style.paint(dim, text+strings.Repeat("─", max(0, width-columns(text+tail)))+tail)
}

// maxNote is the number of lines of a note.
const maxNote = 3

// inboxNotes returns the lines of what the inbox says about itself, such as the answer to the
// last key.
func (x *screen) inboxNotes(text string, width int) (lines []string) {
	for _, line := range wrap("! "+text, width) {
		lines = append(lines, x.pane.style.paint(yellow, line))
	}
	return lines[:min(len(lines), maxNote)]
}

// labels returns the Printer that knows the participants of the room of an item.
func (x *screen) labels(e entry) *Printer {
	if e.Room == x.view.Room {
		return x.Printer.with(x.pane.style)
	}
	return &Printer{Style: x.pane.style}
}

func (x *screen) agentOf(e entry) string {
	return fmt.Sprintf("%s #%d", x.labels(e).label(e.Agent), e.Turn)
}

func (x *screen) roomOf(e entry) string {
	if e.Room == x.view.Room {
		return "this room"
	}
	return cmp.Or(e.Name, e.Room)
}

// waitsSince says how long an item waits or still waits, or how it has ended.
func (x *screen) waitsSince(e entry, now time.Time) string {
	switch {
	case e.ended != "":
		return e.ended
	case e.Kind != inbox.Draft && e.Room == x.view.Room:
		for _, r := range x.view.Requests {
			if e.ID == e.Room+"/"+r.ID {
				return clockOf(x.left(r, now)) + " left"
			}
		}
	case e.Phase != string(room.PhaseLive):
		return "the room is " + e.Phase
	case !e.Until.IsZero():
		return clockOf(max(0, e.Until.Sub(now))) + " left"
	case !e.Since.IsZero():
		return "waits " + clockOf(max(0, now.Sub(e.Since)))
	}
	return "waits"
}

// showDetail shows an item whole, from its first line if another was shown before.
func (x *screen) showDetail(e entry, width, height int) {
	x.detail.SetWidth(width)
	x.detail.SetHeight(height)
	key := fmt.Sprint(width, e.ID)
	if key == x.detailOf {
		x.detail.SetYOffset(x.detail.YOffset()) // within the new bounds
		return
	}
	st := x.pane.style
	st.Width = width
	p := x.labels(e).with(st)
	var text string
	switch {
	case e.Kind != inbox.Draft:
		_, id, _ := strings.Cut(e.ID, "/")
		text = p.asked(room.PermissionAsked{Turn: e.Turn, Participant: e.Agent, ID: id, Permission: requestOf(e.Item)})
	default:
		facts := []string{"room " + cmp.Or(e.Name, e.Room), "waits for approval (" + e.Why + ")"}
		if e.To != "" && e.To != room.Broadcast {
			facts = append(facts, "to "+p.label(e.To))
		}
		if e.Edited {
			facts = append(facts, "edited")
		}
		text = p.header("DRAFT ", e.Turn, e.Agent, facts) + p.unsaid(e.Text)
	}
	x.detail.SetContentLines(strings.Split(strings.TrimRight(text, "\n"), "\n"))
	x.detail.SetYOffset(0)
	x.detailOf = key
}

// requestOf returns what an agent asks for.
func requestOf(x inbox.Item) room.Permission {
	if x.Permission == nil {
		return room.Permission{Question: x.Question}
	}
	return *x.Permission
}

// answerChosen answers the chosen item. It is not answered if it has ended.
func (x *screen) answerChosen(a inbox.Answer) {
	e, ok := x.waits.current()
	x.waits.said = ""
	switch {
	case !ok:
		x.warn("nothing waits for you")
		return
	case e.ended != "":
		x.warn("nothing was answered: " + e.ended)
		return
	case a.Answer == inbox.Always && !requestOf(e.Item).Always:
		x.warn("the agent does not offer to remember an answer")
		return
	}
	_, id, err := inbox.Split(e.ID)
	var do room.Act
	if err == nil {
		do, err = a.Act(id)
	}
	switch {
	case err != nil:
		x.answer(err)
	case e.Room == x.view.Room:
		x.act(do)
	default:
		x.elsewhere(e.ID, a)
	}
}

// rejectChosen asks why, and rejects the chosen item.
func (x *screen) rejectChosen() {
	e, ok := x.waits.current()
	if !ok || e.ended != "" {
		x.answerChosen(inbox.Answer{Answer: inbox.Reject})
		return
	}
	x.ask(&question{
		prompt: "reject, because", hint: "Enter rejects it  Esc keeps it",
		answer: func(reason string) {
			x.waits.answerOnly(e.ID, func() { x.answerChosen(inbox.Answer{Answer: inbox.Reject, Reason: reason}) })
		},
	}, "")
}

// editChosen puts the chosen draft into the input.
func (x *screen) editChosen() {
	e, ok := x.waits.current()
	if !ok || e.ended != "" || e.Kind != inbox.Draft {
		x.answerChosen(inbox.Answer{Answer: inbox.Edit})
		return
	}
	x.ask(&question{
		prompt: "edit draft", hint: "Enter keeps the new text, which still waits for approval  Esc drops it",
		answer: func(text string) {
			x.waits.answerOnly(e.ID, func() {
				x.waits.edited = turnOf(e.Item)
				x.answerChosen(inbox.Answer{Answer: inbox.Edit, Text: text, Keep: true})
			})
		},
	}, e.Text)
}

// answerOnly calls answer while the item with that id is chosen.
func (w *waiting) answerOnly(id string, answer func()) {
	before := w.chosen
	w.chosen = id
	answer()
	if w.index(before) >= 0 {
		w.chosen = before
	}
}

// inboxCommand carries out a command that answers the chosen item, if it is one. A
// command that names a request answers that one.
func (x *screen) inboxCommand(v verb, rest string) bool {
	if x.panel != inboxPanel || requestID.MatchString(firstWord(rest)) {
		return false
	}
	switch v.name {
	case "approve", "allow":
		x.answerChosen(inbox.Answer{Answer: inbox.Approve})
	case "always":
		x.answerChosen(inbox.Answer{Answer: inbox.Always})
	case "deny":
		x.answerChosen(inbox.Answer{Answer: inbox.Deny, Reason: rest})
	case "reject":
		if rest == "" {
			x.rejectChosen()
			break
		}
		x.answerChosen(inbox.Answer{Answer: inbox.Reject, Reason: rest})
	case "reply":
		x.replyChosen(rest)
	case "edit":
		if rest == "" {
			x.editChosen()
			break
		}
		x.answerChosen(inbox.Answer{Answer: inbox.Edit, Text: rest, Keep: true})
	default:
		return false
	}
	return true
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// inboxHint returns the keys of the inbox.
func (x *screen) inboxHint() string {
	e, ok := x.waits.current()
	keys := ""
	switch {
	case !ok:
		return "Esc closes  /help"
	case e.ended != "":
	case e.Kind == inbox.Permission:
		keys = "Ctrl-Y allow  Ctrl-G deny  "
		if requestOf(e.Item).Always {
			keys += "/always  "
		}
	case e.Kind == inbox.Question && e.Question != nil:
		keys = "/reply " + e.Question.Example() + "  Ctrl-G decline  "
	default:
		keys = "Ctrl-O approve  Ctrl-X edit  Ctrl-R reject  "
	}
	if len(x.waits.entries) > 1 {
		keys += "↑↓ choose  "
	}
	if x.detail.TotalLineCount() > x.detail.Height() {
		keys += "PgDn more  "
	}
	return keys + "Esc closes"
}
