package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A loadHost runs rooms in a data folder of its own, as `moot serve` does: with the log, the
// host log and the sandbox. Its agents are in this process and need no time but what they
// think.
type loadHost struct {
	*moot.Host
	dir   string
	think atomic.Int64                // nanoseconds until an agent answers; see thinkTime
	seen  atomic.Pointer[observation] // nil while nothing is measured
	turns atomic.Int64                // that agents were asked for
	rooms sync.Map                    // *turnTimes of each room, by id
	owns  func(room string) bool      // whether a room belongs to this node; nil for a host alone
}

func newLoadHost(p plan) (*loadHost, error) {
	dir, err := os.MkdirTemp(p.dir, "moot-load-")
	if err != nil {
		return nil, err
	}
	h := &loadHost{dir: dir}
	w, err := h.wiring()
	if err == nil {
		h.Host, err = w.OpenHost()
	}
	if err != nil {
		_ = os.RemoveAll(dir) // the error says more
		return nil, err
	}
	return h, nil
}

// wiring returns the parts of a host in the data folder of h, with the agents of h.
func (h *loadHost) wiring() (w moot.Wiring, err error) {
	settings, _, err := config.LoadSettings(nil)
	settings.Data = filepath.Join(h.dir, "data")
	return moot.Wiring{Settings: settings, Observers: []coordinator.Observer{h}, Endpoints: map[string]func(context.Context, moot.Participant) (moot.Endpoint, error){
		"waits": func(context.Context, moot.Participant) (moot.Endpoint, error) { return agent{h, true}, nil },
		"works": func(context.Context, moot.Participant) (moot.Endpoint, error) { return agent{h, false}, nil },
	}}, err
}

// close ends the rooms and removes the data folder.
func (h *loadHost) close() error {
	err := h.Close()
	if e := os.RemoveAll(h.dir); err == nil {
		err = e
	}
	return err
}

// open opens a room of four agents of that kind, which ends after turns.
func (h *loadHost) open(ctx context.Context, kind string, turns int, o moot.Options) (string, error) {
	text := fmt.Sprintf("version: room/v1\nobjective: Measure.\nonRestart: continue\npolicy: {use: roundrobin}\nlimits: {maxTurns: %d, maxDuration: 100h}\nparticipants:\n  - {id: me, kind: human}\n", turns)
	for _, id := range []string{"a", "b", "c", "d"} {
		text += fmt.Sprintf("  - {id: %s, mode: full_auto, endpoint: {kind: go, name: %s}}\n", id, kind)
	}
	r, err := h.Create(ctx, moot.Source{YAML: text, Dir: h.dir, ID: h.newID()}, o)
	if err != nil {
		return "", err
	}
	return r.ID(), nil
}

// newID returns the id of a room that belongs to this node, so that it is not moved. It is ""
// for a host alone, which makes ids itself.
func (h *loadHost) newID() string {
	if h.owns == nil {
		return ""
	}
	for {
		if id := coordinator.NewRoomID(); h.owns(id) {
			return id
		}
	}
}

// openAll opens n rooms, some at the same time, as a log takes several appends at once.
func (h *loadHost) openAll(ctx context.Context, n int, kind string, turns int) (ids []string, err error) {
	ids = make([]string, n)
	errs := make([]error, n)
	var opening sync.WaitGroup
	next := atomic.Int64{}
	for range 32 {
		opening.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				ids[i], errs[i] = h.open(ctx, kind, turns, moot.Options{})
			}
		})
	}
	opening.Wait()
	for _, e := range errs {
		if e != nil {
			return nil, e
		}
	}
	return ids, nil
}

// said is the text of a turn, of 512 bytes. Each differs, as a room stops when its agents
// repeat themselves.
func said(turn int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(turn)))
	return strings.Repeat(hex.EncodeToString(sum[:])+" ", 8)[:512]
}

// An agent answers when it has thought, or never.
type agent struct {
	h     *loadHost
	waits bool
}

// Speak implements [moot.Endpoint].
func (a agent) Speak(ctx context.Context, p moot.Prompt, _ moot.Floor) (moot.Reply, error) {
	a.h.turns.Add(1)
	a.h.timesOf(p.Room).asked(a.h)
	if a.waits {
		<-ctx.Done()
		return moot.Reply{}, ctx.Err()
	}
	if d := a.h.thinkTime(); d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return moot.Reply{}, ctx.Err()
		}
	}
	reply := moot.Reply{Outcome: endpoint.Said, Text: said(p.Turn)}
	a.h.timesOf(p.Room).answers() // last: making the text is no work of the room
	return reply, nil
}

