package coordinator

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// ErrFenced reports that another process has taken the room over.
var ErrFenced = errors.New("coordinator: another process owns the room")

// ErrClosed reports a command to a room that is not running.
var ErrClosed = errors.New("coordinator: room is not running")

// A Room is one room in this process. Make one with [Open] or [Reopen], run
// it with [Room.Run]; its other methods may be called by anybody.
type Room struct {
	cfg    Config
	id     string
	unlock func()

	people      chan request  // commands of people come first
	abandoned   chan request  // pauses and stops whose caller did not wait
	work        chan request  // results of effects
	quit        chan struct{} // closed when Run begins to end
	done        chan struct{} // closed when it has ended
	gate        gate
	hub         hub
	controllers atomic.Pointer[map[string]bool] // who may pause and stop
	mu          sync.Mutex                      // held by the loop while it changes the state, and by View

	idleSince atomic.Pointer[idlePeriod] // nil while something is under way

	// Owned by the loop.
	state         room.State
	logTail       log.Pos
	lastWake      time.Time // when the log was last told to wake the room
	clock         clock
	texts         messageCache
	digester      endpoint.Digester
	policy        Policy
	policyRef     string
	endpoints     map[string]*driver
	snapAt        int64
	redactions    []int64   // events that the folded part of the log says to redact
	hasRedactions bool      // texts are missing from the folded part of the log
	resumedIdle   *idleMark // how the room was left, when it was left at rest
	effects       workerPool
}

// A request is a command on its way to the loop.
type request struct {
	cmd  room.Command
	key  string        // of the effect whose result it is
	out  chan<- answer // nil when nobody waits
	held bool          // the gate is closed until it was handled
}

type answer struct {
	events []room.Event
	err    error
}

// Open makes a new room: its first events are durable when it returns.
func Open(ctx context.Context, cfg Config, spec room.Spec, participants []room.Participant) (*Room, error) {
	r, err := newRoom(ctx, cfg, spec.Room)
	if err != nil {
		return nil, err
	}
	if r.logTail.Seq != 0 {
		r.unlock()
		return nil, exists(spec.Room)
	}
	for _, do := range []room.Act{room.Open{Spec: spec, Participants: participants}, room.Claim{Owner: cfg.Owner}} {
		if err := r.decideAndCommit(ctx, room.ActorHost, do); err != nil {
			r.unlock()
			return nil, err
		}
	}
	if err := r.runResumeActs(ctx); err != nil {
		r.unlock()
		return nil, err
	}
	return r, nil
}

func exists(id string) error {
	return &problem.Error{Code: "ROOM-EXISTS", What: "room " + id + " exists", Fix: "reopen it with `moot run --room " + id + "`"}
}

// Reopen takes over a room that is in the log, after a crash as after a clean
// end. What was in flight is recorded as interrupted.
func Reopen(ctx context.Context, cfg Config, id string) (*Room, error) {
	r, err := newRoom(ctx, cfg, id)
	if err != nil {
		return nil, err
	}
	if err := r.reopen(ctx); err != nil {
		r.unlock()
		return nil, err
	}
	return r, nil
}

func (r *Room) reopen(ctx context.Context) error {
	if err := r.recover(ctx); err != nil && !errors.Is(err, log.ErrNotFound) {
		return err
	}
	if err := r.finishRedactions(ctx); err != nil {
		return err
	}
	if r.state.Phase == room.PhaseUnopened {
		return &problem.Error{Code: "ROOM-UNKNOWN", What: "no room " + r.id, Fix: "`moot ls` lists the rooms", Kind: log.ErrNotFound}
	}
	if err := r.decideAndCommit(ctx, room.ActorHost, room.Claim{Owner: r.cfg.Owner, Restart: r.state.Phase == room.PhaseLive && r.resumedIdle == nil}); err != nil {
		return err
	}
	if err := r.runResumeActs(ctx); err != nil {
		return err
	}
	if r.cfg.ResumeAs == "" || r.state.Phase == room.PhaseLive || r.state.Phase == room.PhaseCompleted || r.state.Phase == room.PhaseStopped {
		return nil
	}
	return r.decideAndCommit(ctx, r.cfg.ResumeAs, room.Resume{})
}

// runResumeActs records what a person does before the room runs.
func (r *Room) runResumeActs(ctx context.Context) error {
	if r.cfg.ResumeAs == "" {
		return nil
	}
	for _, do := range r.cfg.ResumeWith {
		if err := r.decideAndCommit(ctx, r.cfg.ResumeAs, do); err != nil {
			return err
		}
	}
	return nil
}

// newRoom makes this process the only one that runs the room.
func newRoom(ctx context.Context, cfg Config, id string) (*Room, error) {
	unlock, err := cfg.Log.Lock(ctx, id)
	if err != nil {
		return nil, err
	}
	r := &Room{
		cfg: cfg, id: id, unlock: unlock,
		people: make(chan request), abandoned: make(chan request, 16), work: make(chan request), quit: make(chan struct{}), done: make(chan struct{}),
		endpoints: map[string]*driver{},
	}
	r.effects = workerPool{runs: make(chan func()), quit: r.quit}
	r.texts = messageCache{log: cfg.Log, room: id}
	r.hub.log, r.hub.room = cfg.Log, id
	entries, err := cfg.Log.Read(ctx, id, log.Pos{}, 1)
	if err != nil && !errors.Is(err, log.ErrNotFound) {
		unlock()
		return nil, err
	}
	if len(entries) > 0 {
		r.logTail = entries[0].Pos
	}
	return r, nil
}

// ID returns the room's id.
func (r *Room) ID() string { return r.id }

// View returns what people with control see of the room now.
func (r *Room) View() room.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.View(room.Internal)
}

// Do carries out a person's command and returns the events that record it
// once they are durable. The actor must be authenticated by the caller. A
// pause or stop closes the gate before anything else happens; it takes effect
// even when ctx ends before the log has it.
func (r *Room) Do(ctx context.Context, c room.Command) ([]room.Event, error) {
	if c.ID == "" {
		c.ID = "c_" + random()
	}
	out := make(chan answer, 1)
	req := request{cmd: c, out: out}
	switch c.Do.(type) {
	case room.Pause, room.Stop:
		req.held = r.closeGateFor(c.Actor)
	}
	select {
	case r.people <- req:
	case <-r.done:
		return nil, ErrClosed
	case <-ctx.Done():
		r.requeueHeld(req)
		return nil, ctx.Err()
	}
	select {
	case a := <-out:
		return a.events, a.err
	case <-r.done:
		select {
		case a := <-out:
			return a.events, a.err
		default:
			return nil, ErrClosed
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// closeGateFor stops everything that the room sends, at once and without waiting for
// its log, if actor holds the reins. The command that follows says why.
func (r *Room) closeGateFor(actor string) bool {
	if reins := r.controllers.Load(); reins == nil || !(*reins)[actor] {
		return false
	}
	r.gate.close()
	r.hub.tell(Update{Pausing: true})
	return true
}

// requeueHeld takes over a command whose caller has gone. Watchers have been told
// of a pause, so it comes; of many that wait one is as good as all.
func (r *Room) requeueHeld(req request) {
	if !req.held {
		return
	}
	select {
	case r.abandoned <- req:
	default:
		r.gate.open()
	}
}

// random returns 128 random bits in hex.
func random() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// now is what the loop knows of time.
func (r *Room) now() room.Now { return room.Now{Wall: time.Now(), Clock: r.clock.now()} }
