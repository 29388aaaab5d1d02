package moot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/session"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/audit"
)

// Config says how rooms are hosted. The zero Config works: it takes what the
// moot command takes, from the environment, the settings file and the
// defaults.
type Config struct {
	// Data is the folder of rooms, keys and installed policies. Only one Host
	// at a time can run a room of it. "" is the folder of the moot command.
	Data string
	// LogURL is the URL of the server that keeps the rooms, such as postgres://host/db.
	// "" takes that of the settings, and without one the rooms are in Data.
	LogURL string
	// Cache is the folder of compiled policies. It may be deleted at any time.
	Cache string
	// Log gets what a user of the program need not see; nil discards it.
	Log *slog.Logger
	// Policies are policies in Go, by the names that rooms use them by. They
	// run in this process, outside the sandbox.
	Policies map[string]Policy
	// Endpoints are agents in Go, by the names that rooms use them by:
	// endpoint: {kind: go, name: NAME}. A func makes the endpoint of one seat.
	Endpoints map[string]func(context.Context, Participant) (Endpoint, error)
}

// A Host runs rooms. Its methods are safe for concurrent use.
type Host struct {
	wiring  Wiring
	log     RoomLog
	audit   *audit.Log
	sandbox *plugins.Host
	remote  remote
	inbox   *inbox.Inbox
	seats   *session.Broker
	rooms   coordinator.Host
	stop    context.CancelFunc
	running context.Context // ends when every room has ended
	kept    sync.Map        // digests of modules that the log has
	keeping chan struct{}   // semaphore of one for storing modules
	node    Node            // nil if the Host shares its log with no others

	mu      sync.Mutex
	early   []*loading           // policies that are being loaded before a room asks
	failed  []error              // of rooms that ended with an error, the first ones
	trusted map[string]bool      // imported rooms that were opened with TrustCommands
	refused map[string]time.Time // rooms that failed, which do not wake by themselves until then
	devices map[string]string    // of rooms that a node has read; see Host.deviceOf
}

// Open opens the data folder and runs its rooms from then on. The caller must
// close the Host.
func Open(cfg Config) (*Host, error) {
	settings, _, err := config.LoadSettings(nil)
	if err != nil {
		return nil, err
	}
	settings.Data, settings.Cache = cmp.Or(cfg.Data, settings.Data), cmp.Or(cfg.Cache, settings.Cache)
	settings.LogURL = cmp.Or(cfg.LogURL, settings.LogURL)
	w := Wiring{Settings: settings, Log: cfg.Log, Policies: cfg.Policies, Endpoints: cfg.Endpoints}
	return w.OpenHost()
}

// OpenHost opens the log for writing and starts to run rooms.
func (w Wiring) OpenHost() (*Host, error) {
	if err := policies.Verify(); err != nil {
		return nil, err
	}
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
	}
	h := &Host{wiring: w, keeping: make(chan struct{}, 1)}
	var err error
	if h.log, err = w.OpenLog(false); err != nil {
		return nil, err
	}
	if h.audit, err = w.OpenAudit(); err != nil {
		return nil, errors.Join(err, h.log.Close())
	}
	if h.sandbox, err = w.Sandbox(plugins.Config{FailDir: w.FailDir(), Tiered: true}); err != nil {
		return nil, errors.Join(err, h.log.Close(), h.audit.Close())
	}
	h.inbox = inbox.New(inbox.Config{
		Log: h.log, Runs: h.rooms.Has,
		State: func(ctx context.Context, id string) (*room.State, error) { return coordinator.State(ctx, h.log, id) },
	})
	if err := h.join(); err != nil {
		return nil, errors.Join(err, h.sandbox.Close(), h.log.Close(), h.audit.Close())
	}
	h.rooms = coordinator.Host{
		Config: coordinator.Config{
			Log: h.log, Policy: h.policy, Endpoint: h.endpoint, Audit: h.record, Owner: owner(), Profiles: &coordinator.Profiles{}, Busy: h.busy, Waiting: h.inbox.Update,
			Observers: w.Observers, Shared: h.node != nil, Admit: h.admit,
		},
		Failed: h.fail,
		Opened: h.publish,
		Closed: h.withdraw,
	}
	h.seats = h.newSessions()
	if w.AllRooms {
		h.rooms.Due = h.due
	}
	ctx, stop := context.WithCancel(context.Background())
	running, end := context.WithCancel(context.Background())
	h.stop, h.running = stop, running
	go func() {
		defer end()
		var notifier sync.WaitGroup
		notifier.Go(func() { h.notify(ctx) })
		_ = h.rooms.Run(ctx) // it ends with ctx only
		notifier.Wait()
	}()
	return h, nil
}

