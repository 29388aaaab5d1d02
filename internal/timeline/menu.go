package timeline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/room"
)

// menu asks which participant a command is for. The answer is a number of the
// menu, an id or a name.
func (x *screen) menu(v verb) {
	seats := x.candidates(v)
	if len(seats) == 0 {
		x.warn("no seat can be chosen for " + v.name)
		return
	}
	if v.name == "release" && len(seats) == 1 {
		x.carryOut(v, seats[0].ID)
		return
	}
	var names, hints []string
	for i, s := range seats {
		names = append(names, s.ID)
		hints = append(hints, fmt.Sprintf("%d %s", i+1, x.Printer.label(s.ID)))
	}
	x.ask(&question{
		prompt: v.name, choices: names,
		hint: "which? " + strings.Join(hints, "  ") + "   a number or a name; Esc: none",
		answer: func(text string) {
			if text == "" {
				return
			}
			if id, ok := pick(seats, text); ok {
				text = id
			}
			x.carryOut(v, text)
		},
	}, "")
}

// candidates returns the participants that a command can be for.
func (x *screen) candidates(v verb) []room.SeatView {
	var out []room.SeatView
	for _, s := range x.agents() {
		if v.name != "release" || x.taken[s.ID] {
			out = append(out, s)
		}
	}
	return out
}

// pick finds a seat by its id or its whole name, or by its number in the menu.
func pick(seats []room.SeatView, text string) (id string, ok bool) {
	for _, s := range seats {
		if strings.EqualFold(s.ID, text) || s.Name != "" && strings.EqualFold(s.Name, text) {
			return s.ID, true
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(seats) {
		return seats[n-1].ID, true
	}
	return "", false
}

// choices returns the completions of the input: those of the question, else the
// commands, with participants or permission requests where a command takes one.
func (x *screen) choices() []string {
	if x.asks != nil {
		return x.asks.choices
	}
	text := x.field.Value()
	if !strings.HasPrefix(text, "/") {
		return nil
	}
	var out []string
	for _, v := range verbs() {
		name := "/" + v.name
		switch {
		case v.script:
		case !strings.Contains(text, " "):
			out = append(out, name)
		case strings.HasPrefix(v.args, "[REQUEST]"):
			for _, r := range x.requests {
				out = append(out, name+" "+r.ID)
			}
		case v.seat || strings.HasPrefix(v.args, "WHO"):
			for _, id := range x.ids() {
				out = append(out, name+" "+id)
			}
		}
	}
	return out
}

// commanding reports whether the text is a command.
func (x *screen) commanding() bool {
	text := x.field.Value()
	return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//")
}
