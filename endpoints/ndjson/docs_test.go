package ndjson_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/ndjson"
)

// blocks returns the code blocks of docs/agents.md in a language.
func blocks(t *testing.T, language string) (all []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(page, -1) {
		all = append(all, string(m[1]))
	}
	return all
}

// A recorder is a floor that records the signals and refuses the message "refused".
type recorder struct {
	mu  sync.Mutex
	got []endpoint.Signal
}

func (r *recorder) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, s)
	if s.Post != nil && s.Post.Correlation == "refused" {
		return endpoint.Answer{Reason: "no manager"}, nil
	}
	return endpoint.Answer{Allowed: true, Reasons: make([]string, len(s.Of))}, nil
}

func (*recorder) Show(string) {}

func (*recorder) ShowTool(endpoint.ToolCall) {}

// kinds returns what was raised, one word each.
func (r *recorder) kinds() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.got {
		word := s.Kind
		if s.Post != nil {
			word = s.Post.Kind
		}
		all = append(all, word)
	}
	return all
}

// TestDocumentedAgents runs the agents of docs/agents.md.
func TestDocumentedAgents(t *testing.T) {
	need(t, "python3")
	programs := blocks(t, "python")
	if len(programs) != 2 {
		t.Fatalf("%d programs", len(programs))
	}
	run := func(program string) func(p endpoint.Prompt) (endpoint.Reply, []string) {
		file := filepath.Join(t.TempDir(), "agent.py")
		if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		e := ndjson.New(ndjson.Config{Command: []string{"python3", file}})
		t.Cleanup(func() { e.Close() })
		return func(p endpoint.Prompt) (endpoint.Reply, []string) {
			p.Kind = endpoint.Turn
			floor := &recorder{}
			r, err := e.Speak(t.Context(), p, floor)
			if err != nil {
				t.Fatal(err)
			}
			return r, floor.kinds()
		}
	}
	echo, worker := run(programs[0]), run(programs[1])
	brief := func(id, kind string) endpoint.Mail {
		return endpoint.Mail{From: "lead", Post: endpoint.Post{ID: id, Kind: kind, Text: "Estimate it."}}
	}
	if r, _ := echo(endpoint.Prompt{Request: "1", CatchUp: []endpoint.Line{{From: "you", Text: "hello"}}, Mail: []endpoint.Mail{brief("m1", "intent_brief")}}); r.Text != "I heard: hello" {
		t.Errorf("the first agent: %+v", r)
	}
	r, got := worker(endpoint.Prompt{Request: "2", Mail: []endpoint.Mail{brief("m1", "intent_brief"), brief("m2", "utterance"), brief("m3", "intent_brief")}})
	if want := []string{"ack", "result_bundle", "ack", "result_bundle"}; r.Outcome != endpoint.Passed || r.Reason != "" || !slices.Equal(got, want) {
		t.Errorf("the worker: %+v after %q, want %q", r, got, want)
	}
	if r, got := worker(endpoint.Prompt{Request: "3"}); r.Outcome != endpoint.Passed || len(got) > 0 {
		t.Errorf("without mail: %+v after %q", r, got)
	}
	if r, _ := worker(endpoint.Prompt{Request: "4", Mail: []endpoint.Mail{brief("refused", "intent_brief")}}); r.Reason != "no manager" {
		t.Errorf("refused: %+v", r)
	}
}

// TestDocumentedFrames has a shell agent write each frame of docs/agents.md that agents
// write in a turn. The endpoint takes all of them.
func TestDocumentedFrames(t *testing.T) {
	need(t, "python3")
	var frames []string
	for _, b := range blocks(t, "json") {
		for line := range strings.Lines(b) {
			if strings.HasPrefix(line, `{"type":"desktop.`) && !strings.Contains(line, "local_prompt") {
				frames = append(frames, strings.TrimSpace(line))
			}
		}
	}
	if len(frames) != 7 {
		t.Errorf("%d frames: %q", len(frames), frames)
	}
	file := filepath.Join(t.TempDir(), "agent.py")
	program := "import json, sys\nrequest = json.loads(sys.stdin.readline())\nprint('''" + strings.Join(frames, "\n") + `''')
print(json.dumps({"type": "desktop.local_prompt.response", "request_id": request["request_id"], "status": "ok", "draft_message": "done"}), flush=True)
sys.stdin.read()
`
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	e := ndjson.New(ndjson.Config{Command: []string{"python3", file}, Close: hangGuard, Grace: hangGuard})
	floor := &recorder{}
	if _, err := e.Speak(t.Context(), endpoint.Prompt{Kind: endpoint.Turn, Request: "1"}, floor); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	got := floor.kinds()
	for _, want := range []string{"message", "blocker", "ack", "claim", "call", "permission"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s was raised: %q", want, got)
		}
	}
	if slices.Contains(got, endpoint.SignalViolation) {
		t.Errorf("a frame breaks the protocol: %+v", floor.got)
	}
}
