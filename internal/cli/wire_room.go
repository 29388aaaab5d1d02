package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/folkmoot/moot/endpoints/ndjson"
	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/audit"
	"github.com/folkmoot/moot/room/log/sqlite"
	"github.com/oklog/ulid/v2"
)

// openLog opens the log in the data folder.
func (a *app) openLog(readOnly bool) (*sqlite.DB, error) {
	return sqlite.Open(sqlite.Config{Dir: a.settings.Data, ReadOnly: readOnly})
}

// A host is what running rooms takes: the log, the host log, the sandbox, and
// ways to reach agents.
type host struct {
	log   *sqlite.DB
	audit *audit.Log

	app     *app
	sandbox *plugins.Host
	early   *loading // the policy that the room will ask for first; nil once it has
	remote  remote   // other owners' devices
}

// openHost opens the log for writing. The caller closes the host.
func (a *app) openHost() (*host, error) {
	if err := policies.Verify(); err != nil {
		return nil, err
	}
	h := &host{app: a}
	var err error
	if h.log, err = a.openLog(false); err != nil {
		return nil, err
	}
	if h.audit, err = audit.Open(audit.Config{Dir: a.settings.Data}); err != nil {
		return nil, errors.Join(err, h.log.Close())
	}
	if h.sandbox, err = a.sandbox(); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Close ends everything; rooms must have ended before.
func (h *host) Close() error {
	var err error
	if h.early != nil {
		<-h.early.done
	}
	if h.sandbox != nil {
		err = h.sandbox.Close()
	}
	h.remote.close()
	return errors.Join(err, h.log.Close(), h.audit.Close())
}

// record keeps one thing that was asked in the host log.
func (h *host) record(a coordinator.AuditEntry) error {
	return h.audit.Append(audit.Event{
		Time: a.Time, Profile: a.Profile, Device: a.Device, Requester: a.Requester, Room: a.Room, Turn: a.Turn,
		Mode: a.Mode, Status: a.Status, Reason: a.Reason, MS: a.Took.Milliseconds(),
	})
}

// config says how this process runs rooms.
func (h *host) config() coordinator.Config {
	return coordinator.Config{
		Log: h.log, Policy: h.policy, Endpoint: h.reach, Audit: h.record, Owner: owner(), Profiles: &coordinator.Profiles{},
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

// reach makes the endpoint of a seat from what room.yaml says, which the log
// keeps. Variables are expanded again, so that secrets stay out of the log.
func (h *host) reach(ctx context.Context, spec room.Spec, p room.Participant) (coordinator.Endpoint, error) {
	e, err := config.ExpandEndpoint(p.Endpoint, spec.Dir, lookup)
	if err != nil {
		return nil, fmt.Errorf("reaching %s: %w", p.ID, err)
	}
	if e.Kind == config.KindRelay {
		return h.reachRemote(ctx, p, e)
	}
	return open(e, orElse(p.Profile, p.ID))
}

// open makes the endpoint of an agent of this device.
func open(e config.Endpoint, profile string) (coordinator.Endpoint, error) {
	switch e.Kind {
	case config.KindNDJSON:
		return ndjson.New(ndjson.Config{Command: e.Command, Dir: e.Dir, Env: assignments(e.Env), Profile: profile, Restart: e.Restart}), nil
	case config.KindScripted:
		steps, err := script(e)
		if err != nil {
			return nil, err
		}
		return scripted.New(steps...), nil
	}
	return nil, &problem.Error{
		Code: "ROOM-ENDPOINT", What: fmt.Sprintf("%s has an endpoint of kind %q, which this moot does not have", profile, e.Kind),
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
