package endpoint

import "unicode/utf8"

// A Handoff is the wish of an agent that another one goes on. The room checks whether
// it is allowed, and its policy decides whether it is followed.
type Handoff struct {
	To     string // id of a participant, or a role that one participant has
	Reason string
}

// Bounded returns h in a form that can be stored and shown on one line.
func (h Handoff) Bounded() Handoff {
	return Handoff{To: handoffText(h.To), Reason: handoffText(h.Reason)}
}

// maxHandoffText bounds each text of a hand-off, in runes.
const maxHandoffText = 300

func handoffText(s string) string {
	return CleanLine(cut(s, 2*utf8.UTFMax*maxHandoffText), maxHandoffText)
}
