package mcp

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/test/agents/model"
)

// TestCallWorkflow is the workflow of TestWorkflow with a call: the model of one real
// agent has it call another one and poll how the call stands, and gets the result as a
// message. All of it goes through the tools that moot gives in session/new.
func TestCallWorkflow(t *testing.T) {
	for _, pair := range [][2]string{{"gemini", "gemini"}, {"claude", "codex"}, {"claude", "gemini"}, {"gemini", "claude"}} {
		t.Run(pair[0]+" calls "+pair[1], func(t *testing.T) { callWorkflow(t, agentNamed(pair[0]), agentNamed(pair[1])) })
	}
}

func agentNamed(name string) agent {
	for _, a := range agents {
		if a.name == name {
			return a
		}
	}
	return agent{}
}

func callWorkflow(t *testing.T, caller, called agent) {
	work, dir := t.TempDir(), t.TempDir()
	s := &callScript{polled: make(chan struct{})}
	llm := httptest.NewServer(model.New(model.Config{Script: s.answer}))
	t.Cleanup(llm.Close)
	write(t, filepath.Join(dir, "config.yaml"), yaml(t, map[string]any{"server": map[string]any{"roots": work}}))
	write(t, filepath.Join(dir, "room.yaml"), yaml(t, map[string]any{
		"version": "room/v1", "name": "lead", "objective": "Find the answer.", "opening": "Begin.",
		"participants": []any{
			map[string]any{"id": "me", "kind": "human"},
			map[string]any{"id": "lead", "mode": "full_auto", "calls": "allow", "allowToolUse": true, "endpoint": caller.endpoint(t, work, llm.URL+"/lead")},
		},
		"agents": []any{map[string]any{"id": "coder", "endpoint": called.endpoint(t, work, llm.URL+"/coder")}},
		"policy": map[string]any{"use": "inbox"}, "limits": map[string]any{"toolTurnTimeout": "5m", "startTimeout": "5m"},
	}))
	moot := mootIn(t, dir)
	serveIn(t, moot)
	allowAll(t, moot)
	events := lines(t, moot("run", "room.yaml", "-o", "jsonl"))
	id, back, noted := "", false, false
	for !back || !noted {
		line := events()
		if line == "" {
			t.Fatalf("the room ends; called back: %t, noted: %t; the tools said %q", back, noted, s.results())
		}
		e := eventOf(t, line)
		switch e.Type {
		case "room.opened":
			id = e.Body.Spec.Room
		case "turn.failed":
			t.Fatal(line)
		case "message.posted":
			m := e.Body.Message
			back = back || m.Kind == "call_result" && m.Text == "Results: 42" && m.From == "coder" && m.To == "lead"
			noted = noted || m.From == "lead" && m.Text == "the coder says 42"
		}
	}
	out, err := moot("calls", id, "-o", "json").Output()
	var list []calls.Call
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	if err != nil || len(list) != 1 || list[0].State != calls.Completed || list[0].Agent != "coder" || list[0].Result == nil || list[0].Result.Tokens == 0 {
		t.Errorf("%s, %v", out, err)
	}
}

// A callScript is what the models of both agents order.
type callScript struct {
	polled chan struct{} // closed when the lead has polled the call

	mu   sync.Mutex
	step int // of the lead
	said []string
}

var (
	callIDPattern = regexp.MustCompile(`call_id\W+(c\d+)`)
	openPattern   = regexp.MustCompile(`state\W+(submitted|working)`)
)

func (s *callScript) answer(q model.Request) *model.Reply {
	if q.Side || len(q.Tools) == 0 {
		return nil
	}
	if q.Seat == "coder" {
		<-s.polled
		return &model.Reply{Text: "Results: 42"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := q.Messages[len(q.Messages)-1]
	if last.Role == "tool" {
		s.said = append(s.said, last.Text)
	}
	switch {
	case s.step == 0:
		s.step++
		return callOf(q, "call_agent", map[string]any{"agent_name": "coder", "task": "Find the answer.", "wait": 0})
	case s.step == 1 && last.Role == "tool":
		m := callIDPattern.FindStringSubmatch(last.Text)
		if m == nil {
			return &model.Reply{Text: "there is no id in the answer"}
		}
		s.step++
		return callOf(q, "get_call", map[string]any{"call_id": m[1], "wait": 0})
	case s.step == 2 && last.Role == "tool" && openPattern.MatchString(last.Text):
		s.step++
		close(s.polled)
		return &model.Reply{Text: "I go on later."}
	case s.step == 3 && strings.Contains(last.Text, "Results: 42"):
		return &model.Reply{Text: "the coder says 42"}
	}
	return &model.Reply{Text: "I wait."}
}

func (s *callScript) results() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}
