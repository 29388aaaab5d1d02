package transcriptcmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A place in a room's log is an event by its number, or a turn.
type place struct {
	seq  int64
	turn int // 0 when it is an event
}

// parsePlace reads "42", an event, or "t7", a turn.
func parsePlace(s string) (place, error) {
	number, isTurn := strings.CutPrefix(s, "t")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 1 {
		return place{}, &problem.Error{
			Code: "TRANSCRIPT-EVENT", What: fmt.Sprintf("%q is neither the number of an event nor a turn", s),
			Fix: "write 42 for event 42, or t7 for turn 7",
		}
	}
	if isTurn {
		return place{turn: int(n)}, nil
	}
	return place{seq: n}, nil
}

func (p place) String() string {
	if p.turn > 0 {
		return fmt.Sprintf("turn %d", p.turn)
	}
	return fmt.Sprintf("event %d", p.seq)
}

// missing says that a room has no such place.
func (p place) missing(id string) error {
	return &problem.Error{
		Code: "TRANSCRIPT-EVENT", What: fmt.Sprintf("%s has no %s", id, p),
		Fix: "`moot transcript show " + id + "` shows the turns, `moot transcript export " + id + "` all events with their numbers",
	}
}

// ends reports whether an event is where the place is passed: the event
// itself, or the one with which the turn ended.
func (p place) ends(e room.Event) bool {
	if p.turn == 0 {
		return e.Seq == p.seq
	}
	switch b := e.Body.(type) {
	case room.TurnPassed:
		return b.Turn == p.turn
	case room.TurnFailed:
		return b.Turn == p.turn
	case room.TurnInterrupted:
		return b.Turn == p.turn
	case room.TurnRejected:
		return b.Turn == p.turn
	}
	return p.says(e)
}

// says reports whether an event is the message that was said there. Messages
// of imported conversations count as turns.
func (p place) says(e room.Event) bool {
	b, ok := e.Body.(room.MessagePosted)
	if !ok || p.turn == 0 {
		return ok && e.Seq == p.seq
	}
	return b.Turn == p.turn || b.Turn == 0 && b.Message.Source == "" && b.Message.Turn == p.turn
}