// notify runs the program of the settings for what waits, until ctx ends.
func (h *Host) notify(ctx context.Context) {
	if c := h.wiring.Settings.Notify; len(c.Command) > 0 {
		inbox.Notifier{Command: c.Command, Text: c.Text, Log: h.wiring.Log}.Run(ctx, h.inbox)
	}
}

// maxFailed is how many errors of rooms Stop returns; all are logged.
const maxFailed = 8

// fail keeps why a room ended. That another process has taken it is no failure.
func (h *Host) fail(id string, err error) {
	if errors.Is(err, log.ErrLocked) || errors.Is(err, errOtherDevice) {
		return
	}
	if h.node != nil && errors.Is(err, coordinator.ErrFenced) {
		h.wiring.Log.Info("another node has taken a room over", "room", id)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.failed) < maxFailed {
		h.failed = append(h.failed, err)
	}
	if h.refused == nil {
		h.refused = map[string]time.Time{}
	}
	if !errors.Is(err, log.ErrUnknown) { // servers of the log that do not answer are soon back
		h.refused[id] = time.Now().Add(refusedFor)
	}
	h.wiring.Log.Error("a room ended with an error", "room", id, "error", err)
}

// busy tells the user that a room waits for the log.
func (h *Host) busy(id string, err error) {
	h.wiring.note("%s waits: %v", id, err)
	h.wiring.Log.Info("a room waits for the log", "room", id, "error", err)
}

// Stop ends every room and waits for it, and refuses new ones. A room that had
// something to do is interrupted: pause it first to end it at rest. The error
// joins those with which rooms have ended by themselves.
func (h *Host) Stop() error {
	h.stop()
	<-h.running.Done()
	closed := h.seats.Close()
	h.remote.leaveAll()
	h.mu.Lock()
	defer h.mu.Unlock()
	return errors.Join(errors.Join(h.failed...), closed)
}

// Close stops the Host and frees everything.
func (h *Host) Close() error {
	err := h.Stop()
	h.mu.Lock()
	early := h.early
	h.mu.Unlock()
	for _, l := range early {
		<-l.done
	}
	err = errors.Join(err, h.sandbox.Close())
	h.remote.end()
	return errors.Join(err, h.log.Close(), h.audit.Close())
}

// Log returns the log of the rooms. The caller only reads it.
func (h *Host) Log() RoomLog { return h.log }

// Loads returns the load of each room that runs.
func (h *Host) Loads() []coordinator.Load { return h.rooms.Loads() }

// record keeps one thing that was asked of an agent or a room in the host log.
func (h *Host) record(a coordinator.AuditEntry) error {
	return h.audit.Append(audit.Event{
		Time: a.Time, Profile: a.Profile, Device: a.Device, Requester: a.Requester, Room: a.Room, Turn: a.Turn,
		Mode: a.Mode, Status: a.Status, Reason: a.Reason, MS: a.Took.Milliseconds(),
	})
}

// endpoint makes the endpoint of a seat from what room.yaml says, which the
// log keeps. Variables are expanded again, so that secrets stay out of the
// log.
func (h *Host) endpoint(ctx context.Context, spec Spec, p Participant) (coordinator.Endpoint, error) {
	e, err := config.ExpandEndpoint(p.Endpoint, spec.Dir, lookup)
	if err != nil {
		return nil, fmt.Errorf("reaching %s: %w", p.ID, err)
	}
	if spec.OneToOne && e.Restart == nil {
		e.Restart = new(int) // a crash is the error of the note, and a person decides
	}
	switch e.Kind {
	case config.KindRelay:
		return h.remoteSeat(ctx, p, e)
	case config.KindSession:
		return h.seats.Endpoint(session.Seat{Room: spec.Room, Name: p.ID}), nil
	case config.KindGo:
		return h.goEndpoint(ctx, p, e)
	}
	return h.wiring.agent(e, cmp.Or(p.Profile, p.ID), h.wiring.toolsOf(spec.Room, p.ID))
}
