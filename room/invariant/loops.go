package invariant

import (
	"cmp"
	"fmt"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
)

// ownName checks that a message outside a turn is from the actor that posted it.
func (c *Checker) ownName(e step) string {
	b, ok := e.Body.(room.MessagePosted)
	m := b.Message
	if !ok || b.Turn != 0 || m.From == room.ActorRoom || m.Kind == kinds.Call || m.Kind == kinds.CallResult || e.s.Spec.Call != nil {
		return ""
	}
	if from := cmp.Or(m.By, m.From); e.Actor != from && !(m.From == room.ActorHost && e.Actor == room.ActorRoom) {
		return fmt.Sprintf("%s has posted a message of %s", e.Actor, from)
	}
	return ""
}

// notItself checks that an agent does not address itself.
func (c *Checker) notItself(e step) string {
	if b, ok := e.Body.(room.MessagePosted); ok && c.side(b) && b.Message.To == b.Message.From {
		return b.Message.From + " has posted to itself"
	}
	return ""
}

func (c *Checker) withinHops(e step) string {
	if b, ok := e.Body.(room.MessagePosted); ok && b.Message.Trace != nil && b.Message.Trace.Hops > c.was.limits.MaxHops {
		return fmt.Sprintf("message %s has %d hops", b.Message.ID, b.Message.Trace.Hops)
	}
	return ""
}

// endsRepeats checks that a room ends in which agents write the same text again and
// again.
func (c *Checker) endsRepeats(e step) string { return c.owed("H8", e) }

// endsInternal checks that a room ends in which agents exchange internal messages
// without visible progress.
func (c *Checker) endsInternal(e step) string { return c.owed("H9", e) }

// maxTurnPosts and maxHandOffs bound what an agent posts in one turn. The reply may
// have one hand-off more.
const (
	maxTurnPosts = 200
	maxHandOffs  = 8 + 1
)

func (c *Checker) fewPosts(e step) string {
	b, ok := e.Body.(room.MessagePosted)
	if !ok || !c.side(b) || e.s.Spec.Call != nil {
		return ""
	}
	x := c.seatOf(b.Message.From)
	if inTurn := c.inFlight() && c.turn.Participant == x.ID; inTurn && c.posts >= maxTurnPosts || !inTurn && x.sides >= c.was.limits.MaxInternal {
		return fmt.Sprintf("%s posts a message after %d in its turn and %d outside", x.ID, c.posts, x.sides)
	}
	return ""
}

// handsOff checks that an agent hands off in its turn only, and not without an end.
func (c *Checker) handsOff(e step) string {
	b, ok := e.Body.(room.HandoffAsked)
	if !ok {
		return ""
	}
	if !c.inFlight() || c.turn.Turn != b.Turn || c.turn.Participant != b.From || c.handoffs >= maxHandOffs {
		return fmt.Sprintf("%s hands off in turn %d, after %d times", b.From, b.Turn, c.handoffs)
	}
	return ""
}

// learnLoops notes what the checks of loops need to know.
func (c *Checker) learnLoops(e step) {
	switch b := e.Body.(type) {
	case room.TurnGranted:
		c.posts, c.handoffs = 0, 0
	case room.HandoffAsked:
		c.handoffs++
	case room.PlanChanged, room.Resumed, room.LimitsChanged:
		c.internal = 0
	case room.MessagePosted:
		if c.side(b) && c.inFlight() && c.turn.Participant == b.Message.From {
			c.posts++
		}
		c.learnText(e, b)
		c.learnInternal(e, b.Message)
	}
}

// learnText notes the text of an agent, and that the room has to end if it has been
// written too often. Texts are compared byte for byte; the room compares letters.
func (c *Checker) learnText(e step, b room.MessagePosted) {
	m, l := b.Message, e.s.Limits
	if x := c.seatOf(m.From); !x.driven() || m.By != "" || m.Kind == kinds.CallResult || m.Text == "" {
		return
	}
	c.newest = append(c.newest, m.Text)
	c.newest = append([]string(nil), c.newest[max(0, len(c.newest)-l.SameTextOf):]...)
	same := 0
	for _, text := range c.newest {
		if text == m.Text {
			same++
		}
	}
	if same >= l.SameText && c.was.phase == room.PhaseLive {
		c.duty = duty{"H8", fmt.Sprintf("%s has written a text for the %dth time, and the room goes on", m.From, same), ended}
	}
}

// learnInternal counts internal messages from agent to agent that nothing interrupts.
func (c *Checker) learnInternal(e step, m room.Message) {
	if m.Visibility != room.Internal || m.By != "" || m.Kind == kinds.Ack || m.Kind == kinds.Call || m.Kind == kinds.CallResult || !c.seatOf(m.From).driven() || !c.seatOf(m.To).driven() {
		c.internal = 0
		return
	}
	if c.internal++; c.internal > e.s.Limits.MaxInternal && c.was.phase == room.PhaseLive && e.s.Spec.Call == nil {
		c.duty = duty{"H9", fmt.Sprintf("%d internal messages in a row, and the room goes on", c.internal), ended}
	}
}

// ended reports whether b ends the room.
func ended(b room.Body) bool {
	switch b.(type) {
	case room.Stopped, room.Completed, room.Errored, room.Paused:
		return true
	}
	return false
}
