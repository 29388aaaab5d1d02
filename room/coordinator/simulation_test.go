package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/invariant"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/memory"
)

// simulatedSeeds is the number of rooms that TestSimulation runs.
const simulatedSeeds = 120

// TestSimulation runs whole rooms in virtual time from seeds: the coordinator with a
// log that fails and crashes, agents that fail in many ways, several people, watchers
// that reconnect, callers that retry, and restarts. After each run it folds the log and
// checks the invariants over the events and over what was stored, acknowledged, sent and
// shown. MOOT_SEEDS sets the number of seeds, and MOOT_SEED runs one.
func TestSimulation(t *testing.T) {
	first, seeds := 0, simulatedSeeds
	if n, err := strconv.Atoi(os.Getenv("MOOT_SEEDS")); err == nil {
		seeds = n
	}
	if n, err := strconv.Atoi(os.Getenv("MOOT_SEED")); err == nil {
		first, seeds = n, 1
	}
	met := map[string]int{}
	for seed := first; seed < first+seeds && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) {
			w := newSimulated(t, uint64(seed))
			w.run()
			w.check(met)
		})
	}
	if seeds < simulatedSeeds {
		return
	}
	for _, name := range []string{
		"crash", "end of the process", "append that fails", "append with an unknown outcome", "command that is repeated", "watcher that reconnects", "request that is sent again",
		"turn.granted", "turn.drafted", "turn.edited", "turn.approved", "turn.rejected", "turn.passed", "turn.failed", "turn.interrupted", "round.declined",
		"room.paused", "room.resumed", "room.stopped", "seat.taken", "seat.released", "seat.ready", "seat.failed", "mode.changed", "permission.asked",
		"permission.answered", "message.acked", "protocol.violation", "reply.late", "handoff.asked", "participant.changed", "limits.changed", "policy.changed",
		"message.redacted", "crash between a redaction and the removal of the text",
		"append of a turn with the next decision", "append that fails of a turn with the next decision",
	} {
		if met[name] == 0 {
			t.Errorf("in %d seeds there was no %s", seeds, name)
		}
	}
}

// simulated is one room, with everything around it.
type simulated struct {
	*testing.T
	seed   uint64
	memory *memory.Log
	turn   chan struct{} // held by the person who waits until nothing moves

	mu       sync.Mutex
	facts    []fact
	met      map[string]int
	answers  map[string]string // of the agent on another device, by request
	released map[string]bool   // requests on which an agent has worked
	host     *coordinator.Host // of the process that runs
	log      *faultyLog        // likewise
}

// A fact is something that a checker is told after the run. It gets the checker, and the
// state that the events have folded to so far.
type fact func(c *invariant.Checker, s *room.State) []invariant.Broken

func newSimulated(t *testing.T, seed uint64) *simulated {
	return &simulated{
		T: t, seed: seed, memory: &memory.Log{}, turn: make(chan struct{}, 1), met: map[string]int{}, answers: map[string]string{}, released: map[string]bool{},
	}
}

// random returns a source of its own for one of the parts.
func (w *simulated) random(part ...any) *rand.Rand {
	n := w.seed
	for _, b := range []byte(fmt.Sprint(part...)) {
		n = (n ^ uint64(b)) * 1099511628211
	}
	return rand.New(rand.NewPCG(w.seed, n))
}

// note adds a fact. The caller holds mu if it needs to be in order with others.
func (w *simulated) note(f fact) { w.facts = append(w.facts, f) }

func (w *simulated) meet(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.met[what]++
}

// withDecision reports whether events begin with the end of a turn and end with the decision
// after it.
func withDecision(evs []room.Event) bool {
	return len(evs) > 1 && room.RecordOf(evs[len(evs)-1]) != nil
}

// A faultyLog is the log of one process. Appends fail by chance, and after a crash all
// of them do.
type faultyLog struct {
	*memory.Log
	w     *simulated
	rng   *rand.Rand
	ready bool // faults happen
	dead  bool
}

