package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/folkmoot/moot/test/agents/model"
)

// A table is a folder with a room of agents and their fake model.
type table struct {
	t      *testing.T
	dir    string
	path   string // PATH with the agents
	seats  []agent
	server *model.Server
	url    string
	calls  *lines                           // of the model's log
	script func(model.Request) *model.Reply // set before start; nil answers by directives
}

// lines collects lines of JSON.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newTable(t *testing.T, seats ...agent) *table {
	t.Helper()
	w := &table{t: t, dir: t.TempDir(), path: installed(t), seats: seats, calls: &lines{}}
	w.server = model.New(model.Config{Log: w.calls, Script: func(q model.Request) *model.Reply {
		if w.script == nil {
			return nil
		}
		return w.script(q)
	}})
	ts := httptest.NewServer(w.server)
	t.Cleanup(ts.Close)
	w.url = ts.URL
	for _, a := range seats {
		w.mkdir(w.work(a))
		w.mkdir(w.home(a))
		for name, text := range a.files {
			file := filepath.Join(w.home(a), filepath.FromSlash(name))
			w.mkdir(filepath.Dir(file))
			w.write(file, w.fill(a, text))
		}
	}
	return w
}

func (w *table) home(a agent) string { return filepath.Join(w.dir, "home", a.name) }
func (w *table) work(a agent) string { return filepath.Join(w.dir, "work", a.name) }
func (w *table) file(a agent) string { return filepath.Join(w.work(a), "new.txt") }

// fill replaces what an agent's settings and directives leave open.
func (w *table) fill(a agent, s string) string {
	return strings.NewReplacer("{home}", w.home(a), "{url}", w.url+"/"+a.name, "{key}", "${FAKE_KEY}", "{file}", w.file(a)).Replace(s)
}

func (w *table) mkdir(dir string) {
	w.t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
}

func (w *table) write(file, text string) {
	w.t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// A seating is what a room adds to the settings of its agents.
type seating struct {
	turns   int
	opening string
	allow   []string // rules

	attended bool // a person is there, whose input has not ended
}

// writeRoom writes room.yaml, which is JSON too.
func (w *table) writeRoom(s seating) {
	w.t.Helper()
	var participants []any
	for _, a := range w.seats {
		env := map[string]string{"HOME": w.home(a)}
		for k, v := range a.env {
			env[k] = w.fill(a, v)
		}
		p := map[string]any{
			"id": a.name, "mode": "full_auto", "allowToolUse": true,
			"endpoint": map[string]any{"kind": "acp", "agent": a.name, "cwd": w.work(a), "env": env},
		}
		rules := []json.RawMessage{}
		for _, rule := range s.allow {
			rules = append(rules, json.RawMessage(rule))
		}
		p["allow"] = rules
		participants = append(participants, p)
	}
	if len(w.seats) == 1 { // the policy lets no agent answer itself
		participants = append(participants, map[string]any{
			"id": "partner", "mode": "full_auto", "endpoint": map[string]any{"kind": "scripted", "lines": slices.Repeat([]string{"Go on."}, s.turns)},
		})
	}
	b, err := json.MarshalIndent(map[string]any{
		"version": "room/v1", "name": "agents", "objective": "Say one sentence.", "opening": s.opening,
		"participants": participants, "policy": map[string]any{"use": "roundrobin"},
		"limits": map[string]any{
			"maxTurns": s.turns, "maxDuration": "2h", "turnTimeout": "5m", "toolTurnTimeout": "5m", "startTimeout": "5m", "sameText": s.turns + 1, "sameTextOf": s.turns + 1,
		},
	}, "", "  ")
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(w.dir, "room.yaml"), string(b))
}

// moot returns a command in the folder of the room.
func (w *table) moot(args ...string) *exec.Cmd {
	cmd := exec.Command("moot", args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "PATH="+w.path, "HOME="+w.dir, "MOOT_DATA="+filepath.Join(w.dir, "data"), "FAKE_KEY="+key)
	if exe, err := exec.LookPath("moot"); err == nil {
		cmd.Path, cmd.Err = exe, nil // PATH of this process, where the test's own binary is
	}
	return cmd
}

