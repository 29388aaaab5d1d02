package sim

import (
	"fmt"
	"reflect"
	"time"

	"github.com/folkmoot/moot/room"
)

// checks are the invariants of a room that need what only the simulation knows.
type checks struct {
	commands map[string]int64  // seq of the first event of each command
	sends    map[string]uint64 // epoch in which each prompt left
	granted  map[string]bool
	paused   int64 // newest pause or end that was acknowledged and not lifted
	seq      int64
	clock    time.Duration
	open     string
}

func (c *checks) init() {
	if c.commands == nil {
		c.commands, c.sends, c.granted = map[string]int64{}, map[string]uint64{}, map[string]bool{}
	}
}

// decided checks a decision: events follow the state, and Decide changes nothing.
func (c *checks) decided(s *simulation, h *hosted, cmd room.Command, _ room.Now, events []room.Event, err error) {
	c.init()
	if err != nil && len(events) > 0 {
		s.violate("S8", h.id, "a refused command has events")
	}
	if first, again := c.commands[cmd.ID]; again && cmd.ID != "" && len(events) > 0 {
		s.violate("S8", h.id, fmt.Sprintf("command %s has events at %d and again", cmd.ID, first))
	}
}

// applied checks an event that the room has applied.
func (c *checks) applied(s *simulation, h *hosted, e room.Event) {
	c.init()
	if e.Seq != h.state.Seq {
		s.violate("G1", h.id, fmt.Sprintf("event %d leads to the state of %d", e.Seq, h.state.Seq))
	}
	if _, known := c.commands[e.Command]; !known && e.Command != "" {
		c.commands[e.Command] = e.Seq
	}
	if b, ok := e.Body.(room.TurnGranted); ok {
		if c.granted[b.Request] {
			s.violate("R5", h.id, "request "+b.Request+" was granted twice")
		}
		c.granted[b.Request] = true
	}
}

// folded learns of events of the log, which an earlier process may not have applied.
func (c *checks) folded(events []room.Event) {
	c.init()
	for _, e := range events {
		if b, ok := e.Body.(room.TurnGranted); ok {
			c.granted[b.Request] = true
		}
		if _, known := c.commands[e.Command]; !known && e.Command != "" {
			c.commands[e.Command] = e.Seq
		}
	}
}

// sent checks a prompt that leaves.
func (c *checks) sent(s *simulation, h *hosted, e room.Speak) {
	c.init()
	t := h.state.Turn
	device := h.facts.agent(e.Participant).seat.Device != ""
	switch before, again := c.sends[e.Request]; {
	case h.gate.closed > 0 || h.gate.held:
		s.violate("S4", h.id, "a prompt left while the gate was closed")
	case h.state.Phase != room.PhaseLive:
		s.violate("S4", h.id, "a prompt left while the room was "+string(h.state.Phase))
	case t == nil || t.Request != e.Request || t.Draft != nil:
		s.violate("G5", h.id, "a prompt left without a turn")
	case !c.granted[e.Request]:
		s.violate("G5", h.id, "a prompt left before its grant was durable")
	case again && (!device || before == h.state.Epoch):
		s.violate("R5", h.id, "request "+e.Request+" was sent twice")
	}
	c.sends[e.Request] = h.state.Epoch
}

func (c *checks) executed(*simulation, *hosted, string) {}

func (c *checks) stored(*simulation, *facts, int64) {}

func (c *checks) acknowledged(*simulation, *facts, int64) {}

// recovered forgets what the crash undid.
func (c *checks) recovered(_ *simulation, _ *facts, tail int64) {
	for id, seq := range c.commands {
		if seq > tail {
			delete(c.commands, id)
		}
	}
}

func (c *checks) watches(*simulation, *spectator) {}

func (c *checks) shown(s *simulation, r *spectator, e room.Event) {
	if b, ok := e.Body.(room.MessagePosted); ok && r.level != room.Internal && b.Message.Visibility == room.Internal {
		s.violate("V1", r.of.spec.Room, "an internal message was shown to "+r.name)
	}
}

// ended checks the end of a run: each command is in the log once.
func (c *checks) ended(s *simulation, f *facts, live *room.State, events []room.Event) {
	last := map[string]int64{}
	for _, e := range events {
		if seq, ok := last[e.Command]; ok && e.Command != "" && seq != e.Seq-1 {
			s.violate("S8", f.spec.Room, fmt.Sprintf("command %s is in the log at %d and %d", e.Command, seq, e.Seq))
		}
		last[e.Command] = e.Seq
	}
	var again room.State
	for _, e := range events {
		again.Apply(e)
	}
	if !reflect.DeepEqual(again.Tally, live.Tally) {
		s.violate("G10", f.spec.Room, "the counts of the fold differ")
	}
}