// thinkTime draws how long an agent thinks: from half the mean to one and a half when that is
// seconds. If all thought for the same time, the turns that a slow sync has stored together
// would end together for ever.
func (h *loadHost) thinkTime() time.Duration {
	mean := time.Duration(h.think.Load())
	if mean < time.Second {
		return mean
	}
	return mean/2 + rand.N(mean)
}

// Close implements [moot.Endpoint].
func (agent) Close() error { return nil }

// turnTimes are the times of the present turn of a room: when its agent answered, and how
// long the appends since then took.
type turnTimes struct {
	mu       sync.Mutex
	answered time.Time
	appends  time.Duration
}

func (h *loadHost) timesOf(id string) *turnTimes {
	if v, ok := h.rooms.Load(id); ok {
		return v.(*turnTimes)
	}
	v, _ := h.rooms.LoadOrStore(id, &turnTimes{})
	return v.(*turnTimes)
}

func (p *turnTimes) answers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered, p.appends = time.Now(), 0
}

// stored returns how long the appends took since the agent has answered.
func (p *turnTimes) stored() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.appends
}

// asked notes that the next agent was asked.
func (p *turnTimes) asked(h *loadHost) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := h.seen.Load(); o != nil && !p.answered.IsZero() {
		o.turn(time.Since(p.answered), p.appends)
	}
	p.answered = time.Time{}
}

// Committed implements [coordinator.Observer].
func (h *loadHost) Committed(c coordinator.Commit) {
	now := time.Now()
	p := h.timesOf(c.Room)
	p.mu.Lock()
	p.appends += c.Took
	p.mu.Unlock()
	h.seen.Load().committed(c, now)
	for _, e := range c.Events {
		if _, ok := e.Body.(room.Stopped); ok {
			h.rooms.Delete(c.Room)
		}
	}
}

// Unloaded implements [coordinator.Observer].
func (h *loadHost) Unloaded(string) {}

// An observation has what was measured in a span of time.
type observation struct {
	mu           sync.Mutex
	gaps, writes []time.Duration // from an answer to the next prompt; the appends in between
	appends      atomic.Int64
	delays       []time.Duration // from an append to its delivery
	delivered    atomic.Int64
	stored       *sync.Map // times of appends, by key; nil measures no delays
}

// A key names an event.
type key struct {
	room string
	seq  int64
}

func (o *observation) turn(gap, writes time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gaps, o.writes = append(o.gaps, gap), append(o.writes, writes)
}

// committed notes an append. o is nil while nothing is measured.
func (o *observation) committed(c coordinator.Commit, now time.Time) {
	if o == nil {
		return
	}
	o.appends.Add(1)
	if o.stored == nil {
		return
	}
	for _, e := range c.Events {
		o.stored.Store(key{c.Room, e.Seq}, now)
	}
}

// added returns by how much turns took longer than their appends.
func (o *observation) added() []time.Duration { return added(o.gaps, o.writes) }

func added(gaps, writes []time.Duration) (all []time.Duration) {
	for i, gap := range gaps {
		all = append(all, gap-writes[i])
	}
	return all
}

// observe measures for that long, and returns how long it was.
func (h *loadHost) observe(ctx context.Context, o *observation, span time.Duration) time.Duration {
	began := time.Now()
	h.seen.Store(o)
	select {
	case <-time.After(span):
	case <-ctx.Done():
	}
	h.seen.Store(nil)
	return time.Since(began)
}

// watch counts what the watcher of a room gets, until ctx ends. One of many measures how
// late it is. A stalled one takes its first event and no other.
func (h *loadHost) watch(ctx context.Context, id string, after int64, timed, stalled bool) {
	for u, err := range h.Watch(ctx, id, after, room.UserVisible) {
		if err != nil || u.Event == nil {
			continue
		}
		if stalled {
			<-ctx.Done()
			return
		}
		o := h.seen.Load()
		if o == nil {
			continue
		}
		o.delivered.Add(1)
		if !timed || o.stored == nil {
			continue
		}
		if at, ok := o.stored.Load(key{id, u.Event.Seq}); ok {
			d := time.Since(at.(time.Time))
			o.mu.Lock()
			o.delays = append(o.delays, d)
			o.mu.Unlock()
		}
	}
}
