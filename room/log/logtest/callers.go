package logtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A HistoryEngine describes an engine whose histories are checked.
type HistoryEngine struct {
	// Open opens the log that is kept in dir, several times at once.
	Open func(t testing.TB, dir string) log.Log
	// Fault injects one fault and ends it, such as a connection that is cut or a server that
	// is killed. It may be nil.
	Fault func(t testing.TB)
	// Faults is how many there are in a run, every third of which closes a handle.
	Faults int
}

const (
	handles       = 3 // each as if it were a process
	historyRooms  = 2
	callsOfCaller = 12 // in a short run
)

// RunHistories lets callers with several handles append to rooms and read them, while
// answers are lost, calls are cancelled and handles are closed. The history of each room must
// be linearizable. MOOT_HISTORIES is how many runs of that kind follow one another, 1 if it is
// not set.
func RunHistories(t *testing.T, e HistoryEngine) {
	runs := 1
	if n, err := strconv.Atoi(os.Getenv("MOOT_HISTORIES")); err == nil {
		runs = n
	}
	for seed := range runs {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runHistory(t, e, uint64(seed)) })
	}
}

func runHistory(t *testing.T, e HistoryEngine, seed uint64) {
	r := &historyRun{t: t, e: e, dir: t.TempDir(), start: time.Now(), histories: map[string]History{}}
	for range handles {
		r.logs = append(r.logs, &handle{l: e.Open(t, r.dir)})
	}
	defer func() {
		for _, h := range r.logs {
			h.l.Close()
		}
	}()
	var callers sync.WaitGroup
	for i := range handles * historyRooms {
		c := &caller{
			historyRun: r, id: i, handle: r.logs[i%handles], room: fmt.Sprintf("room-%d", i/handles),
			rand: rand.New(rand.NewPCG(seed, uint64(i))),
		}
		callers.Go(c.run)
	}
	r.faults(rand.New(rand.NewPCG(seed, math.MaxUint64)))
	callers.Wait()
	for i := range historyRooms {
		r.check(fmt.Sprintf("room-%d", i))
	}
}

// A historyRun is one run.
type historyRun struct {
	t     *testing.T
	e     HistoryEngine
	dir   string
	start time.Time
	logs  []*handle
	calls atomic.Int64 // that have ended

	mu        sync.Mutex
	histories map[string]History // by room
}

// A handle is an open log, which is replaced as if its process were started again.
type handle struct {
	mu sync.Mutex
	l  log.Log
}

func (h *handle) log() log.Log {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.l
}

// faults injects faults while the callers are at work: those of the engine, and handles that
// are closed in the middle of calls.
func (r *historyRun) faults(random *rand.Rand) {
	for i := range r.e.Faults {
		for r.calls.Load() < int64((i+1)*handles*historyRooms*callsOfCaller/(r.e.Faults+1)) {
			if r.t.Failed() {
				return
			}
			time.Sleep(time.Millisecond)
		}
		if r.e.Fault == nil || i%3 == 0 {
			r.reopen(r.logs[random.IntN(handles)])
		} else {
			r.e.Fault(r.t)
		}
	}
}

// reopen closes a handle, and gives its callers a new one.
func (r *historyRun) reopen(h *handle) {
	h.log().Close()
	next := r.e.Open(r.t, r.dir)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.l = next
}

func (r *historyRun) now() int64 { return time.Since(r.start).Nanoseconds() }

