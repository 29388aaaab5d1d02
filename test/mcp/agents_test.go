package mcp

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/test/agents/model"
)

// An agent is a real one, set up so that it asks the fake model at {url}.
type agent struct {
	name  string
	env   []string
	files map[string]string // in its home
}

// agents are the real agents: Gemini CLI is a part of CI, and test/agents/run.sh
// installs the others, whose folder MOOT_AGENTS names.
var agents = []agent{
	{"gemini", []string{"GOOGLE_GEMINI_BASE_URL={url}", "GEMINI_API_KEY=no-key"}, map[string]string{".gemini/settings.json": `{
"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}, "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
"privacy": {"usageStatisticsEnabled": false}, "model": {"name": "gemini-2.5-flash"}}`}},
	{"claude", []string{"ANTHROPIC_BASE_URL={url}", "ANTHROPIC_API_KEY=no-key", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false"}, nil},
	{"codex", []string{"CODEX_HOME={home}", "FAKE_API_KEY=no-key"}, map[string]string{"config.toml": `model = "fake-1"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_API_KEY"
`}},
	{"opencode", []string{"OPENCODE_CONFIG={home}/opencode.json", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"}, map[string]string{"opencode.json": `{
"autoupdate": false, "share": "disabled", "model": "fake/fake-1", "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake",
"options": {"baseURL": "{url}/v1", "apiKey": "no-key"}, "models": {"fake-1": {"name": "fake-1", "limit": {"context": 200000, "output": 8000}}}}}}`}},
	{"qwen", []string{"OPENAI_BASE_URL={url}/v1", "OPENAI_API_KEY=no-key", "OPENAI_MODEL=fake-1"}, map[string]string{".qwen/settings.json": `{
"security": {"auth": {"selectedType": "openai"}}, "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}, "tools": {"toolSearch": {"enabled": false}}}`}},
}

// command returns the command line of an agent, and skips the test without it.
func (a agent) command(t *testing.T, p acp.Preset) []string {
	t.Helper()
	if dir := os.Getenv("MOOT_AGENTS"); dir != "" {
		bin, err := filepath.Abs(filepath.Join(dir, "node_modules", ".bin"))
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if _, err := exec.LookPath(p.Command[0]); err != nil {
		if os.Getenv("CI") == "true" && a.name == "gemini" {
			t.Fatalf("%s is needed in CI: %v", p.Command[0], err)
		}
		t.Skipf("%v; fix: run test/agents/run.sh, and set MOOT_AGENTS to the folder that it installs to", err)
	}
	return p.Command
}

// settle writes the settings of an agent into its home. It returns the configuration
// of its endpoint, with the fake model at url.
func (a agent) settle(t *testing.T, home, url string) acp.Config {
	t.Helper()
	preset, _ := acp.PresetOf(a.name)
	a.command(t, preset)
	fill := strings.NewReplacer("{url}", url, "{home}", home)
	for name, text := range a.files {
		write(t, filepath.Join(home, filepath.FromSlash(name)), fill.Replace(text))
	}
	env := []string{"HOME=" + home}
	for _, kv := range a.env {
		env = append(env, fill.Replace(kv))
	}
	return acp.Config{Preset: preset, Dir: t.TempDir(), Env: env}
}

// write adds a text to a file.
func write(t *testing.T, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err == nil || os.IsNotExist(err) {
		err = os.WriteFile(file, append(before, text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// callTool has the model of an agent call a tool, and returns what the agent says of
// the result.
func callTool(t *testing.T, e *acp.Endpoint, order string) string {
	t.Helper()
	f := &floor{}
	for turn := 1; ; turn++ { // some agents look for tools while the first turns run
		p := endpoint.Prompt{Request: fmt.Sprint("q", turn), Room: "r_1", Turn: turn, Text: "CALL:" + order, Timeout: 5 * time.Minute}
		r, err := e.Speak(t.Context(), p, f)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("turn %d: asked %d times for permission; said %q", turn, f.asked.Load(), r.Text)
		if !strings.Contains(r.Text, "there is no tool") || turn == maxTurns {
			return r.Text
		}
	}
}

// maxTurns is the turn in which an agent has found its tools.
const maxTurns = 20

// A floor is the room of an agent: it allows what the agent asks for.
type floor struct{ asked atomic.Int64 }

// Raise implements [endpoint.Floor].
func (f *floor) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	if s.Kind == endpoint.SignalPermission {
		f.asked.Add(1)
	}
	return endpoint.Answer{Allowed: true}, nil
}

// Show implements [endpoint.Floor].
func (f *floor) Show(string) {}

func (f *floor) ShowTool(endpoint.ToolCall) {}

// TestAgents has the model of real agents call send_agent_message. The message
// arrives as one of the agent's own session.
func TestAgents(t *testing.T) {
	for _, a := range agents {
		for _, transport := range transports {
			t.Run(a.name+" "+transport, func(t *testing.T) { runAgent(t, a, transport) })
		}
	}
}

func runAgent(t *testing.T, a agent, transport string) {
	llm := httptest.NewServer(model.New(model.Config{}))
	defer llm.Close()
	x := newHost(t)
	token := x.token(t, "bot")
	s := acp.ToolServer{Name: "moot", Token: token}
	if transport == "http" {
		s.URL = x.url + "/mcp"
	} else {
		self, err := exec.LookPath("moot")
		if err != nil {
			t.Fatal(err)
		}
		s.Command, s.Env = []string{self, "mcp", "--server", x.url}, []string{"MOOT_TOKEN=" + token}
	}
	c := a.settle(t, t.TempDir(), llm.URL)
	c.Tools = func() (acp.ToolServer, bool) { return s, true }
	e := acp.New(c)
	defer e.Close()
	callTool(t, e, fmt.Sprintf(`send_agent_message:{"sessionId":"%s.cat","message":"the result is 4"}`, x.room.ID()))
	x.mustHave(t, "bot", "the result is 4")
}
