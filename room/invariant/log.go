package invariant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/folkmoot/moot/room"
)

func (c *Checker) gapless(e step) string {
	if e.Seq != c.seq+1 || e.s.Seq != e.Seq {
		return fmt.Sprintf("event %d follows event %d, and the state is at %d", e.Seq, c.seq, e.s.Seq)
	}
	return ""
}

func (c *Checker) clockRuns(e step) string {
	if e.Clock < c.clock {
		return fmt.Sprintf("the clock goes from %v back to %v", c.clock, e.Clock)
	}
	return ""
}

// epochs checks that only a claim starts an epoch, and that none goes back.
func (c *Checker) epochs(e step) string {
	if _, claims := e.Body.(room.Claimed); e.Epoch < c.epoch || e.Epoch > c.epoch && !claims || claims && e.Epoch != c.epoch+1 {
		return fmt.Sprintf("%s is of epoch %d after epoch %d", e.Body.Type(), e.Epoch, c.epoch)
	}
	return ""
}

// named checks that the id of an event is its own.
func (c *Checker) named(e step) string {
	want := strconv.FormatUint(e.Epoch, 10) + "." + strconv.FormatInt(e.Seq, 10)
	if e.Command != "" {
		want += "." + e.Command
	}
	switch {
	case c.ids[e.ID]:
		return "the id " + e.ID + " is that of an earlier event"
	case e.ID != want:
		return "event " + want + " has the id " + e.ID
	}
	return ""
}

// opensOnce checks that the first event of a room opens it, and no other.
func (c *Checker) opensOnce(e step) string {
	if _, opens := e.Body.(room.Opened); opens != (c.seq == 0) {
		return "event " + strconv.FormatInt(e.Seq, 10) + " is " + e.Body.Type()
	}
	return ""
}

// counts checks that the state counts what the events say.
func (c *Checker) counts(e step) string {
	want := c.was.tally
	switch e.Body.(type) {
	case room.TurnGranted:
		want.Turns++
	case room.MessagePosted:
		want.Messages++
	case room.RoundDeclined:
		want.Declined++
	case room.TurnFailed:
		want.Errors++
	case room.TurnPassed:
		want.Passed++
	}
	got := e.s.Tally
	if got.Turns != want.Turns || got.Messages != want.Messages || got.Declined != want.Declined || got.Errors != want.Errors || got.Passed != want.Passed {
		return fmt.Sprintf("after %s the state counts %+v", e.Body.Type(), got)
	}
	return ""
}

// Ended checks s, the live state of a room, against its log: the fold of the stored
// events is s, a snapshot of s continues like s, and no wall time decides anything. It
// takes as long as several folds, so a caller that runs for long calls it now and then.
func (c *Checker) Ended(s *room.State, log []room.Event) []Broken {
	c.report("G10", s.Seq, foldDiffers(s, log))
	c.report("G12", s.Seq, snapshotDiffers(s))
	c.report("L9", s.Seq, wallDecides(s, log))
	c.report("R3", s.Seq, c.unended(s))
	return c.done()
}

// foldDiffers says how the fold of the stored form of a log is not s.
func foldDiffers(s *room.State, log []room.Event) string {
	var folded room.State
	for i := range log {
		b, err := room.MarshalEvent(log[i])
		if err != nil {
			return fmt.Sprintf("event %d cannot be stored: %v", log[i].Seq, err)
		}
		e, err := room.UnmarshalEvent(b)
		if err != nil {
			return fmt.Sprintf("event %d cannot be read: %v", log[i].Seq, err)
		}
		folded.Apply(e)
	}
	return differs(&folded, s, "the fold of the log is not the live state")
}

// differs compares two states by the bytes of their snapshots.
func differs(a, b *room.State, why string) string {
	x, err := json.Marshal(a)
	if err != nil {
		return err.Error()
	}
	y, err := json.Marshal(b)
	if err != nil {
		return err.Error()
	}
	if !bytes.Equal(x, y) {
		return why + difference(x, y)
	}
	return ""
}

// difference shows where two texts begin to differ.
func difference(x, y []byte) string {
	i := 0
	for i < min(len(x), len(y)) && x[i] == y[i] {
		i++
	}
	from := max(0, i-40)
	return fmt.Sprintf(": %.80q and %.80q", x[from:], y[from:])
}

// snapshotDiffers says how a state that is restored from a snapshot is not s.
func snapshotDiffers(s *room.State) string {
	b, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	var back room.State
	if err := json.Unmarshal(b, &back); err != nil {
		return err.Error()
	}
	back.CompileNames()
	if why := differs(&back, s, "a restored snapshot is not the state"); why != "" {
		return why
	}
	if x, y := fmt.Sprint(back.Effects()), fmt.Sprint(s.Effects()); x != y {
		return "a restored snapshot has the effects " + x + ", and the state " + y
	}
	return ""
}

// wallDecides says what a jump of the wall clock by a day would change: the limits,
// the counts, the effects and the deadlines depend on the clock of the room only.
func wallDecides(s *room.State, log []room.Event) string {
	var other room.State
	for i, e := range log {
		e.At = e.At.Add(time.Duration(24-48*(i%2)) * time.Hour)
		other.Apply(e)
	}
	x, _ := other.Deadline()
	y, _ := s.Deadline()
	if other.Phase != s.Phase || other.Tally != s.Tally || x != y || !reflect.DeepEqual(other.Effects(), s.Effects()) {
		return fmt.Sprintf("with another wall clock the room is %s, %+v, and waits until %v", other.Phase, other.Tally, x)
	}
	return ""
}

// unended says which turn has neither ended nor is open.
func (c *Checker) unended(s *room.State) string {
	for request, n := range c.requests {
		if !c.talk.ended[n] && turnNumber(s) != n {
			return fmt.Sprintf("turn %d with the request %s has no end", n, request)
		}
	}
	return ""
}