// An event is what the tests read of a room's event. The body is that of turns
// and of messages.
type event struct {
	Type string
	Body body
	Room string // at the end
}

type body struct {
	Turn        int    `json:"turn"`
	Participant string `json:"participant"`
	Code        string `json:"code"`
	Error       string `json:"error"`
	Latency     int64  `json:"latency_ns"`
	Usage       struct {
		Known     bool `json:"known"`
		Input     int  `json:"input_tokens"`
		Output    int  `json:"output_tokens"`
		Cached    int  `json:"cached_input_tokens"`
		Reasoning int  `json:"reasoning_tokens"`
	} `json:"usage"`
}

// UnmarshalJSON reads an event, or the summary at the end.
func (e *event) UnmarshalJSON(b []byte) error {
	var line struct {
		Type    string          `json:"type"`
		Body    json.RawMessage `json:"body"`
		Summary struct {
			Room string `json:"room"`
		} `json:"summary"`
	}
	if err := json.Unmarshal(b, &line); err != nil {
		return err
	}
	*e = event{Type: line.Type, Room: line.Summary.Room}
	if strings.HasPrefix(e.Type, "turn.") || e.Type == "message.posted" {
		return json.Unmarshal(line.Body, &e.Body)
	}
	return nil
}

// A running room.
type running struct {
	cmd    *exec.Cmd
	out    *bufio.Reader
	text   strings.Builder // all of stdout
	stderr bytes.Buffer
}

// start runs the room, without a person unless s says so.
func (w *table) start(s seating) *running {
	w.t.Helper()
	w.writeRoom(s)
	args := []string{"run", "room.yaml", "-o", "jsonl", "--headless"}
	if s.attended {
		args = args[:len(args)-1]
	}
	r := &running{cmd: w.moot(args...)}
	r.cmd.Stderr = &r.stderr
	if s.attended {
		if _, err := r.cmd.StdinPipe(); err != nil {
			w.t.Fatal(err)
		}
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	r.out = bufio.NewReaderSize(out, 1<<20)
	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // it has mostly ended long ago
		_ = r.cmd.Wait()
		w.gone(w.t)
	})
	return r
}

// next returns the next event, and false at the end.
func (r *running) next(t *testing.T) (e event, ok bool) {
	t.Helper()
	line, err := r.out.ReadString('\n')
	r.text.WriteString(line)
	if err == io.EOF && line == "" {
		return e, false
	}
	if err == nil {
		err = json.Unmarshal([]byte(line), &e)
	}
	if err != nil {
		t.Fatalf("%q: %v\n%s", line, err, &r.stderr)
	}
	return e, true
}

// until returns the first event for which f holds.
func (r *running) until(t *testing.T, what string, f func(event) bool) event {
	t.Helper()
	for {
		e, ok := r.next(t)
		if !ok {
			t.Fatalf("the room ends without %s\n%s\n%s", what, &r.text, &r.stderr)
		}
		if f(e) {
			return e
		}
	}
}

// end reads the rest and waits for the process.
func (r *running) end(t *testing.T) {
	t.Helper()
	for ok := true; ok; {
		_, ok = r.next(t)
	}
	_ = r.cmd.Wait() // the code says why the room has ended, such as a limit
}

// A call is a line of the model's log.
type call struct {
	Seat, Error string
	Side        bool
	Usage       model.Usage
}

// callsOf returns the calls of a seat in order.
func (w *table) callsOf(seat string) (calls, side []call) {
	w.t.Helper()
	for line := range strings.Lines(w.calls.String()) {
		var c call
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			w.t.Fatal(err)
		}
		switch {
		case c.Seat != seat:
		case c.Side:
			side = append(side, c)
		default:
			calls = append(calls, c)
		}
	}
	return calls, side
}

// secretFree checks that the key is in none of the texts and files.
func (w *table) secretFree(texts map[string]string) {
	w.t.Helper()
	texts = maps.Clone(texts)
	err := filepath.WalkDir(filepath.Join(w.dir, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		texts[path] = string(b)
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
	for name, s := range texts {
		if strings.Contains(s, key) {
			w.t.Errorf("the key is in %s", name)
		}
	}
}
