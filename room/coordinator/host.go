package coordinator

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Host runs many rooms in one process. It unloads idle rooms; the log knows
// when each has something to do again. Start it with [Host.Run]. Its other
// methods are safe for concurrent use and wait until Run has begun.
type Host struct {
	Config Config
	// Due lists the rooms that have something to do; nil never wakes one.
	Due func(ctx context.Context, now time.Time) ([]string, error)
	// IdleAfter is how long a room stays loaded with nothing to do; zero is a
	// minute.
	IdleAfter time.Duration
	// Failed, if not nil, is called for each room whose Run ended with an error.
	Failed func(room string, err error)
	// Opened, if not nil, is called for each room that is loaded, before it is used.
	Opened func(*Room)
	// Closed, if not nil, is called for each room that was unloaded.
	Closed func(*Room)

	once  sync.Once
	mu    sync.Mutex
	rooms map[string]*loadedRoom
	ctx   context.Context
	ready chan struct{}
	ended bool // Run only waits for the rooms that still run
	runs  sync.WaitGroup
}

// A loadedRoom is a room that runs or is being opened.
type loadedRoom struct {
	opened chan struct{} // closed once the other fields are set
	room   *Room         // nil when it could not be opened
	err    error
	stop   context.CancelFunc
}

func (h *Host) start() {
	h.once.Do(func() {
		h.rooms, h.ready = map[string]*loadedRoom{}, make(chan struct{})
		if h.Config.Profiles == nil {
			h.Config.Profiles = &Profiles{}
		}
		if h.IdleAfter <= 0 {
			h.IdleAfter = time.Minute
		}
	})
}

