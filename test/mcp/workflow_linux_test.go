package mcp

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/test/agents/model"
)

// TestWorkflow is the workflow of the note on messages between sessions with two real
// agents and a server: the model of one has it create a session of the other and poll
// it, and that one calls back. A person allows what both ask for, in the inbox.
func TestWorkflow(t *testing.T) {
	a := agents[0]
	work, dir := t.TempDir(), t.TempDir()
	s := &workflow{work: work, lead: make(chan string, 1), sent: make(chan struct{})}
	llm := httptest.NewServer(model.New(model.Config{Script: s.answer}))
	t.Cleanup(llm.Close)
	endpoint := func(seat string) map[string]any { return a.endpoint(t, work, llm.URL+"/"+seat) }
	write(t, filepath.Join(dir, "config.yaml"), yaml(t, map[string]any{
		"server":   map[string]any{"roots": work},
		"profiles": []any{map[string]any{"name": "worker", "endpoint": endpoint("worker")}},
	}))
	write(t, filepath.Join(dir, "room.yaml"), yaml(t, map[string]any{
		"version": "room/v1", "name": "lead", "objective": "Find the answer.", "opening": "Begin.",
		"participants": []any{
			map[string]any{"id": "me", "kind": "human"},
			map[string]any{"id": "lead", "mode": "full_auto", "allowToolUse": true, "endpoint": endpoint("lead")},
		},
		"policy": map[string]any{"use": "roundrobin"}, "limits": map[string]any{"toolTurnTimeout": "5m", "startTimeout": "5m"},
	}))
	moot := mootIn(t, dir)
	serveIn(t, moot)
	allowAll(t, moot)
	events := lines(t, moot("run", "room.yaml", "-o", "jsonl"))
	var back, polled bool
	for !back || !polled {
		line := events()
		if line == "" {
			t.Fatalf("the room ends; called back: %t, polled: %t; the tools said %q", back, polled, s.results())
		}
		e := eventOf(t, line)
		switch e.Type {
		case "room.opened":
			s.lead <- e.Body.Spec.Room + ".lead"
		case "turn.failed":
			t.Fatal(line)
		case "message.posted":
			m := e.Body.Message
			back = back || m.Text == "Results: 42" && m.FromSession == s.session() && m.To == "lead"
			polled = polled || m.From == "lead" && strings.Contains(m.Text, `the worker is idle`)
		}
	}
}

// endpoint describes the agent as room.yaml does. It works in the folder work, and its
// model is at url.
func (a agent) endpoint(t *testing.T, work, url string) map[string]any {
	t.Helper()
	env := map[string]string{}
	for _, kv := range a.settle(t, t.TempDir(), url).Env {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasSuffix(name, "_KEY") {
			value = "${FAKE_KEY}" // a file with a secret is refused
		}
		env[name] = value
	}
	return map[string]any{"kind": "acp", "agent": a.name, "cwd": work, "env": env}
}

// mootIn returns a function that makes commands with the data folder and the settings in
// dir.
func mootIn(t *testing.T, dir string) func(args ...string) *exec.Cmd {
	return func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "moot", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "FAKE_KEY=no-key", "MOOT_DATA="+filepath.Join(dir, "data"), "MOOT_CONFIG="+filepath.Join(dir, "config.yaml"))
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 30 * time.Second
		return cmd
	}
}

// serveIn starts the server, and waits until it is ready.
func serveIn(t *testing.T, moot func(args ...string) *exec.Cmd) {
	t.Helper()
	serving := lines(t, moot("serve", "--listen", "127.0.0.1:0", "-o", "json"))
	for line := serving(); strings.TrimSpace(line) != "}"; line = serving() {
		if line == "" {
			t.Fatal("the server has not started")
		}
	}
}

// allowAll allows what agents ask for, in the inbox.
func allowAll(t *testing.T, moot func(args ...string) *exec.Cmd) {
	t.Helper()
	waiting := lines(t, moot("inbox", "--watch", "-o", "jsonl"))
	go func() {
		for {
			var c inbox.Change
			line := waiting()
			if line == "" {
				return
			}
			if json.Unmarshal([]byte(line), &c) == nil && c.Item != nil && c.Item.Kind == inbox.Permission {
				_ = moot("approve", c.Item.ID).Run() // a request that has ended fails the test
			}
		}
	}()
}

// yaml writes a file that is JSON too.
func yaml(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// lines starts a program and returns a function that reads a line of its output, and ""
// at its end.
func lines(t *testing.T, cmd *exec.Cmd) func() string {
	t.Helper()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe() // its end would be that of the person
	if err == nil {
		t.Cleanup(func() { in.Close() })
	}
	out, err2 := cmd.StdoutPipe()
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // interrupted
	})
	r := bufio.NewReaderSize(out, 1<<20)
	return func() string {
		line, _ := r.ReadString('\n')
		return line
	}
}

// An event is what the test reads of a line of moot run.
type event struct {
	Type string
	Body struct {
		Spec    struct{ Room string }
		Message struct {
			From        string `json:"from_agent"`
			To          string `json:"to_agent"`
			FromSession string `json:"from_session"`
			Kind        string
			Text        string
		}
	}
}

func eventOf(t *testing.T, line string) (e event) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return e
}

// A workflow is what the models of both agents order.
type workflow struct {
	work string
	lead chan string   // its session id
	sent chan struct{} // closed when the worker has called back

	mu      sync.Mutex
	created string // session id of the worker
	polled  bool   // the lead has asked how the worker stands
	done    bool   // the lead has seen that it is idle
	called  bool   // the worker was told to call back
	said    []string
}

var createdPattern = regexp.MustCompile(`sessionId\W+([\w.]+)`)

func (w *workflow) answer(q model.Request) *model.Reply {
	last := q.Messages[len(q.Messages)-1]
	if q.Side || len(q.Tools) == 0 {
		return nil
	}
	w.mu.Lock()
	polled := w.polled
	w.mu.Unlock()
	if q.Seat == "lead" && polled {
		<-w.sent // Gemini CLI ends a turn that repeats a call more often
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if last.Role == "tool" {
		w.said = append(w.said, q.Seat+": "+last.Text)
	}
	switch {
	case q.Seat == "worker" && !w.called:
		w.called = true
		lead := <-w.lead
		return callOf(q, "send_agent_message", map[string]string{"sessionId": lead, "message": "Results: 42"})
	case q.Seat == "worker":
		select {
		case <-w.sent:
		default:
			close(w.sent)
		}
		return &model.Reply{Text: "sent"}
	case w.done:
		return &model.Reply{Text: "noted"}
	case last.Role != "tool":
		return callOf(q, "create_agent_session", map[string]string{"cwd": w.work, "agent": "worker", "initialMessage": "Find the answer, and call back."})
	case w.created == "":
		if m := createdPattern.FindStringSubmatch(last.Text); m != nil {
			w.created = m[1]
		}
	case strings.Contains(last.Text, "idle"):
		w.done = true
		return &model.Reply{Text: "the worker is idle"}
	}
	w.polled = true
	return callOf(q, "get_session_state", map[string]string{"sessionId": w.created})
}

func (w *workflow) session() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.created
}

func (w *workflow) results() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said
}

// callOf orders the call of the tool whose name ends with tool.
func callOf(q model.Request, tool string, args any) *model.Reply {
	raw, _ := json.Marshal(args) // texts and numbers
	for _, name := range q.Tools {
		if strings.HasSuffix(name, tool) {
			return &model.Reply{Call: &model.Call{Name: name, Arguments: raw}}
		}
	}
	return &model.Reply{Text: "there is no tool " + tool}
}
