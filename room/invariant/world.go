package invariant

import (
	"fmt"

	"github.com/folkmoot/moot/room"
)

// world is what the host has done outside the room.
type world struct {
	stored   int64 // the log holds the events up to here
	told     int64 // a caller was told of the events up to here
	failed   bool  // the log has refused an append since it was opened
	history  []string
	sent     map[string]uint64 // epoch in which a request was sent last
	executed map[string]bool   // requests
	shown    bool              // the caller tells of the log, so that applied events must be stored
}

func (w *world) init() { *w = world{sent: map[string]uint64{}, executed: map[string]bool{}} }

// Stored notes that the log holds the events up to seq on stable storage.
func (c *Checker) Stored(seq int64) []Broken {
	if c.stored, c.shown = max(c.stored, seq), true; c.failed {
		c.report("G6", c.seq, fmt.Sprintf("the log stores event %d after an append has failed", seq))
	}
	return c.done()
}

// Failed notes that an append has failed. The log must be opened again; see Recovered.
func (c *Checker) Failed() { c.failed = true }

// Acknowledged checks that a caller may be told of the events up to seq.
func (c *Checker) Acknowledged(seq int64) []Broken {
	if seq > c.stored {
		c.report("G4", c.seq, fmt.Sprintf("event %d is acknowledged, and the log holds %d", seq, c.stored))
	}
	c.told = max(c.told, seq)
	return c.done()
}

// Recovered checks log, the whole log when it was opened again after a crash. The caller
// folds it and goes on with Applied for the events that were not applied before.
func (c *Checker) Recovered(log []room.Event) []Broken {
	if n := int64(len(log)); n < c.told || n < c.stored || n < c.seq {
		c.report("G7", n, fmt.Sprintf("the log holds %d events of %d stored, %d applied and %d acknowledged", n, c.stored, c.seq, c.told))
	}
	for i, id := range c.history {
		if i < len(log) && log[i].ID != id {
			c.report("G7", log[i].Seq, "the log holds the event "+log[i].ID+" in place of "+id)
			break
		}
	}
	c.stored, c.failed, c.shown = int64(len(log)), false, true
	return c.done()
}

// Sent checks that a prompt may leave: its turn is open, live, and in the log.
func (c *Checker) Sent(request, participant string) []Broken {
	t := c.turn
	switch {
	case !c.inFlight() || t.Request != request || t.Participant != participant:
		c.report("S2", c.seq, "the request "+request+" to "+participant+" is sent, and is not that of the open turn")
	case c.was.phase != room.PhaseLive:
		c.report("S4", c.seq, fmt.Sprintf("the request %s is sent while the room is %s", request, c.was.phase))
	case c.seatOf(participant).takenBy != "":
		c.report("S9", c.seq, "a prompt is sent to "+participant+", whose seat "+c.seatOf(participant).takenBy+" has")
	case c.shown && t.seq > c.stored:
		c.report("G5", c.seq, "the request "+request+" is sent before its turn is stored")
	}
	asksOnce := c.seatOf(participant).Device == "" && !c.seatOf(participant).Session
	if last, again := c.sent[request]; again && (asksOnce || last == c.epoch) {
		c.report("R5", c.seq, fmt.Sprintf("the request %s is sent to %s in epoch %d and again in epoch %d", request, participant, last, c.epoch))
	}
	c.sent[request] = c.epoch
	return c.done()
}

// Executed checks that the agent of a participant begins to work on a request. A device
// that gets a request twice answers from its record, and a session knows what it works on.
func (c *Checker) Executed(request string) []Broken {
	if c.executed[request] {
		c.report("T1", c.seq, "an agent works on the request "+request+" again")
	}
	if _, known := c.sent[request]; !known {
		c.report("T2", c.seq, "an agent works on the request "+request+", which was not sent")
	}
	c.executed[request] = true
	return c.done()
}

// storedFirst checks that an event changes the room only when the log holds it.
func (c *Checker) storedFirst(e step) string {
	if c.shown && e.Seq > c.stored {
		return fmt.Sprintf("event %d is applied, and the log holds %d", e.Seq, c.stored)
	}
	return ""
}

func (c *Checker) learnWorld(e step) { c.history = append(c.history, e.ID) }