var errDead = errors.Join(errors.New("the process has ended"), log.ErrFailed)

func (l *faultyLog) Append(ctx context.Context, id string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if l.dead {
		return log.Pos{}, false, errDead
	}
	fault := 1 << 20
	if l.ready {
		fault = l.rng.IntN(400)
	}
	switch {
	case fault < 6: // nothing is written; it is tried again
		l.w.met["append with an unknown outcome"]++
		return log.Pos{}, false, log.ErrUnknown
	case fault == 6: // nothing is written, and the handle has failed
		l.fail()
		return log.Pos{}, false, errDead
	case l.ready && withDecision(evs) && l.rng.IntN(16) == 0: // likewise
		l.w.met["append that fails of a turn with the next decision"]++
		l.fail()
		return log.Pos{}, false, errDead
	case withDecision(evs):
		l.w.met["append of a turn with the next decision"]++
	}
	pos, dup, err := l.Log.Append(ctx, id, after, wake, evs...)
	if err != nil {
		return pos, dup, err
	}
	if !dup {
		evs = slices.Clone(evs)
		l.w.note(func(c *invariant.Checker, s *room.State) []invariant.Broken { return store(c, s, evs) })
	}
	switch {
	case fault < 12: // it is written, and the process does not know
		l.w.met["append with an unknown outcome"]++
		return log.Pos{}, false, log.ErrUnknown
	case fault == 12: // it is written, and the handle has failed
		l.fail()
		return log.Pos{}, false, errDead
	}
	return pos, dup, nil
}

// Redact removes texts. Sometimes the process ends before, and the next one has to do it.
func (l *faultyLog) Redact(ctx context.Context, id string, stubs ...room.Event) error {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if !l.dead && l.ready && l.rng.IntN(3) == 0 {
		l.w.met["crash between a redaction and the removal of the text"]++
		l.fail()
	}
	if l.dead {
		return errDead
	}
	if err := l.Log.Redact(ctx, id, stubs...); err != nil {
		return err
	}
	stored := events(l.w.T, l.Log)
	l.w.note(func(c *invariant.Checker, s *room.State) []invariant.Broken {
		*s = room.State{}
		for _, e := range stored {
			s.Apply(e)
		}
		c.Refolded(s)
		return nil
	})
	return nil
}

func (l *faultyLog) fail() {
	l.dead = true
	l.w.note(func(c *invariant.Checker, _ *room.State) []invariant.Broken { c.Failed(); return nil })
	l.w.met["append that fails"]++
}

// store folds events that the log holds, as the coordinator does.
func store(c *invariant.Checker, s *room.State, evs []room.Event) []invariant.Broken {
	broken := c.Stored(evs[len(evs)-1].Seq)
	for _, e := range evs {
		s.Apply(e)
		broken = append(broken, c.Applied(e, s)...)
	}
	return broken
}

// run runs the room in several processes, one after the other.
func (w *simulated) run() {
	rng := w.random("processes")
	ctx, cancel := context.WithCancel(w.Context())
	var parts sync.WaitGroup
	for process := range 2 + rng.IntN(3) {
		hosted, stop := context.WithCancel(w.Context())
		ended := make(chan struct{})
		h := w.start(process)
		go func() { h.Run(hosted); close(ended) }()
		if process == 0 {
			w.create(h)
			for i, who := range []string{"me", "you", room.ActorHost} {
				parts.Go(func() { w.person(ctx, who, w.random("person", i)) })
			}
			for i, level := range []room.Visibility{room.Internal, room.UserRedacted, room.UserVisible} {
				parts.Go(func() { w.watch(ctx, fmt.Sprint("watcher ", i), level, w.random("watcher", i)) })
			}
		}
		w.mu.Lock()
		w.log.ready = true
		w.mu.Unlock()
		time.Sleep(time.Duration(1+rng.IntN(120)) * time.Second)
		w.end(rng.IntN(3) > 0)
		stop()
		<-ended
	}
	cancel()
	parts.Wait()
	synctest.Wait()
}

