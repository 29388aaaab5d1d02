package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
)

// Kinds of endpoints.
const (
	KindNDJSON   = "ndjson"
	KindACP      = "acp"
	KindCommand  = "command"
	KindScripted = "scripted"
	KindRelay    = "relay"
	KindOpenAI   = "openai"
	KindA2A      = "a2a"
	KindSession  = "session" // a session that already runs and awaits its turns
	KindGo       = "go"      // an agent of the Go program that hosts the room
)

// An Endpoint says how to reach an agent. Variables are expanded and paths are
// absolute. It may contain secrets, so it must not be logged or shown.
type Endpoint struct {
	Kind    string
	Command []string          // the program (an absolute path, or a name in PATH) and its arguments
	Dir     string            // working folder, absolute
	Env     map[string]string // in addition to the variables that every agent gets
	Restart *int              // how often it is restarted automatically; see Restarts

	Agent      string // name of a known agent; Command may be empty then
	SayAll     bool   // all text of a turn is said
	AwaitReady bool   // its agent says when it has started
	Script     string // file of lines, absolute
	Lines      []string
	Peer       string // name or ID of the device of a remote agent
	Profile    string // profile on that device
	Name       string // of an agent in Go

	BaseURL         string // of a model server
	Model           string // on that server
	APIKey          string // a secret
	Temperature     *float64
	MaxOutputTokens int

	URL   string // of an A2A server
	Token string // a secret
}

// DefaultBaseURL is that of Ollama on this machine.
const DefaultBaseURL = "http://localhost:11434/v1"

// defaultRestarts of an agent that starts with little effort and may restore its
// memory.
const defaultRestarts = 3

// Restarts returns how often the agent is restarted automatically.
func (e Endpoint) Restarts() int {
	switch {
	case e.Restart != nil:
		return *e.Restart
	case e.Kind == KindACP:
		return defaultRestarts
	}
	return 0
}

// resolve makes paths absolute. Relative paths start at dir.
func (w *wireEndpoint) resolve(dir string) Endpoint {
	e := Endpoint{
		Kind: w.Kind, Env: w.Env, Restart: w.Restart, Agent: w.Agent, SayAll: w.Say == "all", AwaitReady: w.AwaitReady,
		Lines: w.Lines, Peer: w.Peer, Profile: w.Profile, Name: w.Name,
	}
	switch w.Kind {
	case KindNDJSON, KindACP, KindCommand:
		e.Command, e.Dir = slices.Clone(w.Command), absolutePath(dir, w.Cwd)
		if len(e.Command) > 0 && strings.ContainsAny(e.Command[0], `/\`) {
			e.Command[0] = absolutePath(dir, e.Command[0])
		}
	}
	if w.Kind == KindOpenAI {
		e.BaseURL, e.Model, e.APIKey = cmp.Or(w.BaseURL, DefaultBaseURL), w.Model, w.APIKey
		e.Temperature, e.MaxOutputTokens = w.Temperature, w.MaxOutputTokens
	}
	e.URL, e.Token = w.URL, w.Token
	if w.Script != "" {
		e.Script = absolutePath(dir, w.Script)
	}
	return e
}

func absolutePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// IsPath reports whether the value of policy.use is a path and not a name.
func IsPath(use string) bool {
	return strings.HasPrefix(use, ".") || strings.ContainsAny(use, `/\`) || strings.HasSuffix(use, ".wasm")
}

// endpointAsWritten returns the endpoint of participant i as JSON, with variables
// not expanded. This form is stored in the log.
func (d *document) endpointAsWritten(i int) policy.JSON {
	n, _ := d.find(participantPath(i, "endpoint"))
	plain := document{owner: d.owner, main: d.main, root: d.root, verbatim: true}
	v, ok := plain.convert(n, participantPath(i, "endpoint")).(map[string]any)
	if !ok {
		return nil
	}
	if rel, err := filepath.Rel(d.main.dir, d.sourceOf(i).dir); err == nil && rel != "." {
		v["base"] = filepath.ToSlash(rel)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// HasStart reports whether an endpoint as written is that of an agent that has to be
// started: a process, a server that is asked for its models or its agent card, or an agent in Go.
func HasStart(written policy.JSON) bool {
	var w wireEndpoint
	err := json.Unmarshal(written, &w)
	return err == nil && (w.Kind == KindNDJSON || w.Kind == KindACP || w.Kind == KindCommand || w.Kind == KindOpenAI || w.Kind == KindA2A || w.Kind == KindGo)
}

// IsSession reports whether an endpoint as written waits for a session that already
// runs.
func IsSession(written policy.JSON) bool {
	var w wireEndpoint
	return json.Unmarshal(written, &w) == nil && w.Kind == KindSession
}

// MayBid reports whether the agent of an endpoint as written may be asked for bids.
// Agents of some kinds have no protocol for them.
func MayBid(written policy.JSON) bool {
	var w wireEndpoint
	if json.Unmarshal(written, &w) != nil {
		return true // no endpoint, or one of the program that embeds this one
	}
	switch w.Kind {
	case KindACP, KindCommand, KindOpenAI, KindA2A, KindSession:
		return false
	}
	return true
}

// PrivacyNote says who can read what the agent of an endpoint as written is sent, if
// that is neither this machine nor a device at the end of an encrypted connection;
// else it is "".
func PrivacyNote(written policy.JSON) string {
	var w wireEndpoint
	if json.Unmarshal(written, &w) != nil || w.Kind != KindA2A {
		return ""
	}
	return "A2A agent at " + w.URL + ", not end to end encrypted: its server reads the room"
}

// statesUsage reports whether the agent is known to state what a turn has used.
// Programs that answer in plain text, agents of A2A and sessions do not.
func (w *wireEndpoint) statesUsage() bool {
	switch w.Kind {
	case KindCommand, KindA2A, KindSession:
		return false
	case KindACP:
		return w.Agent != ""
	}
	return true
}

// ExpandEndpoint expands an endpoint that was stored as written, such as
// [room.Participant].Endpoint of a reopened room. dir is the folder of the room.
// A nil lookup means os.LookupEnv.
func ExpandEndpoint(written policy.JSON, dir string, lookup func(string) (string, bool)) (Endpoint, error) {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	var w wireEndpoint
	if err := decodeStrict(written, &w); err != nil {
		return Endpoint{}, fmt.Errorf("decoding endpoint: %w", err)
	}
	texts := []*string{&w.Kind, &w.Agent, &w.Say, &w.Cwd, &w.Script, &w.Peer, &w.Profile, &w.Name, &w.Base, &w.BaseURL, &w.Model, &w.APIKey, &w.URL, &w.Token}
	for _, list := range [][]string{w.Command, w.Lines} {
		for i := range list {
			texts = append(texts, &list[i])
		}
	}
	var err error
	for _, t := range texts {
		if *t, err = expand(*t, lookup); err != nil {
			return Endpoint{}, fmt.Errorf("expanding endpoint: %w", err)
		}
	}
	for name, value := range w.Env {
		if w.Env[name], err = expand(value, lookup); err != nil {
			return Endpoint{}, fmt.Errorf("expanding endpoint: %w", err)
		}
	}
	return w.resolve(absolutePath(dir, filepath.FromSlash(w.Base))), nil
}
