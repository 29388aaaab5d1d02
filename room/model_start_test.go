package room_test

import (
	"time"

	"github.com/folkmoot/moot/room"
)

// The rules of starts of agents, as the model states them.

// start notes that the agent of a seat has to start.
func (m *model) start(x *modelSeat) bool {
	if x.Starts {
		x.attempt, x.startedAt = m.seq, m.clock
	}
	return true
}

func (m *model) starting(x *modelSeat) bool {
	return x != nil && x.attempt != 0 && x.standing == room.Active && x.takenBy == ""
}

// started ends a start or, of an agent that was ready, its run. A person may still
// approve the draft of an agent that has ended.
func (m *model) started(x *modelSeat, code string, latency time.Duration) bool {
	drafted := m.turn != nil && m.turn.seat == x
	var b room.Body = room.SeatReady{Participant: x.ID, Latency: latency}
	if code != "" {
		b = room.SeatFailed{Participant: x.ID, Code: code, Latency: latency}
	}
	if m.note(b); x.attempt != 0 && m.declinedAt > x.attempt {
		m.news = m.seq
	}
	if x.attempt = 0; code != "" {
		x.failed++
		m.start(x)
	}
	return code == "" || drafted || m.suspend(x, code) || m.left(x)
}

// starts reports whether the agent of a seat is started now: not under its draft.
func (m *model) starts(x *modelSeat) bool {
	return m.starting(x) && (m.turn == nil || m.turn.seat != x)
}
