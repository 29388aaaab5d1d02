package prompts_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/endpoints/command"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/ndjson"
	"github.com/folkmoot/moot/endpoints/openai"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/test/agents/model"
)

// askedVar names the file to which the agents of this package write what they get.
// It makes this test binary an agent of the frames.
const askedVar = "ASKED"

func TestMain(m *testing.M) {
	if path := os.Getenv(askedVar); path != "" {
		frameAgent(path)
		return
	}
	os.Exit(m.Run())
}

// Suffixes of the files with frames that an agent sends before its answer, and with what
// it is told of them.
const (
	postsSuffix   = ".posts"
	answersSuffix = ".answers"
)

// frameAgent writes each request to a file and answers it, after the frames that it is
// told to send.
func frameAgent(path string) {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q struct {
			ID string `json:"request_id"`
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil || json.Unmarshal(line, &q) != nil {
			os.Exit(1)
		}
		if _, err := f.Write(line); err != nil || f.Close() != nil {
			os.Exit(1)
		}
		sendPosts(in, path+postsSuffix, path+answersSuffix)
		fmt.Printf(`{"type":"desktop.local_prompt.response","request_id":%q,"status":"ok","draft_message":"noted"}`+"\n", q.ID)
	}
}

// A way is a way to reach an agent, which records what it gets.
type way struct {
	open  func() (share.Agent, error)
	asked func(t *testing.T) []request // in order
}

// A request is what an agent got.
type request struct {
	text   string
	fields map[string]any   // of a frame; nil otherwise
	prompt *endpoint.Prompt // of an agent in this process; nil otherwise
}

// check checks the fields of a frame: they are cleaned, no message of the host is
// the agent's own, only the agent is of the same owner, and the instructions are
// those of its owner.
func (r request) check(t *testing.T, payload string) {
	t.Helper()
	if strings.Contains(r.text, ownInstructions) || r.prompt != nil && r.prompt.Instructions != ownInstructions {
		t.Fatalf("the payload %q: the instructions are %+v", payload, r)
	}
	if r.fields == nil {
		return
	}
	if r.fields["instructions"] != ownInstructions {
		t.Fatalf("the payload %q: the instructions are %q", payload, r.fields["instructions"])
	}
	eachString(r.fields, func(s string) {
		if endpoint.Clean(s) != s {
			t.Fatalf("the payload %q: a field holds %q", payload, s)
		}
	})
	if role := r.fields["history"].([]any)[0].(map[string]any); role["role"] != "remote_agent" || role["claimed"] != true {
		t.Fatalf("a message that the host says is the agent's: %v", role)
	}
	you := r.fields["you"].(map[string]any)
	if you["id"] != "bob" || you["name"] != "theirs" || you["role"] != nil {
		t.Fatalf("the agent is %v", you)
	}
	for _, p := range r.fields["participants"].([]any) {
		if x := p.(map[string]any); x["same_owner"] != (x["id"] == "bob") {
			t.Fatalf("a participant is %v", x)
		}
	}
}

func eachString(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, x := range v {
			eachString(x, f)
		}
	case map[string]any:
		for k, x := range v {
			f(k)
			eachString(x, f)
		}
	}
}

// ways returns every kind of agent of this device.
func ways(t *testing.T) map[string]*way {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*way{"scripted": scriptedWay(), "openai": modelWay(t), "a2a": a2aWay(t), "ndjson": fileWay(t, func(path string) share.Agent {
		return ndjson.New(ndjson.Config{Command: []string{self}, Env: []string{askedVar + "=" + path}, AllowEnv: []string{"GOCOVERDIR"}})
	}, func(line []byte) (r request, err error) {
		err = json.Unmarshal(line, &r.fields)
		r.text, _ = r.fields["prompt"].(string)
		return r, err
	})}
	if _, err := exec.LookPath("sh"); err == nil {
		all["command"] = commandWay(t)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Log("the agent of the Agent Client Protocol is left out: it needs python3")
		return all
	}
	all["acp"] = fileWay(t, func(path string) share.Agent {
		return acp.New(acp.Config{Command: []string{"python3", "-B", "testdata/acp_agent.py"}, Env: []string{askedVar + "=" + path}})
	}, blocks)
	return all
}

// blocks reads what an agent of the Agent Client Protocol got: the prompt, and
// before the first one of a session the instructions of its owner.
func blocks(line []byte) (r request, err error) {
	var texts []string
	if err := json.Unmarshal(line, &texts); err != nil {
		return r, err
	}
	if len(texts) == 2 && instructed(texts[0]) {
		texts = texts[1:]
	}
	if len(texts) != 1 {
		return r, fmt.Errorf("the agent gets %q", texts)
	}
	return request{text: texts[0]}, nil
}

