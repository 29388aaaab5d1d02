package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestHistories lets people post to a room and read it through two processes, one of which
// holds the room, while appends fail, answers are lost and processes crash. A person who gets
// no answer gives the same command again, in either process. The history must be
// linearizable, and so is each command applied once.
func TestHistories(t *testing.T) {
	for seed := range historySeeds {
		synctest.Test(t, func(t *testing.T) { newMeeting(t, seed, &memory.Log{}, false).run() })
	}
}

// TestHistoriesWithoutLocks is TestHistories for two processes that both take the room, as one
// does that was frozen until its lease had ended. The view of such a process is old, so people
// read the log.
func TestHistoriesWithoutLocks(t *testing.T) {
	for seed := range historySeeds {
		synctest.Test(t, func(t *testing.T) { newMeeting(t, seed, &unlocked{&memory.Log{}}, true).run() })
	}
}

// A meeting is a room that two processes serve.
type meeting struct {
	*testing.T
	seed     uint64
	log      coordinator.Log
	readsLog bool
	tick     atomic.Int64 // orders the calls

	mu        sync.Mutex
	processes [2]*process
	history   logtest.History
}

// A process is a host with a log that fails.
type process struct {
	*coordinator.Host
	lossy *lossyLog
	stop  context.CancelFunc
	ended chan struct{}
}

// A lossyLog loses appends and their answers by chance, and is dead after a crash.
type lossyLog struct {
	coordinator.Log
	dead atomic.Bool

	mu  sync.Mutex
	rng *rand.Rand
}

func (l *lossyLog) Append(ctx context.Context, id string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	l.mu.Lock()
	fault := l.rng.IntN(12)
	l.mu.Unlock()
	if l.dead.Load() {
		return log.Pos{}, false, errDead
	}
	if fault == 0 {
		return log.Pos{}, false, log.ErrUnknown
	}
	pos, dup, err := l.Log.Append(ctx, id, after, wake, evs...)
	if err == nil && fault == 1 {
		return log.Pos{}, false, log.ErrUnknown
	}
	return pos, dup, err
}

func newMeeting(t *testing.T, seed uint64, l coordinator.Log, readsLog bool) *meeting {
	m := &meeting{T: t, seed: seed, log: l, readsLog: readsLog}
	for i := range m.processes {
		m.start(i, uint64(i))
	}
	s := spec(room.Limits{MaxDeclines: 1 << 30, MaxDuration: 1 << 60})
	s.OnRestart = room.RestartContinue
	ps := agents("a")
	for i := range meetingPeople {
		ps = append(ps, room.Participant{ID: fmt.Sprint("p", i), Kind: policy.Human})
	}
	if _, err := m.process(0).Create(t.Context(), s, ps, coordinator.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	return m
}

const (
	historySeeds   = uint64(12)
	meetingPeople  = 3
	meetingActs    = 10
	meetingCrashes = 6
)

func (m *meeting) random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(m.seed, part)) }

func (m *meeting) process(i int) *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.processes[i]
}

// start starts a process.
func (m *meeting) start(i int, number uint64) {
	p := &process{lossy: &lossyLog{Log: m.log, rng: m.random(100 + number)}, ended: make(chan struct{})}
	cfg := config(p.lossy, silent, count)
	cfg.Headless = false
	p.Host = &coordinator.Host{Config: cfg}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(m.Context())
	go func() { p.Run(ctx); close(p.ended) }()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.processes[i] = p
}

// crash ends a process at any time, and starts another one in its place.
func (m *meeting) crash(i int, number uint64) {
	p := m.process(i)
	p.lossy.dead.Store(true)
	p.stop()
	<-p.ended
	m.start(i, number)
}

