package moot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/a2a"
	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/endpoints/command"
	"github.com/folkmoot/moot/endpoints/ndjson"
	"github.com/folkmoot/moot/endpoints/openai"
	"github.com/folkmoot/moot/endpoints/relay/bus"
	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/hold"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/seat"
	"github.com/folkmoot/moot/endpoints/relay/server"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/endpoints/relay/spectate"
	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/endpoints/session"
	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/natsserver"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/audit"
	"github.com/folkmoot/moot/room/log/jetstream"
	"github.com/folkmoot/moot/room/log/postgres"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// Wiring constructs the concrete parts of a host: the log, the sandbox,
// endpoints and the relay. No other package constructs them. It serves the moot
// command, whose commands need single parts, and is no part of the stable
// interface: other programs use Open.
type Wiring struct {
	Settings   config.Settings
	Log        *slog.Logger
	Policies   map[string]Policy
	Endpoints  map[string]func(context.Context, Participant) (Endpoint, error)
	Output     io.Writer                           // what compilers print; nil discards it
	Note       func(format string, args ...any)    // tells the user; may be nil
	Passphrase func(prompt string) ([]byte, error) // asks the user; nil cannot
	Working    func(what string) (done func())     // shows what the user waits for; may be nil
	AllRooms   bool                                // a Host wakes every room of the data folder that has something to do
	// Node, if not nil, makes the process one of several that run the rooms of one log. It
	// is given the registry of their processes, and what returns the [Spec.Device] of a room.
	Node func(r log.Members, deviceOf func(room string) string) (Node, error)

	AllowFuel bool // policies that are not built in may have as much fuel as they ask for

	Observers []coordinator.Observer // of rooms, for metrics and traces
	Cluster   *natsserver.Server     // of this process, which keeps the rooms; nil without one

	// Tools returns the tool server that a seat of a room gets, with a credential of
	// that seat; nil and false are none. It is called for each session of an agent.
	Tools func(room, seat string) (acp.ToolServer, bool)
}

func (w Wiring) note(format string, args ...any) {
	if w.Note != nil {
		w.Note(format, args...)
	}
}

// logEngines are the engines that keep rooms on a server, by the scheme of their URLs.
var logEngines = map[string]logOpener{
	"nats": func(url string, readOnly bool) (RoomLog, error) {
		return openNATS(jetstream.Config{URL: url, ReadOnly: readOnly})
	},
	"postgres": openPostgres, "postgresql": openPostgres,
}

func openNATS(c jetstream.Config) (RoomLog, error) {
	return opened(jetstream.Open(context.Background(), c))
}

func openPostgres(url string, readOnly bool) (RoomLog, error) {
	return opened(postgres.Open(postgres.Config{URL: url, ReadOnly: readOnly}))
}

func (w Wiring) openFolder(readOnly bool) (*sqlite.DB, error) {
	return sqlite.Open(sqlite.Config{Dir: w.Settings.Data, ReadOnly: readOnly})
}

// LockData takes the data folder alone, to replace its files, and makes it if it is
// missing. The log cannot be opened for writing until unlock is called.
func (w Wiring) LockData() (unlock func(), err error) { return sqlite.LockFolder(w.Settings.Data) }

// OpenAudit opens the host log, which holds what agents were asked and how it
// ended. The caller closes it.
func (w Wiring) OpenAudit() (*audit.Log, error) {
	if err := device.DropOldAnswers(w.DeviceDir()); err != nil {
		w.Log.Warn("old answers of shared agents stay on the disk", "error", err)
	}
	return audit.Open(audit.Config{Dir: w.Settings.Data})
}

// Sandbox starts a sandbox of policies, with the cache of the settings unless
// c names another. The caller closes it.
func (w Wiring) Sandbox(c plugins.Config) (*plugins.Host, error) {
	if c.CacheDir == "" {
		c.CacheDir = filepath.Join(w.Settings.Cache, "policies")
	}
	if w.Working != nil {
		c.Preparing = func(name string) func() { return w.Working("preparing policy " + name) }
	}
	return plugins.NewHost(c)
}

// FailDir is the folder that inputs of failed decisions are saved in.
func (w Wiring) FailDir() string { return filepath.Join(w.Settings.Data, "failed") }

// DeviceDir is the folder of this device's keys and peers.
func (w Wiring) DeviceDir() string { return filepath.Join(w.Settings.Data, "device") }

