package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/folkmoot/moot/endpoints/ndjson"
	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/problem"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/sqlite"
	"github.com/oklog/ulid/v2"
)

// openLog opens the log in the data folder.
func (a *app) openLog(readOnly bool) (*sqlite.DB, error) {
	return sqlite.Open(sqlite.Config{Dir: a.settings.Data, ReadOnly: readOnly})
}

// A host is what running rooms takes: the log, the sandbox, and ways to reach
// agents.
type host struct {
	log   *sqlite.DB
	cache string

	once    sync.Once
	sandbox *plugins.Host
	err     error
}

// openHost opens the log for writing. The caller closes the host.
func (a *app) openHost() (*host, error) {
	if err := policies.Verify(); err != nil {
		return nil, err
	}
	db, err := a.openLog(false)
	if err != nil {
		return nil, err
	}
	return &host{log: db, cache: a.settings.Cache}, nil
}

// Close ends everything; rooms must have ended before.
func (h *host) Close() error {
	var err error
	if h.sandbox != nil {
		err = h.sandbox.Close()
	}
	if cerr := h.log.Close(); err == nil {
		err = cerr
	}
	return err
}

// config says how this process runs rooms.
func (h *host) config() coordinator.Config {
	return coordinator.Config{
		Log: h.log, Policy: h.policy, Endpoint: reach, Owner: owner(), Profiles: &coordinator.Profiles{},
	}
}

// owner names this process in logs.
func owner() string {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return fmt.Sprintf("%s:%d", name, os.Getpid())
}

// policyRef is everything about a built-in policy that a room's log keeps.
func policyRef(use string, settings policy.JSON, hints bool) (room.PolicyRef, error) {
	if !policies.Has(use) {
		return room.PolicyRef{}, noPolicy(use)
	}
	m := policies.Manifest(use)
	return room.PolicyRef{
		Use: use, Name: m.Name, Version: m.Version, Digest: policies.Digest(),
		Settings: settings, Needs: m.Input, Hints: hints,
	}, nil
}

func noPolicy(use string) error {
	return &problem.Error{
		Code: "ROOM-POLICY", What: fmt.Sprintf("there is no policy %q", use),
		Fix: "built in are " + strings.Join(policies.Names(), ", "),
	}
}

// checkPolicy refuses a policy whose module is not the one that the room was
// opened with: its decisions would not be those that the log records.
func checkPolicy(ref room.PolicyRef) error {
	if !policies.Has(ref.Name) {
		return noPolicy(ref.Name)
	}
	if err := policies.Verify(); err != nil {
		return err
	}
	if have := policies.Digest(); ref.Digest != have {
		return &problem.Error{
			Code: policies.CodeDigest, What: fmt.Sprintf("the room's policy %q is another build: the log names SHA-256 %s, this moot has %s", ref.Name, ref.Digest, have),
			Fix: "use the release of moot that opened the room, or change the policy with --policy " + ref.Name,
		}
	}
	return nil
}

// policy loads the policy that a room names.
func (h *host) policy(ctx context.Context, ref room.PolicyRef) (coordinator.Policy, error) {
	if err := checkPolicy(ref); err != nil {
		return nil, err
	}
	h.once.Do(func() { h.sandbox, h.err = plugins.NewHost(plugins.Config{CacheDir: h.cache}) })
	if h.err != nil {
		return nil, h.err
	}
	m := policies.Manifest(ref.Name)
	return h.sandbox.Load(ctx, plugins.Module{
		Name: ref.Name, Wasm: policies.Module(), Digest: ref.Digest, Settings: ref.Settings, Trusted: true,
		Limits: plugins.Limits{Fuel: m.Limits.Fuel, MemoryPages: m.Limits.MemoryPages},
	})
}

// reach makes the endpoint of a seat from what room.yaml says, which the log
// keeps. Variables are expanded again, so that secrets stay out of the log.
func reach(_ context.Context, spec room.Spec, p room.Participant) (coordinator.Endpoint, error) {
	e, err := config.ExpandEndpoint(p.Endpoint, spec.Dir, lookup)
	if err != nil {
		return nil, fmt.Errorf("reaching %s: %w", p.ID, err)
	}
	switch e.Kind {
	case config.KindNDJSON:
		return ndjson.New(ndjson.Config{Command: e.Command, Dir: e.Dir, Env: assignments(e.Env), Profile: p.Profile, Restart: e.Restart}), nil
	case config.KindScripted:
		steps, err := script(e)
		if err != nil {
			return nil, err
		}
		return scripted.New(steps...), nil
	}
	return nil, &problem.Error{
		Code: "ROOM-ENDPOINT", What: fmt.Sprintf("%s has an endpoint of kind %q, which this moot does not have", p.ID, e.Kind),
		Fix: "use " + config.KindNDJSON + " or " + config.KindScripted + ", or a newer moot",
	}
}

func assignments(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// script reads what a scripted agent says: a file in the form of package
// scripted, or plain lines, one a turn.
func script(e config.Endpoint) ([]scripted.Step, error) {
	if e.Script == "" {
		steps := make([]scripted.Step, len(e.Lines))
		for i, line := range e.Lines {
			steps[i].Text = line
		}
		return steps, nil
	}
	text, err := os.ReadFile(e.Script)
	if err != nil {
		return nil, fmt.Errorf("reading a script: %w", err)
	}
	return scripted.Parse(e.Script, text)
}

// selfVariable stands for this program in the endpoints of the demo: a path
// in the log would be that of a build that is long gone.
const selfVariable = "MOOT_SELF"

func lookup(name string) (string, bool) {
	if name == selfVariable {
		exe, err := os.Executable()
		return exe, err == nil
	}
	return os.LookupEnv(name)
}

// newRoomID returns an id that sorts by time.
func newRoomID() string { return "r_" + strings.ToLower(ulid.Make().String()) }

// newSecret returns 128 random bits in hex.
func newSecret() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
