package sim

import (
	"fmt"
	"strconv"
	"time"

	"github.com/folkmoot/moot/room"
)

// A process hosts rooms. Its memory is lost in a crash.
type process struct {
	owner string
	rooms []*hosted
}

// startProcess starts a process that opens all rooms.
func (s *simulation) startProcess() {
	s.procs++
	s.proc = &process{owner: "process-" + strconv.Itoa(s.procs)}
	s.trace("start", s.proc.owner)
	for _, f := range s.facts {
		if f.spec.Call == nil { // child rooms are opened with their calls
			s.open(f)
		}
	}
	for _, c := range s.clients {
		c.reconnect(s)
	}
}

// open opens a room in the process that runs, or makes it.
func (s *simulation) open(f *facts) *hosted {
	h := &hosted{s: s, proc: s.proc, facts: f, id: f.spec.Room}
	s.proc.rooms = append(s.proc.rooms, h)
	events, err := s.disk.read(s, h.id)
	if err != nil {
		s.violate("G7", h.id, "reading the log: "+err.Error())
		return h
	}
	if f.lost {
		s.report(h.id, f.check.Recovered(events))
		f.lost = false
	}
	if len(events) == 0 {
		f.model.pending = nil
		h.boot = append(h.boot, room.Open{Spec: f.spec, Participants: f.seats}, room.Claim{Owner: s.proc.owner})
		return h
	}
	for _, e := range events {
		h.fold(e)
		if e.Seq > f.check.applied {
			f.appliedEvent(s, h, e)
		}
	}
	f.reopened(s, h, events)
	f.model.reopened(s, h)
	if s.src.percent(60) {
		h.restore(events)
	}
	h.redact()
	h.release()
	h.base = h.state.Clock
	h.boot = append(h.boot, room.Claim{Owner: s.proc.owner, Restart: h.state.Phase == room.PhaseLive})
	s.at(moment{kind: onReopen, room: h})
	return h
}

// crash ends the process. Whole says that only the process ends, so that the kernel
// still writes what it was given.
func (s *simulation) crash(whole bool) {
	s.result.Crashes++
	s.trace("fault", "crash, whole ", whole)
	for _, h := range s.proc.rooms {
		s.at(moment{kind: onCrash, room: h, batch: h.batch})
		h.facts.left(h)
	}
	s.endProcess(whole)
}

// endProcess forgets the memory of the process and what the disk loses.
func (s *simulation) endProcess(whole bool) {
	rooms := s.proc.rooms
	s.proc = nil
	s.disk.crash(s, whole)
	for _, h := range rooms {
		h.ended = true
		h.facts.recovered(s)
	}
	for _, c := range s.clients {
		c.disconnect(s)
	}
	for _, r := range s.readers {
		r.connected = false
	}
}

// room returns the room with id in the process that runs, or nil.
func (s *simulation) room(id string) *hosted {
	if s.proc == nil {
		return nil
	}
	for _, h := range s.proc.rooms {
		if h.id == id && !h.ended {
			return h
		}
	}
	return nil
}

// facts are what the outside knows of a room: they survive a crash.
type facts struct {
	spec  room.Spec
	seats []room.Participant
	style int // of its policy
	check checks
	model comparison

	acked    int64 // newest event of which a client was told
	live     *room.State
	liveSeq  int64 // of the state when the process ended
	restored bool  // that state began with a snapshot
	agents   []*agent
	lost     bool // its run has ended and the room was not opened since
}

// acknowledged notes that a client was told of events through seq.
func (f *facts) acknowledged(s *simulation, seq int64) {
	f.acked = max(f.acked, seq)
	s.report(f.spec.Room, f.check.Acknowledged(seq))
}

// recovered checks the log after the end of a process.
func (f *facts) recovered(s *simulation) {
	tail := int64(0)
	if l := s.disk.logs[f.spec.Room]; l != nil {
		tail = int64(len(l.raws))
	}
	if tail < f.acked {
		s.violate("G4", f.spec.Room, fmt.Sprintf("event %d was acknowledged, and the log ends at %d", f.acked, tail))
	}
	if tail < f.liveSeq {
		s.violate("G5", f.spec.Room, fmt.Sprintf("event %d was applied, and the log ends at %d", f.liveSeq, tail))
	}
	f.lost = true
}

// elapsed is how long a step of the network or of a program takes.
func (s *simulation) elapsed() time.Duration {
	return s.src.between(50*time.Microsecond, 20*time.Millisecond)
}
