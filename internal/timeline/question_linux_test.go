package timeline

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/room"
)

// split is a form with options, a number and a hostile text.
func split() *room.Question {
	most := 9.0
	return &room.Question{Message: "How shall I split it?\nBoth work.", Fields: []endpoint.Field{
		{Name: "strategy", Type: endpoint.FieldString, Title: "Strategy", Required: true, Options: []endpoint.Option{{Value: "safe", Title: "Safe", Description: "slow"}, {Value: "fast"}}},
		{Name: "parts", Type: endpoint.FieldInteger, Description: "how many", Maximum: &most, Default: json.RawMessage("2")},
		{Name: "note", Type: endpoint.FieldString, Format: "date"},
	}}
}

// TestQuestionKeys: a form is shown behind a bar, and filled in on one line.
func TestQuestionKeys(t *testing.T) {
	x := show(t, 110, 40)
	x.room.emit(room.TurnGranted{Turn: 1, Participant: "code"})
	x.room.asks("1.1", room.Permission{Kind: endpoint.ActionQuestion, Question: split()})
	x.sees("? code asks question 1.1, in its own words:", "│ Both work.", "│ field strategy (one of, required): Strategy", "│   #1 safe: Safe - slow", "│   #2 fast",
		"│ field parts (whole number, at most 9, default 2): how many", "│ field note (text, date)",
		"code waits for your answer to question 1.1, ", "/reply 1.1 strategy=#1 parts=VALUE")
	x.press("/reply parts=many\r")
	x.sees(`nothing was answered: field "parts": it is a number`)
	x.press("/reply 1.1 strategy=#2 parts=3\r")
	want := []room.Act{room.Permit{ID: "1.1", Allowed: true, Values: []byte(`{"parts":3,"strategy":"fast"}`)}}
	x.does(want...)
	x.press("/reply Safe\r")
	want = append(want, room.Permit{ID: "1.1", Allowed: true, Values: []byte(`{"strategy":"safe"}`)})
	x.does(want...)
	x.room.emit(room.PermissionAnswered{Turn: 1, ID: "1.1", Allowed: true, By: "me", Values: []byte(`{"strategy":"safe"}`)})
	x.sees(`── question 1.1 answered by you: {"strategy":"safe"}`)
	x.room.asks("1.2", room.Permission{Kind: endpoint.ActionQuestion, Question: &room.Question{Message: "Go on?"}})
	x.sees("question 1.2, in its own words:")
	x.press("\x07")
	want = append(want, room.Permit{ID: "1.2"})
	x.does(want...)
	x.room.emit(room.PermissionAnswered{Turn: 1, ID: "1.2", By: "me", Reason: "no"})
	x.sees("── question 1.2 declined by you: no")
	x.room.asks("1.3", room.Permission{Kind: "fetch"})
	x.press("/reply 1.3 a=b\r")
	x.sees("request 1.3 is no question")
	x.does(want...)
}

// TestQuestionElsewhere: a question of another room is answered in the inbox.
func TestQuestionElsewhere(t *testing.T) {
	x, b := showInbox(t, 110, 24, inbox.Item{
		ID: "r_3/4.1", Kind: inbox.Question, Room: "r_3", Agent: "coder", Turn: 4, Phase: "live", Since: time.Now(), Until: time.Now().Add(time.Hour / 2), Question: split(),
	})
	x.press("\x16")
	x.sees("► question", "? coder asks question 4.1, in its own words:", "│   #2 fast", "/reply strategy=#1 parts=VALUE")
	x.press("/reply strategy=slow parts=x\r")
	x.sees("nothing was answered: field \"parts\"")
	x.press("/reply #2\r")
	x.answers(b, `r_3/4.1 approve "" "" false {"strategy":"fast"}`)
}
