package fork

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A Place in a room's log is an event by its number, or a turn.
type Place struct {
	Seq  int64
	Turn int // 0 when it is an event
}

// ParsePlace reads "42", an event, or "t7", a turn.
func ParsePlace(s string) (Place, error) {
	number, isTurn := strings.CutPrefix(s, "t")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 1 {
		return Place{}, &problem.Error{
			Code: "TRANSCRIPT-EVENT", What: fmt.Sprintf("%q is neither the number of an event nor a turn", s),
			Fix: "write 42 for event 42, or t7 for turn 7",
		}
	}
	if isTurn {
		return Place{Turn: int(n)}, nil
	}
	return Place{Seq: n}, nil
}

// String returns the place in words.
func (p Place) String() string {
	if p.Turn > 0 {
		return fmt.Sprintf("turn %d", p.Turn)
	}
	return fmt.Sprintf("event %d", p.Seq)
}

// Missing says that a room has no such place.
func (p Place) Missing(id string) error {
	return &problem.Error{
		Code: "TRANSCRIPT-EVENT", What: fmt.Sprintf("%s has no %s", id, p),
		Fix: "`moot transcript show " + id + "` shows the turns, `moot transcript export " + id + "` all events with their numbers",
	}
}

// Ends reports whether an event is where the place is passed: the event
// itself, or the one with which the turn ended.
func (p Place) Ends(e room.Event) bool {
	if p.Turn == 0 {
		return e.Seq == p.Seq
	}
	switch b := e.Body.(type) {
	case room.TurnPassed:
		return b.Turn == p.Turn
	case room.TurnFailed:
		return b.Turn == p.Turn
	case room.TurnInterrupted:
		return b.Turn == p.Turn
	case room.TurnRejected:
		return b.Turn == p.Turn
	}
	return p.Says(e)
}

// Says reports whether an event is the message that was said there. Messages
// of imported conversations count as turns.
func (p Place) Says(e room.Event) bool {
	b, ok := e.Body.(room.MessagePosted)
	if !ok || p.Turn == 0 {
		return ok && e.Seq == p.Seq
	}
	return b.Turn == p.Turn || b.Turn == 0 && b.Message.Source == "" && b.Message.Turn == p.Turn
}