// note adds a call that has ended to the history of a room. One whose outcome is not known
// may take place at any later time.
func (r *historyRun) note(room string, caller int, from int64, c Call, a Answer) {
	to := r.now()
	if a.Result == Unknown {
		to = math.MaxInt64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.histories[room] = append(r.histories[room], porcupine.Operation{ClientId: caller, Input: c, Call: from, Output: a, Return: to})
}

// check reads a room at the end and checks its chain and its history.
func (r *historyRun) check(name string) {
	l := r.logs[0].log()
	if _, err := log.Verify(r.t.Context(), l, name, log.Mark{}); err != nil {
		r.t.Errorf("%s: %v", name, err)
	}
	c := &caller{historyRun: r, id: handles * historyRooms, handle: r.logs[0], room: name}
	for !c.read() && !r.t.Failed() {
	}
	if h := r.histories[name]; !h.Linearizable() {
		r.t.Errorf("%s is not linearizable:\n%s", name, h)
	}
}

// A caller appends to one room and reads it. It knows the room as of its last call.
type caller struct {
	*historyRun
	id     int
	handle *handle
	room   string
	rand   *rand.Rand
	made   int // messages
	tail   int
	ids    string // of the room, when it was read last
}

func (c *caller) run() {
	defer c.calls.Add(callsOfCaller) // faults do not wait for a caller that has failed
	for i := 0; i < callsOfCaller && !c.t.Failed(); i++ {
		switch c.rand.IntN(8) {
		case 0:
			c.lock()
		case 1, 2, 3:
			c.read()
		default:
			c.say()
		}
		c.calls.Add(1)
	}
}

// lock takes the room or frees it. Callers without the lock append too, as a process that was
// frozen and does not know that its lease has ended.
func (c *caller) lock() {
	unlock, err := c.handle.log().Lock(c.t.Context(), c.room)
	if err == nil {
		c.say()
		unlock()
	}
}

// say appends a message, at the end of the room as far as the caller knows it. After a
// conflict it reads the room, and appends the message if it is not there.
func (c *caller) say() {
	c.made++
	ids := fmt.Sprintf("%d-%d,", c.id, c.made)
	if c.rand.IntN(4) == 0 {
		ids += fmt.Sprintf("%d-%d-b,", c.id, c.made)
	}
	for !c.t.Failed() {
		from, after := c.now(), c.tail
		result := c.append(after, ids)
		c.note(c.room, c.id, from, Call{Op: Append, After: after, IDs: ids}, Answer{Result: result})
		switch result {
		case Unknown:
			return // the caller gives up
		case Done:
			c.tail = after + strings.Count(ids, ",")
			if c.rand.IntN(4) == 0 {
				c.again(after, ids)
			}
			return
		}
		for !c.read() && !c.t.Failed() {
		}
		if register(c.ids).hasAny(ids) {
			return
		}
	}
}

// again repeats an append that was acknowledged, as a caller that has not got the answer.
func (c *caller) again(after int, ids string) {
	from := c.now()
	result := c.append(after, ids)
	if result == Conflict {
		c.t.Errorf("%s: %s after %d was acknowledged, and is a conflict later", c.room, ids, after)
	}
	if result == Done {
		c.note(c.room, c.id, from, Call{Op: Again, After: after, IDs: ids}, Answer{})
	}
}

// append tries an append until its outcome is known, or gives up.
func (c *caller) append(after int, ids string) Result {
	var events []room.Event
	for id := range strings.SplitSeq(strings.TrimSuffix(ids, ","), ",") {
		events = append(events, Event(id, "text of "+id))
	}
	for {
		err := c.try(after, events)
		switch {
		case err == nil:
			return Done
		case errors.Is(err, log.ErrConflict):
			return Conflict
		case !mayRetry(err):
			c.t.Errorf("%s: appending after %d: %v", c.room, after, err)
			return Unknown
		case c.rand.IntN(8) == 0:
			return Unknown
		}
		time.Sleep(time.Millisecond) // the interval of its retries
	}
}

// errLost is the error of a call of which the answer is lost.
var errLost = fmt.Errorf("the answer is lost: %w", log.ErrUnknown)

// try appends once. The call may be lost before or after the log has it, or be cancelled.
func (c *caller) try(after int, events []room.Event) error {
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	fault := c.rand.IntN(16)
	switch fault {
	case 0:
		return errLost
	case 1:
		stop := time.AfterFunc(time.Duration(c.rand.IntN(2000))*time.Microsecond, cancel)
		defer stop.Stop()
	}
	_, _, err := c.handle.log().Append(ctx, c.room, log.At(int64(after)), time.Time{}, events...)
	if fault == 2 {
		return errLost
	}
	return err
}

// mayRetry reports whether a call that failed can be made again: the outcome is not known, or
// the handle was closed.
func mayRetry(err error) bool {
	return errors.Is(err, log.ErrUnknown) || errors.Is(err, log.ErrFailed) || errors.Is(err, context.Canceled)
}

// read reads the whole room; false: it got no answer.
func (c *caller) read() bool {
	from := c.now()
	entries, err := c.handle.log().Read(c.t.Context(), c.room, log.Pos{}, 1000)
	if err != nil && !errors.Is(err, log.ErrNotFound) {
		if !mayRetry(err) {
			c.t.Errorf("%s: reading: %v", c.room, err)
		}
		return false
	}
	ids := ""
	for _, e := range entries {
		ids += e.Event.ID + ","
	}
	c.note(c.room, c.id, from, Call{Op: Read}, Answer{IDs: ids})
	c.tail, c.ids = len(entries), ids
	return true
}