// start begins a process. It finds the events that the process before it has stored.
func (w *simulated) start(process int) *coordinator.Host {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = &faultyLog{Log: w.memory, w: w, rng: w.random("log", process)}
	if process > 0 {
		entries, err := w.memory.Read(w.Context(), "r1", log.Pos{}, 1<<20)
		if err != nil {
			w.Fatal(err)
		}
		stored := make([]room.Event, len(entries))
		for i, e := range entries {
			stored[i] = e.Event
		}
		w.note(func(c *invariant.Checker, _ *room.State) []invariant.Broken { return c.Recovered(stored) })
	}
	w.host = &coordinator.Host{Config: w.config(), Due: w.memory.Due, IdleAfter: 10 * time.Second}
	return w.host
}

// end ends the process: it crashes, or ends by itself.
func (w *simulated) end(crash bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.met["end of the process"]++; crash && !w.log.dead {
		w.met["crash"]++
		w.log.dead = true
	}
}

func (w *simulated) config() coordinator.Config {
	return coordinator.Config{
		Log: w.log, Owner: "test",
		Policy: func(context.Context, room.PolicyRef) (coordinator.Policy, error) {
			return quickIf(w.seed%2 == 1, policyFunc(w.decide)), nil
		},
		Endpoint: w.endpoint,
	}
}

func (w *simulated) create(h *coordinator.Host) {
	rng := w.random("room")
	mode := func() room.Mode { return []room.Mode{room.FullAuto, room.SemiAuto, room.Manual}[rng.IntN(3)] }
	s := spec(room.Limits{MaxTurns: 100, MaxFailures: 6, MaxDuration: time.Hour, MaxDeclines: 20, MaxViolations: 4, SameText: 6, MaxInternal: 30, AckTimeout: 20 * time.Second, DraftTimeout: time.Minute})
	if rng.IntN(2) == 0 {
		s.OnRestart = room.RestartContinue
	}
	s.Policy.Digest = "d1"
	seats := agents("a", "b", "p", "r", "q")
	seats[1].Mode, seats[4].Mode = mode(), mode()
	seats[2].Starts = true
	seats[3].Kind, seats[3].Device = policy.Remote, "dev"
	seats[4].Remembers = true
	seats = append(seats, room.Participant{ID: "me", Kind: policy.Human}, room.Participant{ID: "you", Kind: policy.Human})
	if _, err := h.Create(w.Context(), s, seats, coordinator.RunOptions{}); err != nil {
		w.Fatal(err)
	}
}

// decide is the policy. It depends on its input only.
func (w *simulated) decide(in policy.Input) policy.Decision {
	rng := w.random("decision", in.Decision, in.NowMS)
	var ids []string
	for _, a := range in.Agents {
		if a.Eligible {
			ids = append(ids, a.ID)
		}
	}
	switch n := rng.IntN(40); {
	case n == 0:
		return policy.Decision{Action: policy.ActionError, Message: "it cannot decide"}
	case n == 1:
		return policy.Speak("ghost", "no one")
	case n < 6, len(ids) == 0:
		return policy.Decline("not now")
	}
	if slices.Contains(ids, "r") && rng.IntN(3) == 0 { // the agent on another device
		return policy.Speak("r", "its turn")
	}
	return policy.Speak(ids[rng.IntN(len(ids))], "drawn")
}

// check tells a checker of all that has happened, in order.
func (w *simulated) check(met map[string]int) {
	c, s := invariant.New(), &room.State{}
	var broken []invariant.Broken
	for _, f := range w.facts {
		broken = append(broken, f(c, s)...)
	}
	stored := events(w.T, w.memory)
	broken = append(broken, c.Ended(s, stored)...)
	for _, b := range broken[:min(len(broken), 5)] {
		w.Errorf("seed %d: %v", w.seed, b)
	}
	for _, typ := range types(stored) {
		w.met[typ]++
	}
	for _, name := range slices.Collect(maps.Keys(w.met)) {
		met[name] += w.met[name]
	}
}