// Catalog returns the policies that can be found here.
func (w Wiring) Catalog() *catalog.Catalog {
	return &catalog.Catalog{
		Store:     pack.NewStore(filepath.Join(w.Settings.Data, "policies")),
		OpenBlobs: func() (catalog.BlobsCloser, error) { return w.OpenLog(true) },
		Output:    w.Output, Note: w.Note,
	}
}

// RoomOptions says how a room.yaml in dir is checked on this machine.
func (w Wiring) RoomOptions(dir string, headless bool) config.Options {
	c := w.Catalog()
	names := catalog.Names(dir)
	if names != nil {
		for name := range w.Policies {
			names = append(names, name)
		}
	}
	find := func(in func(d *device.Device, peer string) (id, name string, err error)) func(string) (string, string, error) {
		return func(peer string) (id, name string, err error) {
			d, err := w.Device()
			if err != nil {
				return "", "", err
			}
			return in(d, peer)
		}
	}
	return config.Options{
		Headless: headless, Policies: names, CheckScript: checkScript, AgentProgram: agentProgram,
		SettingsSchema: func(use string) (schema []byte, builtIn bool, err error) {
			if _, ok := w.Policies[use]; ok {
				return nil, false, nil
			}
			schema, err = c.SettingsSchema(dir, use)
			return schema, policies.Has(use), err
		},
		GoEndpoint: func(name string) error {
			if w.Endpoints[name] == nil {
				return noGoEndpoint(name)
			}
			return nil
		},
		Device:   find((*device.Device).Find),
		Observer: find((*device.Device).FindObserver),
	}
}

// agentProgram returns the program of a known agent of the Agent Client Protocol,
// and the command that installs it.
func agentProgram(name string) (program, install string) {
	p, ok := acp.PresetOf(name)
	if !ok {
		return name, ""
	}
	return p.Command[0], p.Install
}

// checkScript checks the script of a scripted agent.
func checkScript(name string, text []byte) error {
	_, err := scripted.Parse(name, text)
	return err
}

// Agent makes the endpoint of an agent of this device that has no seat.
func (w Wiring) Agent(e config.Endpoint, profile string) (coordinator.Endpoint, error) {
	return w.agent(e, profile, nil)
}

// agent makes the endpoint of an agent of this device, with the tools of its seat.
func (w Wiring) agent(e config.Endpoint, profile string, tools func() (acp.ToolServer, bool)) (coordinator.Endpoint, error) {
	switch e.Kind {
	case config.KindNDJSON:
		return ndjson.New(ndjson.Config{Command: e.Command, Dir: e.Dir, Env: assignments(e.Env), Profile: profile, Restart: e.Restarts(), AwaitReady: e.AwaitReady}), nil
	case config.KindACP:
		preset, ok := acp.PresetOf(e.Agent)
		if e.Agent != "" && !ok {
			break
		}
		return acp.New(acp.Config{
			Preset: preset, Command: e.Command, Dir: e.Dir, Env: assignments(e.Env), SayAll: e.SayAll, Restart: e.Restarts(), Version: catalog.Version(), Tools: tools,
		}), nil
	case config.KindCommand:
		return command.New(command.Config{Command: e.Command, Dir: e.Dir, Env: assignments(e.Env)}), nil
	case config.KindOpenAI:
		return openai.New(openai.Config{BaseURL: e.BaseURL, Model: e.Model, APIKey: e.APIKey, Temperature: e.Temperature, MaxOutputTokens: e.MaxOutputTokens}), nil
	case config.KindA2A:
		return a2a.New(a2a.Config{URL: e.URL, Token: e.Token}), nil
	case config.KindScripted:
		steps, err := script(e)
		if err != nil {
			return nil, err
		}
		return scripted.New(steps...), nil
	}
	return nil, &problem.Error{
		Code: "ROOM-ENDPOINT", What: fmt.Sprintf("%s has an endpoint of kind %q, which this moot does not have", profile, e.Kind),
		Fix: "use a kind that docs/room.md lists, or a newer moot",
	}
}

// toolsOf returns what gives sessions of a seat its tool server; nil is none.
func (w Wiring) toolsOf(room, seat string) func() (acp.ToolServer, bool) {
	if w.Tools == nil {
		return nil
	}
	return func() (acp.ToolServer, bool) { return w.Tools(room, seat) }
}