// Run wakes rooms that are due and unloads idle ones until ctx ends, then
// waits for every room.
func (h *Host) Run(ctx context.Context) error {
	h.start()
	h.mu.Lock()
	h.ctx = ctx
	close(h.ready)
	h.mu.Unlock()
	defer func() { // no room begins any more; wait for those that run
		h.mu.Lock()
		h.ended = true
		h.mu.Unlock()
		h.runs.Wait()
	}()
	tick := time.NewTicker(h.IdleAfter / 4)
	defer tick.Stop()
	for {
		h.wakeDue(ctx)
		h.unloadIdle()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// Create opens a new room and runs it. It replaces the RunOptions of Config.
func (h *Host) Create(ctx context.Context, spec room.Spec, participants []room.Participant, o RunOptions) (*Room, error) {
	made := false
	r, err := h.load(ctx, spec.Room, func(ctx context.Context) (*Room, error) {
		made = true
		return Open(ctx, h.configOf(o), spec, participants)
	})
	if err == nil && !made {
		return nil, existsError(spec.Room)
	}
	return r, err
}

// Open loads a stored room and runs it. A room that is loaded already gets the
// commands of o; it keeps its other options.
func (h *Host) Open(ctx context.Context, id string, o RunOptions) (*Room, error) {
	for {
		loaded := true
		r, err := h.load(ctx, id, func(ctx context.Context) (*Room, error) {
			loaded = false
			return Reopen(ctx, h.configOf(o), id)
		})
		if err != nil || !loaded || o.ResumeAs == "" {
			return r, err
		}
		err = r.resume(ctx, o)
		if moved := h.moved(r, id, err); moved != nil {
			return nil, moved
		}
		if !errors.Is(err, ErrClosed) || h.ctx.Err() != nil {
			return r, err
		}
		h.forget(r)
	}
}

// Get returns the room, which it loads if necessary.
func (h *Host) Get(ctx context.Context, id string) (*Room, error) {
	return h.Open(ctx, id, RunOptions{})
}

func (h *Host) configOf(o RunOptions) Config {
	c := h.Config
	c.RunOptions, c.hosted, c.host = o, !o.Foreground, h
	return c
}

// Do executes a command in the room, which it loads if necessary. See
// [Room.Do].
func (h *Host) Do(ctx context.Context, id string, c room.Command) ([]room.Event, error) {
	if c.ID == "" {
		c.ID = "c_" + random() // the same on every try
	}
	for {
		r, err := h.Get(ctx, id)
		if err != nil {
			return nil, cmp.Or(h.moved(nil, id, err), err)
		}
		events, err := r.Do(ctx, c)
		if moved := h.moved(r, id, err); moved != nil {
			return nil, moved
		}
		if !errors.Is(err, ErrClosed) || h.ctx.Err() != nil {
			return events, err
		}
		h.forget(r)
	}
}

// Running returns the room if it is loaded. It loads none and does not wait.
func (h *Host) Running(id string) (*Room, bool) {
	h.start()
	h.mu.Lock()
	l := h.rooms[id]
	h.mu.Unlock()
	if l == nil {
		return nil, false
	}
	select {
	case <-l.opened:
		return l.room, l.room != nil
	default:
		return nil, false // it is being opened
	}
}

// Has reports whether the room is loaded or being loaded.
func (h *Host) Has(id string) bool {
	h.start()
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.rooms[id]
	return ok
}

// Rest pauses the rooms in which an agent is at work, as the host, with that reason.
// Rooms that go on by themselves after a restart are left as they are.
func (h *Host) Rest(ctx context.Context, reason string) error {
	h.start()
	h.mu.Lock()
	var all []*Room
	for _, l := range h.rooms {
		if l.room != nil {
			all = append(all, l.room)
		}
	}
	h.mu.Unlock()
	var pausing sync.WaitGroup
	errs := make([]error, len(all))
	for i, r := range all {
		if r.atWork() {
			pausing.Go(func() { _, errs[i] = r.Do(ctx, room.Command{Actor: room.ActorHost, Do: room.Pause{Reason: reason}}) })
		}
	}
	pausing.Wait()
	for i, err := range errs {
		if errors.Is(err, ErrClosed) {
			errs[i] = nil // it has ended meanwhile
		}
	}
	return errors.Join(errs...)
}

// Loaded returns how many rooms are loaded.
func (h *Host) Loaded() int {
	h.start()
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.rooms)
}

// A Load is how much a room that is loaded has to do.
type Load struct {
	Room     string
	Phase    room.Phase
	Watchers int // calls of [Room.Watch] that have not ended
	Queued   int // commands that wait for the loop of the room
	Running  int // effects: decisions, turns, bids, starts and calls
}

// Loads returns the load of each room that runs, in any order.
func (h *Host) Loads() []Load {
	h.start()
	h.mu.Lock()
	all := make([]*Room, 0, len(h.rooms))
	for _, l := range h.rooms {
		if l.room != nil {
			all = append(all, l.room)
		}
	}
	h.mu.Unlock()
	loads := make([]Load, len(all))
	for i, r := range all {
		loads[i] = r.load()
	}
	return loads
}

// load returns a room that runs, or opens it. It opens without the lock, so that
// other rooms do not wait, and once for all concurrent callers.
func (h *Host) load(ctx context.Context, id string, open func(context.Context) (*Room, error)) (*Room, error) {
	h.start()
	select {
	case <-h.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	h.mu.Lock()
	if l, ok := h.rooms[id]; ok {
		h.mu.Unlock()
		select {
		case <-l.opened:
			return l.room, l.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if h.ended || h.ctx.Err() != nil {
		h.mu.Unlock()
		return nil, context.Cause(h.ctx)
	}
	l := &loadedRoom{opened: make(chan struct{})}
	h.rooms[id] = l
	h.runs.Add(1)
	h.mu.Unlock()
	defer h.runs.Done()
	return h.open(id, l, open)
}

// open opens the room l and starts its Run.
func (h *Host) open(id string, l *loadedRoom, open func(context.Context) (*Room, error)) (*Room, error) {
	r, err := open(h.ctx) // not the caller's context: other callers may wait for the room
	if err == nil && h.Opened != nil {
		h.Opened(r)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	defer close(l.opened)
	if err != nil {
		l.err = err
		delete(h.rooms, id)
		return nil, err
	}
	var run context.Context
	run, l.stop = context.WithCancel(h.ctx)
	l.room = r
	h.runs.Go(func() {
		err := r.Run(run)
		unloaded := errors.Is(err, context.Canceled)
		l.stop()
		h.forget(r)
		if h.Closed != nil {
			h.Closed(r)
		}
		if err != nil && !unloaded && h.Failed != nil {
			h.Failed(id, err)
		}
	})
	return r, nil
}

// unload ends the Run of a room and waits for it, if the room is loaded.
func (h *Host) unload(id string) {
	h.mu.Lock()
	l := h.rooms[id]
	h.mu.Unlock()
	if l == nil {
		return
	}
	<-l.opened
	if l.room != nil {
		l.stop()
		<-l.room.done
	}
}

// forget waits until the room has ended and removes it.
func (h *Host) forget(r *Room) {
	<-r.done
	h.mu.Lock()
	defer h.mu.Unlock()
	if l, ok := h.rooms[r.id]; ok && l.room == r {
		delete(h.rooms, r.id)
	}
}

// wakeDue loads the rooms whose wake time has come.
func (h *Host) wakeDue(ctx context.Context) {
	if h.Due == nil {
		return
	}
	ids, err := h.Due(ctx, time.Now())
	if err != nil {
		if h.Failed != nil && ctx.Err() == nil {
			h.Failed("", err)
		}
		return
	}
	for _, id := range ids {
		if _, err := h.Get(ctx, id); err != nil && h.Failed != nil && ctx.Err() == nil {
			h.Failed(id, err)
		}
	}
}

// unloadIdle stops the rooms that are idle.
func (h *Host) unloadIdle() {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.rooms {
		if l.room != nil && l.room.cfg.hosted && l.room.isIdle(now, h.IdleAfter) {
			l.stop()
		}
	}
}

// Release unloads a room so that another process can open it and go on with it at once. It
// waits until no turn is in flight, except one whose request goes on in the other process. If ctx
// ends before, the turn is interrupted, and the room goes on all the same. It returns the
// options with which the room runs, or ErrClosed if the room is not loaded.
func (h *Host) Release(ctx context.Context, id string) (RunOptions, error) {
	r, ok := h.Running(id)
	if !ok {
		return RunOptions{}, ErrClosed
	}
	r.leaving.Store(true)
	select {
	case r.leave <- struct{}{}:
	default:
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		h.unload(id)
	}
	h.forget(r)
	o := r.cfg.RunOptions
	return RunOptions{Headless: o.Headless, Unattended: o.Unattended, Foreground: o.Foreground}, nil
}

// Movable lists the rooms that are loaded and that another process could run. Rooms of
// calls go with the room of their caller.
func (h *Host) Movable() []*Room {
	h.start()
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*Room
	for _, l := range h.rooms {
		if l.room != nil && l.room.cfg.host == h && !l.room.called() {
			all = append(all, l.room)
		}
	}
	return all
}

// Drop unloads a room that another process may have taken.
func (h *Host) Drop(id string) { h.unload(id) }

// moved returns the error of a command that another process can carry out instead of this
// one, and nil for other errors. Nothing was stored.
func (h *Host) moved(r *Room, id string, err error) error {
	switch {
	case !h.Config.Shared:
		return nil
	case errors.Is(err, log.ErrConflict), errors.Is(err, log.ErrLocked), r != nil && r.Leaving() && errors.Is(err, ErrClosed):
		return &problem.Error{Code: "ROOM-MOVED", What: "another process runs the room now", Where: "room " + id, Fix: "send the request again; a command with the same id is carried out once", Kind: ErrMoved, Err: err}
	}
	return nil
}
