package sim

import (
	"container/heap"
	"hash"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/room"
)

// A simulation is one run.
type simulation struct {
	cfg     Config
	src     *source
	now     time.Duration // since the beginning; never runs back
	skew    time.Duration // of the wall clock, which jumps
	timers  timers
	disk    disk
	proc    *process // nil while none runs
	procs   int      // that have run
	facts   []*facts // rooms, in the order in which they were made
	clients []*client
	readers []*spectator
	result  Result
	sum     hash.Hash
	steps   int
	faults  Faults // of the policy; they stay to the end of the run
}

// epoch is the wall time at which every simulation begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// wall returns the wall time.
func (s *simulation) wall() time.Time { return epoch.Add(s.now + s.skew) }

// step takes one action.
func (s *simulation) step() {
	if s.proc == nil {
		if s.src.percent(60) {
			s.startProcess()
		} else {
			s.next()
		}
		return
	}
	runnable := s.runnable()
	switch s.src.weighted([]int{40 * min(1, len(runnable)), 40 * min(1, s.timers.Len()), 5, 7, 3, 2}) {
	case 0:
		one(s.src, runnable...).handleNext()
	case 1:
		s.passTime()
	case 2:
		s.personActs()
	case 3:
		s.agentActs()
	case 4:
		s.readerActs()
	case 5:
		s.inject()
	}
}

// quiet checks the rooms in which nothing is in progress or due.
func (s *simulation) quiet() {
	if s.proc == nil || len(s.timers.list) > 0 && s.timers.list[0].due <= s.now {
		return
	}
	for _, h := range s.proc.rooms {
		if h.claimed && h.batch == nil && !h.runnable() && h.gate.closed == 0 && !h.gate.held {
			s.report(h.id, h.facts.check.Settled(h.clock(), &h.state))
		}
	}
}

// maxRooms bounds the rooms of a run, without those of calls.
const maxRooms = 8 // of a run with the usual number of steps

// passTime lets time pass until the next timer. Where that is long, a person often acts
// first, or makes another room when all have ended.
func (s *simulation) passTime() {
	if s.timers.list[0].due-s.now < 15*time.Second || s.src.percent(25) {
		s.next()
		return
	}
	rooms := 0
	for _, f := range s.facts {
		if f.spec.Call == nil {
			rooms++
		}
	}
	if (!s.anyOpen() || s.src.percent(10)) && rooms < max(maxRooms, s.cfg.Steps/40) {
		s.addRoom("r" + strconv.Itoa(rooms+1))
		s.open(s.facts[len(s.facts)-1])
		return
	}
	s.personActs()
}

// goesOn reports whether a room has not ended for good.
func (h *hosted) goesOn() bool {
	return h.state.Phase == room.PhaseLive || h.state.Phase == room.PhasePaused || h.state.Phase == room.PhaseError
}

func (s *simulation) anyOpen() bool {
	return slices.ContainsFunc(s.proc.rooms, (*hosted).goesOn)
}

// someRoom returns a room of the process, nearly always one that has not ended. It
// returns nil if there is none.
func (s *simulation) someRoom() *hosted {
	var open, all []*hosted
	for _, h := range s.proc.rooms {
		if h.state.Phase != room.PhaseUnopened {
			all = append(all, h)
			if h.goesOn() {
				open = append(open, h)
			}
		}
	}
	switch {
	case len(open) > 0 && s.src.percent(95):
		return one(s.src, open...)
	case len(all) > 0:
		return one(s.src, all...)
	}
	return nil
}

// runnable returns the rooms that have a request to handle.
func (s *simulation) runnable() (rooms []*hosted) {
	for _, h := range s.proc.rooms {
		if h.runnable() {
			rooms = append(rooms, h)
		}
	}
	return rooms
}

// inject injects a fault that is no part of another action.
func (s *simulation) inject() {
	switch {
	case s.fault(Crash, 25):
		s.crash(s.src.percent(40))
	case s.fault(Clock, 25):
		s.skew += one(s.src, -24*time.Hour, 24*time.Hour, -time.Second, time.Hour, -s.skew)
		s.trace("fault", "the wall clock jumps")
		s.at(moment{kind: onClock})
	case s.fault(Disk, 10):
		s.disk.full = 1 + s.src.below(2)
		s.trace("fault", "the disk is full")
	default:
		s.next()
	}
}

// wind ends the run: it starts the process if none runs, lets time pass without new
// actions until nothing is in progress, and checks what must hold then.
func (s *simulation) wind() {
	s.cfg.Faults = 0
	if s.proc == nil {
		s.startProcess()
	}
	for range 400 {
		if rooms := s.runnable(); len(rooms) > 0 {
			rooms[0].handleNext()
		} else if s.settled() || !s.next() {
			break
		}
		if s.proc == nil {
			s.startProcess()
		}
		if len(s.result.Violation) > 0 {
			return
		}
	}
	for _, r := range s.readers {
		r.readAll()
	}
	for _, f := range s.facts {
		f.end(s)
	}
}

// settled reports whether no room has work in progress.
func (s *simulation) settled() bool {
	for _, h := range s.proc.rooms {
		if h.state.Phase == room.PhaseLive || h.batch != nil {
			return false
		}
	}
	return true
}

// stack returns the frames of a panic in this module.
func stack() string {
	var frames []string
	for line := range strings.Lines(string(debug.Stack())) {
		if strings.Contains(line, ".go:") && strings.Contains(line, "/room/") && len(frames) < 6 {
			frames = append(frames, strings.TrimSpace(line))
		}
	}
	return "\n" + strings.Join(frames, "\n")
}

// A timer runs a function at a time. Timers of the same time run in the order in which
// they were set.
type timer struct {
	due time.Duration
	seq int
	run func()
}

// timers is a priority queue of timers; see container/heap.
type timers struct {
	list []timer
	set  int
}

func (q *timers) Len() int { return len(q.list) }

func (q *timers) Less(i, j int) bool {
	a, b := &q.list[i], &q.list[j]
	return a.due < b.due || a.due == b.due && a.seq < b.seq
}

func (q *timers) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }

// Push and Pop are for package heap.
func (q *timers) Push(x any) { q.list = append(q.list, x.(timer)) }

// Pop removes the last element.
func (q *timers) Pop() any {
	last := q.list[len(q.list)-1]
	q.list[len(q.list)-1] = timer{}
	q.list = q.list[:len(q.list)-1]
	return last
}

// after runs f when d has passed.
func (s *simulation) after(d time.Duration, f func()) {
	s.timers.set++
	heap.Push(&s.timers, timer{s.now + max(0, d), s.timers.set, f})
}

// next lets time pass until the next timer, and runs it. It reports false if there is
// none.
func (s *simulation) next() bool {
	if len(s.timers.list) == 0 {
		return false
	}
	t := heap.Pop(&s.timers).(timer)
	s.now = max(s.now, t.due)
	t.run()
	return true
}
