package agents

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/test/agents/model"
)

var (
	turnsFlag  = flag.Int("turns", 20, "turns of the room")
	agentsFlag = flag.String("agents", "claude,codex,gemini", "agents that take part, separated by commas")
	apartFlag  = flag.Bool("apart", false, "one room for each agent")
)

// key is the secret of every agent. It may be nowhere but in environments.
const key = "sk-fake-3f1c9d7e5b2a4860"

// An agent is a preset, set up so that it asks the fake model.
type agent struct {
	name  string
	env   map[string]string // {home}, {url} and {key} are replaced
	files map[string]string // in its home; {url} is replaced

	// told is what the agent tells of the usage that the model reports.
	told func(model.Usage) model.Usage
	// grows is the memory, in MiB a turn, that the agent itself takes for a session.
	grows int
	// order is a directive to act, and rule the rule that allows it. {file} is the
	// file that is there afterwards.
	order, rule string
	// shell is the tool that runs a {command}, and runs its arguments.
	shell, runs string
}

func everything(u model.Usage) model.Usage { return u }

const (
	writeOrder = `WRITE:{"path":"{file}","content":"hello"}`
	writeRule  = `{"kind": "edit", "paths": ["**"]}`
)

var known = []agent{
	{
		name: "claude", grows: 1, shell: "Bash", runs: `{"command":"{command}"}`,
		env:  map[string]string{"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "{key}", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1"},
		told: everything, order: writeOrder, rule: writeRule,
	},
	{
		name: "codex", shell: "exec_command", runs: `{"cmd":"{command}","yield_time_ms":30000}`,
		env: map[string]string{"CODEX_HOME": "{home}", "FAKE_API_KEY": "{key}"},
		files: map[string]string{"config.toml": `model = "fake-1"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_API_KEY"
`},
		told: everything,
		// A command in its sandbox needs no permission and cannot write.
		order: `CALL:exec_command:{"cmd":"touch {file}","sandbox_permissions":"require_escalated","justification":"May I?"}`,
		rule:  `{"kind": "execute", "argv": ["touch", "*"]}`,
	},
	{
		name: "gemini", grows: 2, shell: "run_shell_command", runs: `{"command":"{command}"}`,
		env: map[string]string{"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "{key}"},
		files: map[string]string{".gemini/settings.json": `{
"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
"privacy": {"usageStatisticsEnabled": false}, "model": {"name": "gemini-2.5-flash"}}`},
		told: func(u model.Usage) model.Usage { // neither thoughts nor what was cached
			return model.Usage{Input: u.Input, Output: u.Output - u.Reasoning}
		},
		order: writeOrder, rule: writeRule,
	},
	{
		name: "opencode", grows: 2, shell: "bash", runs: `{"command":"{command}","description":"wait"}`,
		env: map[string]string{
			"OPENCODE_CONFIG": "{home}/opencode.json", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "FAKE_API_KEY": "{key}",
		},
		files: map[string]string{"opencode.json": `{"autoupdate": false, "share": "disabled", "model": "fake/fake-1", "provider": {"fake": {
"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": {"baseURL": "{url}/v1", "apiKey": "{env:FAKE_API_KEY}"},
"models": {"fake-1": {"name": "fake-1", "limit": {"context": 200000, "output": 8000}}}}}}`},
		told: everything, order: writeOrder, rule: writeRule,
	},
	{
		name: "qwen", grows: 1, shell: "run_shell_command", runs: `{"command":"{command}","is_background":false}`,
		env: map[string]string{"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "{key}", "OPENAI_MODEL": "fake-1"},
		files: map[string]string{".qwen/settings.json": `{
"security": {"auth": {"selectedType": "openai"}}, "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}`},
		told: everything, order: writeOrder, rule: writeRule,
	},
}

// chosen returns the agents of the flag.
func chosen(t *testing.T) (out []agent) {
	t.Helper()
	for name := range strings.SplitSeq(*agentsFlag, ",") {
		i := slices.IndexFunc(known, func(a agent) bool { return a.name == name })
		if i < 0 {
			t.Fatalf("there is no agent %q; fix: choose among claude, codex, gemini, opencode, qwen", name)
		}
		out = append(out, known[i])
	}
	return out
}

// installed returns PATH with the agents that run.sh has installed, and skips
// the test without them.
func installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MOOT_AGENTS")
	if dir == "" {
		t.Skip("the real agents take 1.5 GB and are not part of CI; fix: run test/agents/run.sh, which installs them")
	}
	bin, err := filepath.Abs(filepath.Join(dir, "node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"claude-agent-acp", "codex-acp", "gemini", "opencode", "qwen"} {
		if _, err := os.Stat(filepath.Join(bin, program)); err != nil {
			t.Fatalf("%v; fix: remove %s and run test/agents/run.sh", err, dir)
		}
	}
	return bin + string(os.PathListSeparator) + os.Getenv("PATH")
}
