package reference

import (
	"time"

	"github.com/folkmoot/moot/room"
)

// The rules of starts of agents, as the model states them.

// start notes that the agent of a seat has to start.
func (m *Model) start(x *Seat) bool {
	if x.Starts {
		x.Attempt, x.startedAt = m.Seq, m.clock
	}
	return true
}

func (m *Model) Starting(x *Seat) bool {
	return x != nil && x.Attempt != 0 && x.standing == room.Active && x.takenBy == ""
}

// started ends a start or, of an agent that was ready, its run. A person may still
// approve the draft of an agent that has ended.
func (m *Model) started(x *Seat, code string, latency time.Duration) bool {
	drafted := m.Turn != nil && m.Turn.Seat == x
	var b room.Body = room.SeatReady{Participant: x.ID, Latency: latency}
	if code != "" {
		b = room.SeatFailed{Participant: x.ID, Code: code, Latency: latency}
	}
	if m.note(b); x.Attempt != 0 && m.declinedAt > x.Attempt {
		m.news = m.Seq
	}
	if x.Attempt = 0; code != "" {
		x.failed++
		m.start(x)
	}
	return code == "" || drafted || m.suspend(x, code) || m.left(x)
}

// starts reports whether the agent of a seat is started now: not under its draft.
func (m *Model) starts(x *Seat) bool {
	return m.Starting(x) && (m.Turn == nil || m.Turn.Seat != x)
}
