package scripted_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/scripted"
)

// TestDocumented reads the scripts of docs/agents.md.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(page), "\n## Agents without a program\n")
	blocks := regexp.MustCompile("(?s)```[a-z]+\n(.*?)```").FindAllStringSubmatch(part, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d scripts", len(blocks))
	}
	var steps []scripted.Step
	for _, b := range blocks {
		s, err := scripted.Parse("docs", []byte(b[1]))
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s...)
	}
	if n := len(steps); n != 5 || len(steps[2].Post) != 1 || steps[3].Claim != "t1" || steps[3].Handoff.To != "lead" || len(steps[4].Call) != 1 {
		t.Errorf("%d steps: %+v", n, steps)
	}
}

// TestActProblems checks the errors of acts that are none.
func TestActProblems(t *testing.T) {
	for row, want := range map[string]string{
		`{"say":"x","ack":[""]}`:                                             "without an id",
		`{"say":"x","ack":"m1"}`:                                             "cannot be read",
		`{"say":"x","handoff":{"reason":"x"}}`:                               "without a receiver",
		`{"say":"x","post":[{"to":"dba","kind":"blocker","text":"x"}]}`:      "has a message_id",
		`{"say":"x","post":[{"message_id":"m1","kind":"blocker"}]}`:          "no text, summary or payload",
		`{"say":"x","post":[{"message_id":"m1","from_agent":"a"}]}`:          "unknown field",
		`{"say":"x","post":[{"message_id":"m1","text":"x","payload":{"a"}}]`: "cannot be read",
		`{"say":"x","call":["dba"]}`:                                         "no object",
	} {
		if _, err := scripted.Parse("s", []byte(row)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", row, err, want)
		}
	}
}

// A brokenFloor takes nothing.
type brokenFloor struct{}

func (brokenFloor) Raise(context.Context, endpoint.Signal) (endpoint.Answer, error) {
	return endpoint.Answer{}, endpoint.ErrClosed
}

func (brokenFloor) Show(string) {}

func (brokenFloor) ShowTool(endpoint.ToolCall) {}

// TestActsFail checks that a step fails when the room cannot be told, and that without a
// room its acts are left out.
func TestActsFail(t *testing.T) {
	steps, err := scripted.Parse("s", []byte(`{"say":"x","claim":"t1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scripted.New(steps...).Speak(t.Context(), endpoint.Prompt{}, brokenFloor{}); !errors.Is(err, endpoint.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if r, err := scripted.New(steps...).Speak(t.Context(), endpoint.Prompt{}, nil); err != nil || r.Text != "x" {
		t.Errorf("got %+v and %v", r, err)
	}
}
