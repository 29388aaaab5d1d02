package timeline

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/folkmoot/moot/room"
)

// key handles a key. A key that has a text is text, always.
func (x *screen) key(k tea.KeyPressMsg) {
	asked, escaped := x.asked, x.escaped
	x.asked, x.escaped = false, time.Time{}
	text := k.Text
	if text == "" {
		text = escapedText(k)
	}
	if text != "" {
		x.unmark()
		x.input.insert(text)
		return
	}
	if k.Mod&tea.ModCtrl != 0 && k.Code == 'c' { // also behind an Escape in the same read
		x.interrupted = true
		return
	}
	switch name := k.Keystroke(); name {
	case "enter", "ctrl+j", "kpenter":
		x.enter()
	case "esc":
		x.escape(escaped)
	case "alt+esc": // two in one read
		x.escape(escaped)
		x.escape(x.escaped)
	case "tab":
		x.tab(k)
	case "ctrl+d":
		if !x.empty() {
			x.press(k)
			return
		}
		if x.asked = !asked; asked {
			x.leave()
		}
	case "ctrl+o":
		x.run("approve")
	case "ctrl+x":
		x.run("edit")
	case "ctrl+r":
		x.run("reject")
	case "ctrl+y":
		x.run("allow")
	case "ctrl+g":
		x.run("deny")
	case "ctrl+s":
		x.run("pause")
	case "ctrl+q":
		x.run("resume")
	case "ctrl+t":
		x.run("takeover")
	case "ctrl+n":
		x.run("next")
	case "ctrl+p", "f2":
		x.toggleRoster()
	case "ctrl+v", "f3":
		x.toggleInbox()
	case "f1":
		x.run("help")
	default:
		if !x.movePanel(name) && !x.scrolled(name) {
			x.press(k)
		}
	}
}

// escapedText returns the letter of a key with Alt. A terminal sends Alt and a
// letter as Escape and the letter, and so does a person who presses Escape and
// types on, over a slow line. Letters that move by words keep their meaning.
func escapedText(k tea.KeyPressMsg) string {
	if k.Mod != tea.ModAlt || k.Code < ' ' || k.Code > '~' || strings.ContainsRune("bfd", k.Code) {
		return ""
	}
	return string(k.Code)
}

// scrolled moves the timeline, if that is what the key does.
func (x *screen) scrolled(name string) bool {
	choosing := len(x.matches()) > 1
	switch {
	case name == "pgup" || name == "shift+pgup":
		x.pane.page(-1)
	case name == "pgdown" || name == "shift+pgdown":
		x.pane.page(1)
	case name == "up" && !choosing:
		x.pane.scroll(-1)
	case name == "down" && !choosing:
		x.pane.scroll(1)
	case name == "ctrl+home", name == "home" && x.empty():
		x.pane.scroll(-maxLines * 2)
	case name == "ctrl+end", name == "end" && x.empty():
		x.pane.bottom()
	case name == "ctrl+l":
		x.pane.relayout()
	default:
		return false
	}
	return true
}

// enter sends the text, answers the question, or approves the highlighted draft.
func (x *screen) enter() {
	text := strings.TrimSpace(x.text())
	switch {
	case x.asks != nil:
		q := x.asks
		x.dismiss()
		q.answer(text)
	case text != "":
		x.set("")
		x.pane.bottom()
		x.entered(text)
	case x.draftMark != "":
		x.approve()
	}
}

// entered sends a message, or carries out a command behind a slash. Two slashes
// begin a message with a slash.
func (x *screen) entered(text string) {
	command, ok := strings.CutPrefix(text, "/")
	switch {
	case !ok:
		x.run("say " + text)
	case strings.HasPrefix(command, "/"):
		x.run("say " + command)
	default:
		x.run(command)
	}
}

// run carries out a command. A command that needs a participant, a reason or a
// text that is not given asks for it.
func (x *screen) run(command string) {
	v, rest, err := parse(command)
	switch {
	case err != nil:
		x.answer(err)
	case x.inboxCommand(v, rest):
	case rest == "" && v.seat:
		x.menu(v)
	case rest == "" && v.name == "reject":
		x.rejectDraft()
	case rest == "" && v.name == "edit":
		x.editDraft()
	case v.name == "approve":
		x.approve()
	case v.name == "roster":
		x.toggleRoster()
	case v.name == "inbox":
		x.toggleInbox()
	case v.name == "help":
		x.closePanel()
		x.reply(screenHelp)
	default:
		x.carryOut(v, rest)
	}
}

// twice is the time within which a second Escape must follow the first.
const twice = 3 * time.Second

// escape leaves a question or the highlighted draft. Otherwise the second of
// two in a row stops the room. before is when the key before this one was
// pressed, if that was Escape.
func (x *screen) escape(before time.Time) {
	switch {
	case x.asks != nil:
		x.dismiss()
	case x.panel != noPanel:
		x.closePanel()
	case x.draftMark != "":
		x.unmark()
	case time.Since(before) < twice:
		x.escaped = time.Time{}
		x.act(room.Stop{})
	default:
		x.escaped = time.Now()
	}
}

// tab completes a command. On an empty line it highlights the draft that waits.
func (x *screen) tab(k tea.KeyPressMsg) {
	switch {
	case !x.empty():
		x.press(k)
	case x.asks != nil || x.draft == "" || x.panel != noPanel:
	case x.draftMark == x.draft:
		x.unmark()
	default:
		x.draftMark = x.draft
		x.pane.mark(x.draft)
	}
}

// unmark removes the highlight of the draft.
func (x *screen) unmark() {
	if x.draftMark != "" {
		x.draftMark = ""
		x.pane.mark("")
	}
}

// approve approves the draft that the person sees in the timeline.
func (x *screen) approve() {
	if x.draft == "" {
		x.warn("no draft is waiting")
		return
	}
	x.act(room.Approve{Draft: x.draft})
}

// rejectDraft asks why, and rejects the draft that waits now.
func (x *screen) rejectDraft() {
	draft := x.draft
	if draft == "" {
		x.warn("no draft is waiting")
		return
	}
	x.ask(&question{
		prompt: "reject, because", hint: "Enter rejects the draft  Esc keeps it",
		answer: func(reason string) { x.act(room.Reject{Draft: draft, Reason: reason}) },
	}, "")
}

// editDraft puts the draft that waits now into the input.
func (x *screen) editDraft() {
	d := x.Room.View().Draft
	if d == nil || x.draft == "" {
		x.warn("no draft is waiting")
		return
	}
	draft := x.draft
	x.ask(&question{
		prompt: "edit draft", hint: "Enter keeps the new text, which still waits for approval  Esc drops it",
		answer: func(text string) {
			if text == "" {
				x.warn("the new text is missing; /reject refuses the draft")
				return
			}
			x.act(room.Edit{Draft: draft, Text: text})
		},
	}, d.Message.Text)
}
