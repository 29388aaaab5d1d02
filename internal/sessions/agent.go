package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// folder returns the working folder of a session. It is in one of the roots, also
// after symbolic links are followed. The error does not tell whether a folder
// outside exists.
func (s *Sessions) folder(path string) (string, error) {
	refused := &problem.Error{Code: "SESSION-FOLDER", What: fmt.Sprintf("%.200q is no folder in which sessions may work", path), Fix: "use the absolute path of a folder below one of server.roots in the settings"}
	if !filepath.IsAbs(path) || slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..") {
		return "", refused
	}
	for _, base := range s.roots {
		rel, err := filepath.Rel(base, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if isFolder(base, rel) {
			return filepath.Join(base, rel), nil
		}
	}
	return "", refused
}

// isFolder reports whether rel is a folder in base that no symbolic link leads out of.
func isFolder(base, rel string) bool {
	r, err := os.OpenRoot(base)
	if err != nil {
		return false
	}
	defer r.Close()
	info, err := r.Stat(rel)
	return err == nil && info.IsDir()
}

// narrow takes from the agent of a session what the agent that creates it may not delegate.
func (s *Sessions) narrow(ctx context.Context, from Sender, p *moot.Participant) error {
	if from.Seat == "" {
		return nil // a person with control
	}
	folded, err := coordinator.State(ctx, s.cfg.Host.Log(), from.Room)
	if err != nil {
		return err
	}
	most, err := folded.MayStart(from.Seat)
	if err != nil {
		return err
	}
	if use, delegate := p.Rights(); !most.Has(use | delegate) {
		p.MayUse, p.MayDelegate = (use & most).Names(), (delegate & most).Names()
	}
	return nil
}

// participant returns the seat of a session, and the folder at which the relative
// paths of its endpoint begin.
func (s *Sessions) participant(n New, folder string) (moot.Participant, string, error) {
	name := cmp.Or(n.Agent, s.cfg.Settings.Server.Agent)
	p := moot.Participant{ID: seatID, Name: name, Kind: policy.Local, Mode: room.FullAuto, Tools: true, Timeout: turnTime}
	for _, profile := range s.cfg.Settings.Profiles {
		if profile.Name == name && profile.Endpoint != nil {
			e, err := inFolder(profile.Endpoint, folder, n.Model)
			p.Profile, p.Instructions, p.Allow, p.Endpoint = profile.Name, profile.Instructions, profile.Rules, e
			p.Timeout, p.Remembers = cmp.Or(profile.Timeout, p.Timeout), strings.Contains(string(e), `"kind":"acp"`)
			return p, profile.Dir, err
		}
	}
	if _, ok := acp.PresetOf(name); !ok {
		return p, "", &problem.Error{Code: "SESSION-AGENT", What: fmt.Sprintf("there is no agent %.40q", name), Fix: "name claude, codex, gemini, opencode, qwen or a profile of the settings, or set server.agent"}
	}
	e, err := inFolder([]byte(`{"kind":"acp","agent":"`+name+`"}`), folder, n.Model)
	p.Endpoint, p.Remembers = e, true
	return p, folder, err
}

// modelVars are the variables by which known agents are told their model.
var modelVars = map[string]string{"claude": "ANTHROPIC_MODEL", "gemini": "GEMINI_MODEL"}

// inFolder returns an endpoint as written whose agent works in folder with model.
func inFolder(written []byte, folder, model string) (policy.JSON, error) {
	e := map[string]any{}
	if err := json.Unmarshal(written, &e); err != nil {
		return nil, fmt.Errorf("the endpoint of a session: %w", err)
	}
	kind, _ := e["kind"].(string)
	switch kind {
	case config.KindACP, config.KindNDJSON, config.KindCommand:
		e["cwd"] = strings.ReplaceAll(folder, "${", "$${")
	case config.KindRelay:
		return nil, &problem.Error{Code: "SESSION-AGENT", What: "a session cannot be the agent of another owner", Fix: "name an agent of this device"}
	}
	agent, _ := e["agent"].(string)
	switch {
	case model == "":
	case strings.ContainsAny(model, "$\x00\n"):
		return nil, noModel(model)
	case kind == config.KindOpenAI:
		e["model"] = model
	case kind == config.KindACP && modelVars[agent] != "":
		env, _ := e["env"].(map[string]any)
		if env == nil {
			env = map[string]any{}
		}
		env[modelVars[agent]] = model
		e["env"] = env
	default:
		return nil, noModel(model)
	}
	b, err := json.Marshal(e)
	return b, err
}

func noModel(model string) error {
	return &problem.Error{Code: "SESSION-AGENT", What: fmt.Sprintf("the agent cannot be told to use the model %.60q", model), Fix: "leave model out, and choose it in the agent's own settings"}
}
