package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/invariant"
	"github.com/folkmoot/moot/room/reference"
)

// checks are the invariants of a room: those of package invariant, and those that need
// what only the simulation knows.
type checks struct {
	*invariant.Checker
	applied int64 // newest event that the checker was told of
}

// report records the invariants that do not hold.
func (s *simulation) report(id string, broken []invariant.Broken) {
	for _, b := range broken {
		s.violate(b.ID, id, b.Detail)
	}
}

// decided checks a decision. Now and then it compares the whole state.
func (f *facts) decided(s *simulation, h *hosted, cmd room.Command, events []room.Event, err error) {
	s.report(h.id, f.check.Decided(cmd, &h.state, events, err))
	if s.result.Commands%67 != 0 {
		return
	}
	before := encoded(&h.state)
	if _, again := h.state.Decide(cmd, h.timeNow()); (again == nil) != (err == nil) {
		s.violate("G14", h.id, fmt.Sprintf("the same command is decided otherwise: %v, then %v", err, again))
	}
	if !bytes.Equal(before, encoded(&h.state)) {
		s.violate("G14", h.id, fmt.Sprintf("the decision about %T has changed the state", cmd.Do))
	}
}

func encoded(state *room.State) []byte {
	b, err := json.Marshal(state)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// appliedEvent checks an event that the room has applied.
func (f *facts) appliedEvent(s *simulation, h *hosted, e room.Event) {
	f.check.applied = e.Seq
	s.report(h.id, f.check.Applied(e, &h.state))
}

// sent checks a prompt that leaves.
func (f *facts) sent(s *simulation, h *hosted, e room.Speak) {
	s.report(h.id, f.check.Sent(e.Request, e.Participant))
	switch t := h.state.Turn; {
	case h.pauses > 0 || h.gate.closed > 0 || h.gate.held:
		s.violate("S4", h.id, "a prompt left while the gate was closed")
	case t == nil || t.Request != e.Request || t.Draft != nil:
		s.violate("G5", h.id, "a prompt left without a turn")
	}
}

// ended checks the end of a run: each command is in the log once, and for some seeds
// that snapshots and replays agree with the run.
func (f *facts) ended(s *simulation, live *room.State, events []room.Event) {
	last := map[string]int64{}
	for _, e := range events {
		if seq, ok := last[e.Command]; ok && e.Command != "" && seq != e.Seq-1 {
			s.violate("S8", f.spec.Room, fmt.Sprintf("command %s is in the log at %d and %d", e.Command, seq, e.Seq))
		}
		last[e.Command] = e.Seq
	}
	if s.cfg.Seed%16 == 0 && f.style != styleLarge {
		s.report(f.spec.Room, f.check.Ended(live, events))
	}
	if s.cfg.Seed%8 == 1 {
		f.replay(s, events)
	}
}

// replay rebuilds the input of each decision from the log, and decides again.
func (f *facts) replay(s *simulation, events []room.Event) {
	h := &hosted{s: s, facts: f, id: f.spec.Room}
	for _, e := range events {
		if _, redacted := e.Body.(room.Redacted); redacted {
			return // later inputs lack its text
		}
	}
	for _, e := range events {
		if rec := room.RecordOf(e); rec != nil && rec.Code == "" {
			in, err := h.state.RecordedInput(rec, h.textOf)
			if err != nil || inputDigest(&in) != rec.Input {
				s.violate("E2", h.id, fmt.Sprintf("the input of decision %d is not the recorded one: %v", rec.Decision, err))
				return
			}
			d, err := propose(f.style, &in, s.faults)
			if granted, ok := e.Body.(room.TurnGranted); ok && (err != nil || granted.Exploration == nil && d.Agent != granted.Participant) {
				s.violate("E2", h.id, fmt.Sprintf("decision %d chose %s, and %s again: %v", rec.Decision, granted.Participant, d.Agent, err))
			}
		}
		h.fold(e)
	}
}

// The reference model of package reference runs next to the rooms of every fourth seed.
// The people and agents of those seeds do only what the model states; see plain.

// plain reports whether the run has a model next to its rooms.
func (s *simulation) plain() bool { return s.cfg.Seed%4 == 2 }

// A comparison gives the commands of a room to its model. The model follows the log: it is
// given a command whose events are stored, after a crash too, and none whose events were
// lost.
type comparison struct {
	model   *reference.Model
	pending *batch // that was decided and is not known to be stored
	clock   time.Duration
}

// decided gives the model a command without events, and keeps one with events until they
// are stored.
func (c *comparison) decided(s *simulation, h *hosted, b *batch, err error) {
	c.pending, c.clock = b, h.clock()
	if len(b.events) == 0 {
		c.stored(s, h, err)
	}
}

// stored gives the model the command whose events are stored, and compares.
func (c *comparison) stored(s *simulation, h *hosted, err error) {
	b := c.pending
	c.pending = nil
	if b == nil || !s.plain() || s.cfg.flaws.noModel || h.facts.spec.Call != nil {
		return
	}
	if open, ok := b.req.cmd.Do.(room.Open); ok {
		c.model = reference.New(open)
	} else if c.model != nil {
		for _, p := range b.parts {
			if differs := c.model.Compare(p.cmd, c.clock, p.events, err); differs != "" {
				s.violate("M1", h.id, differs)
				c.model = nil
				return
			}
		}
	}
	if c.model == nil || len(b.events) == 0 { // the state is the same
		return
	}
	if differs := c.model.CompareState(&h.state); differs != "" {
		s.violate("M1", h.id, differs)
	}
}

// reopened gives the model the command that the process had decided when it ended, if its
// events are in the log.
func (c *comparison) reopened(s *simulation, h *hosted) {
	if b := c.pending; b != nil && s.plain() && h.state.Seq == b.after+int64(len(b.events)) {
		s.at(moment{kind: onModel, room: h})
		c.stored(s, h, nil)
	}
	c.pending = nil
}
