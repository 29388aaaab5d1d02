// Package preset lists the agents that a room can have by their name, and
// finds out which of them this machine has.
package preset

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/problem"
)

// A Preset is an agent that can be seated by its name: one of package acp, or a
// server.
type Preset struct {
	acp.Preset
}

// Names of the presets that are servers.
const (
	Ollama = "ollama"
	OpenAI = "openai"
)

// keyVariable has the key of OpenAI, and openAIModel is the model of a new seat
// there.
const (
	openAIURL   = "https://api.openai.com/v1"
	keyVariable = "OPENAI_API_KEY"
	openAIModel = "gpt-5-mini"
)

// All returns the presets in the order in which they are shown.
func All() (all []Preset) {
	for _, p := range acp.Presets() {
		all = append(all, Preset{p})
	}
	return append(all, Preset{acp.Preset{Name: Ollama, Title: "A model of Ollama"}}, Preset{acp.Preset{Name: OpenAI, Title: "A model of OpenAI"}})
}

// Names returns the names of all presets.
func Names() (names []string) {
	for _, p := range All() {
		names = append(names, p.Name)
	}
	return names
}

// Lookup returns the preset of a name.
func Lookup(name string) (Preset, bool) {
	all := All()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return all[i], true
}

// Program returns the name of the preset's program, or "" for a server.
func (p Preset) Program() string {
	if len(p.Command) == 0 {
		return ""
	}
	return p.Command[0]
}

// A Seat says where this machine has the agent of a preset, and how room.yaml
// reaches it.
type Seat struct {
	Where    string            // a path, the address of a server, a variable
	Endpoint string            // the value of endpoint:, on one line
	Keys     map[string]string // the same, by its keys
}

// Find looks for the agent on this machine. The error says how to get it. It may
// take a few seconds if the agent is a server.
func (p Preset) Find(ctx context.Context) (Seat, error) {
	switch p.Name {
	case Ollama:
		base := OllamaURL()
		models, err := OllamaModels(ctx, base)
		if err != nil {
			return Seat{}, err
		}
		return Seat{
			models[0] + " at " + base, fmt.Sprintf("{kind: openai, baseURL: %q, model: %q}", base+"/v1", models[0]),
			map[string]string{"kind": "openai", "baseURL": base + "/v1", "model": models[0]},
		}, nil
	case OpenAI:
		if strings.TrimSpace(os.Getenv(keyVariable)) == "" {
			return Seat{}, &problem.Error{Code: "INIT-AGENT", What: "openai: " + keyVariable + " is not set", Fix: "export " + keyVariable + "=..., in the shell that runs moot"}
		}
		return Seat{
			keyVariable + " is set", fmt.Sprintf("{kind: openai, baseURL: %q, model: %s, apiKey: \"${%s}\"}", openAIURL, openAIModel, keyVariable),
			map[string]string{"kind": "openai", "baseURL": openAIURL, "model": openAIModel, "apiKey": "${" + keyVariable + "}"},
		}, nil
	}
	path, err := exec.LookPath(p.Program())
	if err != nil {
		return Seat{}, &problem.Error{Code: "INIT-AGENT", What: fmt.Sprintf("%s: %s is not in PATH", p.Name, p.Program()), Fix: p.howToInstall()}
	}
	return Seat{path, fmt.Sprintf("{kind: acp, agent: %s}", p.Name), map[string]string{"kind": "acp", "agent": p.Name}}, nil
}

// Permissions says how the agent is made to ask before it acts, and what that does not
// cover; "" for a server, which has no tools.
func (p Preset) Permissions() string {
	how := "asks before it acts"
	switch {
	case p.Program() == "":
		return ""
	case p.Mode != "":
		how = "mode " + p.Mode
	case p.Option != "":
		how = p.Option + " " + p.Value
	}
	return how + ": " + p.Limits
}

// howToInstall says how the preset's program is installed on this machine.
func (p Preset) howToInstall() string {
	if _, err := exec.LookPath("npm"); err != nil {
		return "install Node.js with npm (https://nodejs.org), then run: " + p.Install
	}
	return p.Install
}