// instructed reports whether a text is what the agent's owner tells it, and how it
// passes. Only shares have instructions.
func instructed(text string) bool {
	return text == endpoint.PlainInstructions(endpoint.Prompt{Instructions: ownInstructions}) || text == endpoint.PlainInstructions(endpoint.Prompt{})
}

// commandWay is a command that appends what it gets to a file, with a NUL at the end,
// which no prompt has.
func commandWay(t *testing.T) *way {
	path := filepath.Join(t.TempDir(), "asked")
	return &way{
		open: func() (share.Agent, error) {
			return command.New(command.Config{Command: []string{"sh", "-c", `cat >>"$0" && printf '\0' >>"$0" && echo noted`, path}}), nil
		},
		asked: func(t *testing.T) (all []request) {
			t.Helper()
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for part := range strings.SplitSeq(strings.TrimSuffix(string(b), "\x00"), "\x00") {
				before, text, _ := strings.Cut(part, "\n\nYou are ")
				if !instructed(before) {
					t.Fatalf("the command got %q", part)
				}
				all = append(all, request{text: "You are " + text})
			}
			return all
		},
	}
}

// fileWay is an agent in a process that writes what it gets to a file.
func fileWay(t *testing.T, start func(path string) share.Agent, read func(line []byte) (request, error)) *way {
	path := filepath.Join(t.TempDir(), "asked")
	return &way{
		open: func() (share.Agent, error) { return start(path), nil },
		asked: func(t *testing.T) (all []request) {
			t.Helper()
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(b) {
				r, err := read(line)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, r)
			}
			return all
		},
	}
}

// modelWay is a model behind a server on this machine. Its instructions are those of
// the agent's owner, in a message of their own.
func modelWay(t *testing.T) *way {
	var mu sync.Mutex
	var got []request
	server := httptest.NewServer(model.New(model.Config{Script: func(q model.Request) *model.Reply {
		mu.Lock()
		defer mu.Unlock()
		r := request{text: q.Messages[1].Text}
		if m := q.Messages[0]; len(q.Messages) != 2 || m.Role != "system" || !instructed(m.Text) {
			r.text = fmt.Sprintf("the model got %q", q.Messages)
		}
		got = append(got, r)
		return &model.Reply{Text: "noted"}
	}}))
	t.Cleanup(server.Close)
	return &way{
		open: func() (share.Agent, error) {
			return openai.New(openai.Config{BaseURL: server.URL + "/v1", Model: "fake-1"}), nil
		},
		asked: func(*testing.T) []request {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(got)
		},
	}
}

// scriptedWay is a scripted agent that records its prompts.
func scriptedWay(lines ...string) *way {
	var mu sync.Mutex
	var got []request
	steps := make([]scripted.Step, len(lines))
	for i, line := range lines {
		steps[i].Text = line
	}
	return &way{
		open: func() (share.Agent, error) {
			return recorder{scripted.New(steps...), func(p endpoint.Prompt) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, request{text: p.Text, prompt: &p})
			}}, nil
		},
		asked: func(*testing.T) []request {
			mu.Lock()
			defer mu.Unlock()
			return append([]request(nil), got...)
		},
	}
}

// A recorder calls note with each prompt of a scripted agent.
type recorder struct {
	*scripted.Endpoint
	note func(endpoint.Prompt)
}

func (r recorder) Speak(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	r.note(p)
	return r.Endpoint.Speak(ctx, p, f)
}

var markOf = regexp.MustCompile(`carry the mark ([0-9A-Za-z]{16,}), each`)

// outside returns the lines of a prompt outside its blocks, with the lines that
// begin and end a block. The mark is replaced.
func outside(t *testing.T, text string) string {
	t.Helper()
	found := markOf.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no mark in\n%s", text)
	}
	var b strings.Builder
	open := false
	for line := range strings.SplitSeq(text, "\n") {
		begins, ends := strings.HasPrefix(line, "["+found[1]+" begin "), line == "["+found[1]+" end]"
		switch {
		case begins == open && (begins || ends), ends != open && ends:
			t.Fatalf("a block begins or ends twice:\n%s", text)
		case open && !ends && !strings.HasPrefix(line, "| "):
			t.Fatalf("a line of a block is not quoted: %q", line)
		case open && !ends:
			continue
		}
		open = begins || open && !ends
		b.WriteString(strings.ReplaceAll(line, found[1], "MARK") + "\n")
	}
	if strings.Contains(b.String(), canary) {
		t.Fatalf("a payload stands outside its block:\n%s", text)
	}
	return b.String()
}
