package invariant

import (
	"fmt"
	"time"

	"github.com/folkmoot/moot/room"
)

// talk is what the events have said about turns and commands.
type talk struct {
	turn     *openTurn
	turns    int             // granted so far
	ended    map[int]bool    // turns
	requests map[string]int  // turn of each request
	commands map[string]int  // the number of ids before it
	command  string          // of the last event
	ids      map[string]bool // of events
	restart  bool            // a restarted room has to pause
}

// An openTurn is the open turn as its events tell it.
type openTurn struct {
	room.TurnGranted
	seq      int64 // of its grant
	started  time.Duration
	drafted  bool
	edited   bool
	draft    string // hash
	text     string // of the draft
	approved string // hash, until it is used
	asked    map[string]bool
}

func (t *talk) init() {
	*t = talk{ended: map[int]bool{}, requests: map[string]int{}, commands: map[string]int{}, ids: map[string]bool{}}
}

// ending returns the turn that an event ends.
func ending(b room.Body) (turn int, ends bool) {
	switch b := b.(type) {
	case room.MessagePosted:
		return b.Turn, b.Turn != 0
	case room.TurnPassed:
		return b.Turn, true
	case room.TurnFailed:
		return b.Turn, true
	case room.TurnRejected:
		return b.Turn, true
	case room.TurnInterrupted:
		return b.Turn, true
	}
	return 0, false
}

// inFlight reports whether a prompt waits for its answer.
func (t *talk) inFlight() bool { return t.turn != nil && !t.turn.drafted }

func (c *Checker) oneTurn(e step) string {
	if b, ok := e.Body.(room.TurnGranted); ok && c.turn != nil {
		return fmt.Sprintf("turn %d is granted while turn %d is open", b.Turn, c.turn.Turn)
	}
	return ""
}

func (c *Checker) grantLive(e step) string {
	if b, ok := e.Body.(room.TurnGranted); ok && c.was.phase != room.PhaseLive {
		return fmt.Sprintf("turn %d is granted while the room is %q", b.Turn, c.was.phase)
	}
	return ""
}

// endFree checks that a pause or an end leaves no prompt without its end. A device of
// another owner keeps its request over a restart.
func (c *Checker) endFree(e step) string {
	if c.turn == nil {
		return ""
	}
	x := c.seatOf(c.turn.Participant)
	switch b := e.Body.(type) {
	case room.Paused:
		if kept := b.Cause == room.CauseInterrupted && (x.Device != "" || x.takenBy != ""); c.inFlight() && !kept {
			return fmt.Sprintf("paused while turn %d is in flight", c.turn.Turn)
		}
	case room.Stopped, room.Completed, room.Errored:
		return fmt.Sprintf("%s while turn %d is open", b.Type(), c.turn.Turn)
	}
	return ""
}

func (c *Checker) endOnce(e step) string {
	if n, ends := ending(e.Body); ends && c.ended[n] {
		return fmt.Sprintf("%s ends turn %d, which has ended", e.Body.Type(), n)
	}
	return ""
}

func (c *Checker) endOpen(e step) string {
	if n, ends := ending(e.Body); ends && (c.turn == nil || c.turn.Turn != n) {
		return fmt.Sprintf("%s ends turn %d, which is not open", e.Body.Type(), n)
	}
	return ""
}

// lateChangesNothing checks that a late reply and a violation of a protocol change
// only the counts of violations.
func (c *Checker) lateChangesNothing(e step) string {
	switch e.Body.(type) {
	case room.ReplyLate, room.Violation:
	default:
		return ""
	}
	s := e.s
	if s.Tally != c.was.tally || s.Phase != c.was.phase || turnNumber(s) != c.was.turn {
		return e.Body.Type() + " has changed the turn, the phase or a count"
	}
	return ""
}

func turnNumber(s *room.State) int {
	if s.Turn == nil {
		return 0
	}
	return s.Turn.Number
}