func (m *meeting) run() {
	var people sync.WaitGroup
	for i := range meetingPeople {
		people.Go(func() { m.person(i, m.random(uint64(i))) })
	}
	rng := m.random(99)
	for i := range uint64(meetingCrashes) {
		time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
		m.crash(rng.IntN(2), 2+i)
	}
	people.Wait()
	m.readsLog = true
	m.read(m.Context(), 0, m.process(0))
	for i := range m.processes {
		p := m.process(i)
		p.stop()
		<-p.ended
	}
	if !m.history.Linearizable() {
		m.Errorf("seed %d: not linearizable:\n%s", m.seed, m.history)
	}
}

// person posts and reads.
func (m *meeting) person(who int, rng *rand.Rand) {
	for n := range meetingActs {
		time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
		if rng.IntN(3) == 0 {
			m.read(m.Context(), who, m.process(rng.IntN(2)))
			continue
		}
		m.post(who, fmt.Sprintf("p%d-%d", who, n), rng)
	}
}

// post gives a command until its outcome is known, and sometimes once more. Some people give
// up. All attempts up to the first answer are one call: what is open then makes the check
// exponential.
func (m *meeting) post(who int, id string, rng *rand.Rand) {
	c := room.Command{ID: id, Actor: fmt.Sprint("p", who), Do: room.Say{Text: id}}
	call := logtest.Call{Op: logtest.Post, IDs: id + ","}
	from, answered := m.tick.Add(1), false
	for again := true; again; {
		if answered {
			from = m.tick.Add(1)
		}
		ctx, cancel := context.WithTimeout(m.Context(), time.Duration(1+rng.IntN(4000))*time.Millisecond)
		_, err := m.process(rng.IntN(2)).Do(ctx, "r1", c)
		cancel()
		if err == nil {
			m.note(who, from, call, logtest.Answer{})
			answered = true
		} else {
			m.expected(err)
		}
		again = err != nil && rng.IntN(8) > 0 || err == nil && rng.IntN(4) == 0
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
	}
	if !answered {
		m.note(who, from, call, logtest.Answer{Result: logtest.Unknown})
	}
}

// expected fails the test unless the error is one of a fault.
func (m *meeting) expected(err error) {
	for _, e := range []error{log.ErrLocked, log.ErrConflict, log.ErrUnknown, log.ErrFailed, coordinator.ErrFenced, coordinator.ErrClosed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, e) {
			return
		}
	}
	m.Errorf("seed %d: %v", m.seed, err)
}

func (m *meeting) note(who int, from int64, c logtest.Call, a logtest.Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	to := m.tick.Add(1)
	if a.Result == logtest.Unknown {
		to = math.MaxInt64
	}
	m.history = append(m.history, porcupine.Operation{ClientId: who, Call: from, Return: to, Input: c, Output: a})
}

// read reads what people have said, in the log or as a process shows it.
func (m *meeting) read(ctx context.Context, who int, p *process) {
	from, ids := m.tick.Add(1), ""
	add := func(e room.Event) {
		if said, ok := e.Body.(room.MessagePosted); ok && said.Message.From != room.ActorHost {
			ids += said.Message.Text + ","
		}
	}
	if m.readsLog {
		entries, err := m.log.Read(ctx, "r1", log.Pos{}, 1<<20)
		if err != nil {
			m.Error(err)
		}
		for _, e := range entries {
			add(e.Event)
		}
	} else if !m.shown(ctx, p, add) {
		return
	}
	m.note(who, from, logtest.Call{Op: logtest.Read}, logtest.Answer{IDs: ids})
}

// shown yields the events of the room as a process shows it; false: it gives no answer.
func (m *meeting) shown(ctx context.Context, p *process, yield func(room.Event)) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	r, err := p.Get(ctx, "r1")
	if err != nil {
		m.expected(err)
		return false
	}
	seq, last := r.View().Seq, int64(0)
	for u, err := range r.Watch(ctx, 0, room.Internal) {
		if err != nil {
			return false
		}
		if u.Event == nil {
			continue
		}
		yield(*u.Event)
		if last = u.Event.Seq; last >= seq {
			break
		}
	}
	return last >= seq && !p.lossy.dead.Load() // a process that has ended gives no answers
}
