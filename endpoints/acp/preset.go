package acp

import (
	"cmp"
	"slices"
)

// A Preset is what is known of one agent. The zero Preset is an agent of which
// nothing is known: nothing is set, and its permissions are its own.
type Preset struct {
	Name    string
	Title   string   // for people
	Command []string // the program and its arguments
	Install string   // the command that installs it

	Mode          string   // session mode in which it asks before it acts
	Option, Value string   // or the configuration option that has this effect
	Env           []string // or the variables, KEY=VALUE
	Pass          []string // variables that it needs, if they are set here
	AsRoot        []string // variables, KEY=VALUE, that only root needs

	Defaults    string // settings, to which those of the owner are preferred; "" is none
	DefaultsVar string // the variable that names a file with them

	MessageIDs bool     // its messages have an id; a chunk without one is a notice
	Titled     bool     // it states a command as the title of the action, and nowhere else
	Limits     string   // what the mode cannot enforce, a sentence for people
	Free       []string // kinds of tools that it uses without asking
	SignIn     string   // how its owner signs in
}

// OwnPermissions is what is shown of an agent without a preset.
const OwnPermissions = "its own permissions, unknown"

// network are the variables that programs of Node.js need behind a proxy.
var network = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"}

// askAll is a configuration of opencode in which each tool that changes something
// or leaves the folder asks. Each key is written, because the key of a user's own
// configuration would otherwise prevail over "*".
const askAll = `{"permission":{"*":"ask","edit":"ask","bash":"ask","webfetch":"ask","websearch":"ask","task":"ask","external_directory":"ask","doom_loop":"ask","read":"allow","glob":"allow","grep":"allow","list":"allow","todowrite":"allow","todoread":"allow"},"share":"disabled","autoupdate":false}`

var presets = []Preset{
	{
		Name: "claude", Title: "Claude Code", Command: []string{"claude-agent-acp"}, Install: "npm install --global @agentclientprotocol/claude-agent-acp@0.100.0",
		Mode: "default", AsRoot: []string{"IS_SANDBOX=1"}, MessageIDs: true,
		// Otherwise it asks its model in each turn to guess the next prompt.
		Env:    []string{"CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=false"},
		Pass:   []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"},
		Limits: "it reads files and searches without asking, and follows the allow rules of its own settings",
		Free:   []string{"read", "search", "think"},
		SignIn: "run `claude` and sign in, or set ANTHROPIC_API_KEY",
	},
	{
		Name: "codex", Title: "Codex", Command: []string{"codex-acp"}, Install: "npm install --global @agentclientprotocol/codex-acp@2.6.0",
		Option: "mode", Value: "read-only", MessageIDs: true,
		Pass:   []string{"OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL", "CODEX_HOME"},
		Limits: "it reads files and runs commands that change nothing without asking, in its own sandbox",
		Free:   []string{"read", "search", "think", "execute"},
		SignIn: "run `codex login`, or set OPENAI_API_KEY",
	},
	{
		Name: "gemini", Title: "Gemini CLI", Command: []string{"gemini", "--acp"}, Install: "npm install --global @google/gemini-cli@0.61.0",
		Mode: "default", Titled: true,
		Pass:   []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_MODEL"},
		Limits: "it reads files and searches without asking, and follows the policies of its own settings",
		Free:   []string{"read", "search", "think"},
		SignIn: "run `gemini` and sign in, or set GEMINI_API_KEY",
	},
	{
		Name: "opencode", Title: "opencode", Command: []string{"opencode", "acp"}, Install: "npm install --global opencode-ai@1.18.33",
		Env: []string{"OPENCODE_CONFIG_CONTENT=" + askAll},
		Pass: []string{
			"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY", "OPENCODE_CONFIG",
			"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
		},
		Limits: "it reads files and searches without asking, and an agent that its configuration defines keeps its own permissions",
		Free:   []string{"read", "search", "think"},
		SignIn: "run `opencode auth login`",
	},
	{
		Name: "qwen", Title: "Qwen Code", Command: []string{"qwen", "--acp"}, Install: "npm install --global @qwen-code/qwen-code@0.24.4",
		Mode: "default",
		// Otherwise it asks its model in each turn what to remember, and to guess the next prompt.
		Defaults: `{"ui":{"enableFollowupSuggestions":false},"memory":{"enableManagedAutoMemory":false}}`, DefaultsVar: "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
		Pass:   []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY"},
		Limits: "it reads files and searches without asking, and follows the allow rules of its own settings",
		Free:   []string{"read", "search", "think"},
		SignIn: "run `qwen` and sign in, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL",
	},
}

// Presets returns the agents that are known, by name.
func Presets() []Preset { return slices.Clone(presets) }

// PresetOf returns the preset of that name.
func PresetOf(name string) (p Preset, ok bool) {
	for _, p := range presets {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

// Enforces is what moot does so that the agent asks, for people.
func (p Preset) Enforces() string {
	switch {
	case p.Mode != "":
		return "mode " + p.Mode
	case p.Option != "":
		return "option " + p.Option + " = " + p.Value
	case len(p.Env) > 0:
		return "a configuration in which it asks"
	}
	return OwnPermissions
}

func (p Preset) mode() string { return cmp.Or(p.Mode, p.Option+" = "+p.Value) }

// environ returns the variables that the preset sets and those that it passes on.
// They are set and not only allowed, so that their values are removed from what the
// agent writes to standard error.
func (p Preset) environ(lookup func(string) (string, bool), root bool) []string {
	if p.Name == "" {
		return nil
	}
	env := slices.Clone(p.Env)
	if root {
		env = append(env, p.AsRoot...)
	}
	for _, name := range slices.Concat(p.Pass, network) {
		if v, ok := lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
