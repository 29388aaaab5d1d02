package agents

import (
	"strings"
	"testing"
)

// askOrder has the model of Claude Code ask its user.
const askOrder = `CALL:AskUserQuestion:{"questions":[{"question":"Which strategy?","header":"Strategy","multiSelect":false,"options":[{"label":"Careful","description":"slow"},{"label":"Fast","description":"risky"}]}]}`

// TestQuestion has the model order the tool by which Claude Code asks its user. The form
// waits in the inbox, is filled in from another terminal, and the tool gets the answer.
// Without a person the agent is told so, and its turn goes on.
func TestQuestion(t *testing.T) {
	for _, a := range chosen(t) {
		if a.name != "claude" { // no tool of the others asks by a form with their default settings
			continue
		}
		t.Run("answered", func(t *testing.T) { runQuestion(t, a) })
		t.Run("alone", func(t *testing.T) { runQuestionAlone(t, a) })
	}
}

func runQuestion(t *testing.T, a agent) {
	w := newTable(t, a)
	r := w.start(seating{turns: 1, opening: askOrder, attended: true})
	r.until(t, "a question", func(e event) bool { return e.Type == "permission.asked" })
	out, err := w.moot("inbox").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "claude asks question 1.1") || !strings.Contains(string(out), "#2 Fast - risky") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := w.moot("reply", "1.1", "question_0=#2").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r.until(t, "the answer", func(e event) bool { return e.Type == "permission.answered" })
	r.until(t, "the end of the turn", func(e event) bool { return e.Type == "message.posted" || e.Type == "turn.passed" })
	if text := r.text.String(); !strings.Contains(text, "Fast") || strings.Contains(text, "turn.failed") {
		t.Errorf("the room has\n%s", text)
	}
}

func runQuestionAlone(t *testing.T, a agent) {
	w := newTable(t, a)
	r := w.start(seating{turns: 1, opening: askOrder})
	ended := r.until(t, "the end of the turn", func(e event) bool {
		return strings.HasPrefix(e.Type, "turn.") && e.Type != "turn.granted" || e.Type == "message.posted" && e.Body.Turn == 1
	})
	r.end(t)
	t.Logf("the turn ended with %s", ended.Type)
	if ended.Type == "turn.failed" {
		t.Errorf("the turn failed: %s", r.text.String())
	}
}