// StartAgent makes the endpoint of an agent and starts it, for a check of it.
func (w Wiring) StartAgent(ctx context.Context, e config.Endpoint) (coordinator.Endpoint, error) {
	a, err := w.Agent(e, "the agent")
	if err != nil {
		return nil, err
	}
	if s, ok := a.(coordinator.Starter); ok {
		if err := s.Start(ctx, nil); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	return a, nil
}

// ProbeAgent starts the agent of a preset in dir, without a prompt, and ends it.
func (w Wiring) ProbeAgent(ctx context.Context, p acp.Preset, dir string) (acp.Report, error) {
	return acp.Probe(ctx, acp.Config{Preset: p, Dir: dir, Version: catalog.Version()})
}

// ServeScript is an agent that answers the stdio frames on in and out with the
// steps of a script, each after a delay.
func (w Wiring) ServeScript(ctx context.Context, in io.Reader, out io.Writer, name string, text []byte, delay time.Duration) error {
	steps, err := scripted.Parse(name, text)
	if err != nil {
		return err
	}
	for i := range steps {
		steps[i].Delay = delay
	}
	return ndjson.Serve(ctx, in, out, scripted.New(steps...))
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

func assignments(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// Device opens this device: its keys, its peers and its invites.
func (w Wiring) Device() (*device.Device, error) { return w.DeviceAt(w.DeviceDir()) }

// DeviceAt opens the device that is kept in dir.
func (w Wiring) DeviceAt(dir string) (*device.Device, error) {
	return device.Open(device.Config{Dir: dir, Relay: w.Settings.RelayURL, Token: w.relayToken, Passphrase: w.devicePassphrase(), Log: w.Log})
}

// devicePassphrase returns what asks for the passphrase of the device's keys:
// the file that the settings name, or the user.
func (w Wiring) devicePassphrase() func(prompt string) ([]byte, error) {
	if w.Settings.PassphraseFile == "" {
		return w.Passphrase
	}
	return func(string) ([]byte, error) { return device.ReadPassphrase(w.Settings.PassphraseFile) }
}

// Peers opens the peers of this device. It needs no keys and makes none.
func (w Wiring) Peers() (*identity.Peers, error) { return device.OpenPeers(w.DeviceDir()) }

// peers lists the peers of this device. It makes no keys.
func (w Wiring) peers() ([]identity.Peer, error) {
	peers, err := device.OpenPeers(w.DeviceDir())
	if err != nil {
		return nil, err
	}
	return peers.List()
}

// relayToken returns this device's token for a relay, "" when there is none. A
// token belongs to one relay's host: an invite can name any relay, and its
// operator must not get the token of another.
func (w Wiring) relayToken(url string) (string, error) {
	file, err := w.tokenFile(url)
	if err != nil || file == "" {
		return "", err
	}
	tokens, err := server.ReadTokens(file)
	if err != nil || len(tokens) == 0 {
		return "", err
	}
	return tokens[0], nil
}

// tokenFile returns the file with the token for a relay.
func (w Wiring) tokenFile(url string) (string, error) {
	u, err := frame.ParseURL(url)
	if err != nil {
		return "", nil // the client explains what is wrong with the URL
	}
	s, host := w.Settings, frame.Host(u)
	for _, t := range s.RelayTokens {
		named, err := frame.ParseURL(u.Scheme + "://" + t.Host)
		if err != nil {
			return "", &problem.Error{Code: "CONFIG-VALUE", What: "relay.tokens: " + t.Host + " is not the host of a relay", Where: s.File, Fix: "write it as in the URL of the relay: relay.example.org, or relay.example.org:7447", Err: err}
		}
		if frame.Host(named) == host {
			return t.File, nil
		}
	}
	if s.TokenFile == "" {
		return "", nil
	}
	if own, err := frame.ParseURL(s.RelayURL); err == nil && frame.Host(own) == host {
		return s.TokenFile, nil
	}
	w.note("relay.token is not sent to %s: it belongs to %s\n  fix: if it is for this relay, write relay: {tokens: {%s: %s}} in the settings file",
		host, cmp.Or(s.RelayURL, "no relay, as relay.url is not set"), host, s.TokenFile)
	return "", nil
}

// Relay makes a relay server.
func (w Wiring) Relay(c server.Config) (*server.Server, error) { return server.New(c) }

// RelayBus connects a relay to the others of its group.
func (w Wiring) RelayBus(c bus.Config) (*bus.Bus, error) { return bus.Connect(c) }

// Watcher makes a watcher of a room on another owner's device.
func (w Wiring) Watcher(c spectate.ClientConfig) *spectate.Client { return spectate.NewClient(c) }

func (h *Host) newSessions() *session.Broker {
	return session.NewBroker(session.Config{Present: h.present})
}

func newHoldServer(c *device.Connection, log *slog.Logger, g hold.ServerConfig) *hold.Server {
	g.Peer, g.Log = c.Peers.Lookup, log
	return hold.NewServer(g)
}

func newHolder() *hold.Client { return hold.NewClient() }

func newInquiry(to identity.DeviceID) *share.Inquiry { return share.NewInquiry(to) }

func newSpectatorServer(c *device.Connection, log *slog.Logger, audit func(spectate.AuditEntry) error) *spectate.Server {
	return spectate.NewServer(spectate.ServerConfig{Peer: c.Peers.Lookup, Peers: c.Peers.List, Quota: c.Quota, Log: log, Audit: audit})
}

func newRemoteSeat(c *device.Connection, log *slog.Logger, e seat.Config) *seat.Endpoint {
	e.Dispatcher, e.Quota, e.Trusted = c.Dispatcher, c.Quota, c.Trusted(e.Device)
	was := false
	e.Offline = func() bool {
		now := c.Offline(e.Device)
		if now && !was {
			log.Warn("a turn waits for a device that is not connected to the relay", "device", c.NameOf(e.Device), "fix", "check that `moot share` runs there")
		}
		was = now
		return now
	}
	return seat.New(e)
}

// served returns the agents of the named profiles, of all that have an endpoint
// when none is named.
func (w Wiring) served(names []string) (all []share.AgentConfig, err error) {
	for _, p := range w.Settings.Profiles {
		if p.Endpoint == nil || len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		s, err := w.serve(p)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s share.AgentConfig) bool { return s.Profile.Name == name }) {
			return nil, w.noProfile("no profile " + name + " with an endpoint")
		}
	}
	if len(all) == 0 {
		return nil, w.noProfile("no profile with an endpoint")
	}
	return all, nil
}

func (w Wiring) noProfile(what string) error {
	return &problem.Error{Code: "SHARE-PROFILE", What: what, Where: w.Settings.File, Fix: "write one under profiles: with name, endpoint, allowSharedAgentCalls and allowedSharedDeviceIds"}
}

func (w Wiring) serve(p config.Profile) (share.AgentConfig, error) {
	rules, err := rulesOf(p)
	if err != nil {
		return share.AgentConfig{}, err
	}
	e, err := config.ExpandEndpoint([]byte(p.Endpoint), p.Dir, lookup)
	if err != nil {
		return share.AgentConfig{}, &problem.Error{Code: "CONFIG-VALUE", What: "the endpoint of profile " + p.Name + " cannot be used", Where: w.Settings.File, Fix: "see the cause", Err: err}
	}
	if e.Kind == config.KindRelay {
		return share.AgentConfig{}, &problem.Error{Code: "SHARE-PROFILE", What: "profile " + p.Name + " is another owner's agent", Where: w.Settings.File, Fix: "let its own owner share it with the device that needs it"}
	}
	if e.Restart == nil || *e.Restart == 0 { // a restart comes with a request, and requests are limited
		e.Restart = new(math.MaxInt)
	}
	return share.AgentConfig{Profile: rules, Timeout: p.Timeout, Candid: p.Candid, Caps: share.Caps(p.Caps), Allow: p.Rules, Dir: e.Dir, Instructions: p.Instructions, Open: func(context.Context) (share.Agent, error) {
		return w.Agent(e, p.Name)
	}}, nil
}

// profile returns the rules of a local agent. Nothing is allowed to one that
// has none.
func (w Wiring) profile(name string) (quota.Profile, error) {
	for _, p := range w.Settings.Profiles {
		if p.Name == name {
			return rulesOf(p)
		}
	}
	return quota.Profile{Name: name}, nil
}

func rulesOf(p config.Profile) (quota.Profile, error) {
	r := quota.Profile{Name: p.Name, Allow: p.Allow, MaxConcurrent: p.MaxConcurrent, MaxHops: p.MaxHops, PerMinute: p.PerMinute, Burst: p.Burst}
	for _, text := range p.Devices {
		id, err := identity.ParseDeviceID(text)
		if err != nil {
			return r, &problem.Error{
				Code: "CONFIG-VALUE", What: "profile " + p.Name + " allows what is no device id", Where: text,
				Fix: "`moot peers ls` prints the ids of paired devices", Err: err,
			}
		}
		r.Devices = append(r.Devices, id)
	}
	return r, nil
}

// SelfVariable stands for this program in endpoints: a path that the log keeps
// would be that of an old build.
const SelfVariable = "MOOT_SELF"

// lookup finds the variables of endpoints.
func lookup(name string) (string, bool) {
	if name == SelfVariable {
		exe, err := os.Executable()
		return exe, err == nil
	}
	return os.LookupEnv(name)
}
