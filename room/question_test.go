package room_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// asksOf puts a question with one required field to a person.
func (b *bench) asksOf(t *testing.T, fields ...endpoint.Field) {
	t.Helper()
	err := b.act("a", room.Asked{Request: "q1", Permission: room.Permission{ID: "q", Kind: endpoint.ActionQuestion, Title: "Which?", Question: &room.Question{Message: "Which?", Fields: fields}}})
	if err != nil {
		t.Fatal(err)
	}
}

func code(err error) string {
	p, _ := errors.AsType[*problem.Error](err)
	if p == nil {
		return ""
	}
	return p.Code
}

// TestQuestion: a form is answered once, with values that fit. Other values change
// nothing, and the question waits.
func TestQuestion(t *testing.T) {
	b := opened(t, "a me/human eve/human")
	b.play("speak a go")
	b.asksOf(t, endpoint.Field{Name: "one", Type: endpoint.FieldString, Required: true}, endpoint.Field{Name: "yes", Type: endpoint.FieldBoolean, Default: []byte(`true`)})
	if q := b.state.Turn.Requests[0].Permission.Question; q == nil || len(q.Fields) != 2 {
		t.Fatalf("there waits %+v", b.state.Turn.Requests)
	}
	for _, c := range []struct {
		do   room.Permit
		want string
	}{
		{room.Permit{ID: "1.1", Allowed: true}, "ROOM-VALUES"},
		{room.Permit{ID: "1.1", Allowed: true, Values: []byte(`{"two":1}`)}, "ROOM-VALUES"},
		{room.Permit{ID: "1.1", Allowed: true, Always: true, Values: []byte(`{"one":"x"}`)}, "ROOM-PERMISSION"},
	} {
		before := len(b.log)
		if err := b.act("me", c.do); code(err) != c.want || len(b.log) != before {
			t.Errorf("%+v: %v", c.do, err)
		}
	}
	if err := b.act("a", room.Permit{ID: "1.1", Allowed: true, Values: []byte(`{"one":"x"}`)}); !errors.Is(err, room.ErrDenied) {
		t.Errorf("an agent answers: %v", err)
	}
	if err := b.act("me", room.Permit{ID: "1.1", Allowed: true, Values: []byte(`{"one":"x"}`)}); err != nil {
		t.Fatal(err)
	}
	e := b.log[len(b.log)-1]
	if a := e.Body.(room.PermissionAnswered); !a.Allowed || a.By != "me" || string(a.Values) != `{"one":"x","yes":true}` {
		t.Errorf("the answer is %+v", a)
	}
	if a := e.Redacted().Body.(room.PermissionAnswered); a.Values != nil {
		t.Errorf("redacted is %+v", a)
	}
	err := b.act("me", room.Permit{ID: "1.1", Allowed: true, Values: []byte(`{"one":"y"}`)})
	if !errors.Is(err, room.ErrAnswered) || !strings.Contains(err.Error(), `question "1.1" was filled in by me`) {
		t.Errorf("the second answer: %v", err)
	}
	if a := b.state.Answers[0]; !a.Question || a.What != "filled in" {
		t.Errorf("kept is %+v", a)
	}
}

// TestQuestionDeclined: a person who declines gives no values, and a question that ends
// with its turn is told apart from a permission request.
func TestQuestionDeclined(t *testing.T) {
	b := opened(t, "a me/human")
	b.play("speak a go")
	b.asksOf(t)
	if err := b.act("me", room.Permit{ID: "1.1", Values: []byte(`{"no":"form"}`), Reason: "not now"}); err != nil {
		t.Fatal(err)
	}
	if a := b.log[len(b.log)-1].Body.(room.PermissionAnswered); a.Allowed || a.Values != nil || a.Reason != "not now" {
		t.Errorf("declined is %+v", a)
	}
	b.asksOf(t)
	if err := b.act("me", room.Permit{ID: "1.2", Allowed: true}); err != nil {
		t.Fatal(err)
	}
	if a := b.log[len(b.log)-1].Body.(room.PermissionAnswered); string(a.Values) != "{}" {
		t.Errorf("an empty form has the answer %+v", a)
	}
	b.asksOf(t)
	b.play("pause")
	err := b.act("me", room.Permit{ID: "1.3", Allowed: true})
	if err == nil || !strings.Contains(err.Error(), `question "1.3" was cancelled with its turn`) {
		t.Errorf("after a pause: %v", err)
	}
}

// TestPermissionTakesNoValues: values are for questions only.
func TestPermissionTakesNoValues(t *testing.T) {
	b := opened(t, "a me/human")
	b.play("speak a go", "asks read plan.md")
	if err := b.act("me", room.Permit{ID: "1.1", Allowed: true, Values: []byte(`{}`)}); code(err) != "ROOM-VALUES" {
		t.Errorf("a permission with values: %v", err)
	}
	if err := b.act("me", room.Permit{ID: "1.1", Allowed: true}); err != nil {
		t.Fatal(err)
	}
	if a := b.log[len(b.log)-1].Body.(room.PermissionAnswered); a.Values != nil || b.state.Answers[0].Question {
		t.Errorf("the answer is %+v, kept as %+v", a, b.state.Answers[0])
	}
}

// TestQuestionTooLong: a form that a person could not see whole is refused at once.
func TestQuestionTooLong(t *testing.T) {
	b := opened(t, "a me/human")
	b.play("speak a go")
	b.asksOf(t, make([]endpoint.Field, 33)...)
	if a, ok := b.log[len(b.log)-1].Body.(room.PermissionAnswered); !ok || a.Allowed || a.By != endpoint.Unasked {
		t.Errorf("the last event is %+v", b.log[len(b.log)-1].Body)
	}
}