func (c *Checker) newRequest(e step) string {
	b, ok := e.Body.(room.TurnGranted)
	if !ok || b.Request == "" {
		return ""
	}
	if n, known := c.requests[b.Request]; known {
		return fmt.Sprintf("turn %d has the request of turn %d", b.Turn, n)
	}
	return ""
}

func (c *Checker) nextNumber(e step) string {
	if b, ok := e.Body.(room.TurnGranted); ok && b.Turn != c.turns+1 {
		return fmt.Sprintf("turn %d follows turn %d", b.Turn, c.turns)
	}
	return ""
}

func (c *Checker) ownTurn(e step) string {
	if b, ok := e.Body.(room.MessagePosted); ok && b.Turn != 0 && c.turn != nil && c.turn.Turn == b.Turn && b.Message.From != c.turn.Participant {
		return fmt.Sprintf("%s speaks in turn %d of %s", b.Message.From, b.Turn, c.turn.Participant)
	}
	return ""
}

// newestIDs is the number of ids of commands that a room remembers at least. It
// remembers 10,000, with the ids of messages and dead letters.
const newestIDs = 5_000

// onceApplied checks that the events of a command come together.
func (c *Checker) onceApplied(e step) string {
	if n, known := c.commands[e.Command]; known && e.Command != c.command && len(c.commands)-n < newestIDs {
		return "command " + e.Command + " has events already"
	}
	return ""
}

// pausedAfterCrash checks that a room that was live when its host ended is paused
// before anything else happens in it.
func (c *Checker) pausedAfterCrash(e step) string {
	if !c.restart {
		return ""
	}
	switch e.Body.(type) {
	case room.Paused, room.TurnInterrupted, room.PermissionAnswered, room.CallChanged, room.CallEnded, room.MessagePosted:
		return ""
	}
	return e.Body.Type() + " in a room that was restarted and is not paused"
}

// sameTurn checks that the state has the open turn of the events.
func (c *Checker) sameTurn(e step) string {
	n, ends := ending(e.Body)
	b, grants := e.Body.(room.TurnGranted)
	want := 0
	switch {
	case grants:
		want = b.Turn
	case c.turn != nil && !(ends && n == c.turn.Turn):
		want = c.turn.Turn
	}
	if got := turnNumber(e.s); got != want {
		return fmt.Sprintf("the state has turn %d open, and the events turn %d", got, want)
	}
	return ""
}

// learnTurn notes what the checks of turns need to know.
func (c *Checker) learnTurn(e step) {
	c.learnEnvelope(e)
	switch b := e.Body.(type) {
	case room.TurnGranted:
		c.turn, c.turns = &openTurn{TurnGranted: b, seq: e.Seq, started: e.Clock, asked: map[string]bool{}}, b.Turn
		if b.Request != "" {
			c.requests[b.Request] = b.Turn
		}
		return
	case room.Claimed:
		c.restart = b.Restart && c.was.phase == room.PhaseLive && e.s.Spec.OnRestart != room.RestartContinue
	case room.Paused:
		c.restart = false
	}
	if c.turn == nil {
		return
	}
	c.learnDraft(e.Body)
	if n, ends := ending(e.Body); ends && n == c.turn.Turn {
		c.ended[n], c.turn = true, nil
	}
}

func (c *Checker) learnEnvelope(e step) {
	c.command = e.Command
	if _, known := c.commands[e.Command]; e.Command != "" && !known {
		c.commands[e.Command] = len(c.commands)
	}
	c.ids[e.ID] = true
}

func (c *Checker) learnDraft(b room.Body) {
	switch t := c.turn; b := b.(type) {
	case room.TurnDrafted:
		t.drafted, t.draft, t.text = true, b.Draft, b.Message.Text
	case room.TurnEdited:
		t.edited, t.draft, t.text, t.approved = true, b.Draft, b.Text, ""
	case room.TurnApproved:
		t.approved = b.Draft
	case room.PermissionAsked:
		t.asked[b.ID] = true
	case room.PermissionAnswered:
		t.asked[b.ID] = false
	}
}
