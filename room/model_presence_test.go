package room_test

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

// The rules of the seats of running sessions, as the model states them.

// A modelSession is what the model knows of the session of a seat.
type modelSession struct {
	presence room.Presence
	answered string // its last request that has an answer
	side     int    // messages since its last turn
}

// away reports whether a seat waits for its session.
func (x *modelSeat) away() bool {
	return x.Session && x.takenBy == "" && x.presence == room.Away
}

// leave notes that the session of a seat, if it is one, is away.
func (x *modelSeat) leave() {
	if x.Session {
		x.presence = room.Away
	}
}

// answer notes that the session of a seat, if it is one, has answered a request.
func (x *modelSeat) answer(request string) {
	if x.Session {
		x.answered = request
	}
}

// present states when the presence of a seat changes, and what that changes.
func (m *model) present(do room.Present) bool {
	x := m.seat(do.Participant)
	runs := m.phase == room.PhaseLive || m.phase == room.PhasePaused
	if !runs || x == nil || !x.Session || x.standing == room.Removed {
		return false
	}
	return do.Presence == x.presence || m.come(x, do.Presence)
}

// come changes the presence of a seat. The end of its lease interrupts its turn.
func (m *model) come(x *modelSeat, p room.Presence) bool {
	was, request := x.away(), ""
	if t := m.turn; p == room.Away && t != nil && t.seat == x && t.draft == nil && x.takenBy == "" {
		request = t.Request
		m.interrupt(x)
	}
	m.note(room.PresenceChanged{Participant: x.ID, Presence: p, Request: request})
	if x.presence = p; x.away() != was {
		m.news = m.seq
		if was {
			m.tally.Declines = 0
		}
	}
	return true
}

// gone states which turn of a session has not failed when its time is over: one for
// which no session asks any more.
func (m *model) gone(x *modelSeat, code string) bool {
	return code == room.FailTimeout && x.Session && x.presence != room.Live
}

// answer states which answer of a session counts: the first one to the open request,
// of the right process and not too long.
func (m *model) answer(do room.Answered) bool {
	x, t := m.seat(do.Participant), m.turn
	switch {
	case x == nil || !x.Session, do.Request == x.answered, t == nil, m.phase != room.PhaseLive:
		return false
	case t.seat != x || t.draft != nil || t.Request != do.Request || t.epoch != do.Epoch || x.takenBy != "":
		return false
	case len([]rune(do.Text)) > m.limits.MaxOutput:
		return false
	}
	return m.replied(room.Replied{Turn: t.Turn, Participant: x.ID, Request: t.Request, Reply: do.Reply, Latency: max(0, m.now-t.started)})
}

// says states what a session may say between its turns.
func (m *model) says(x *modelSeat, do room.Say) bool {
	inTurn := m.turn != nil && m.turn.draft == nil && m.turn.seat == x
	if x.standing != room.Active || m.phase != room.PhaseLive || !inTurn && x.side >= m.limits.MaxInternal || x.mode() != room.FullAuto || x.takenBy != "" {
		return false
	}
	dead := func(code string) bool { return m.note(room.MessageDead{Code: code}) }
	switch {
	case len([]rune(do.Text)) > m.limits.MaxOutput:
		return dead("ROOM-SIZE")
	case strings.TrimSpace(do.Text) == "":
		return dead("ROOM-EMPTY")
	case do.To != "" && m.seat(do.To) == nil:
		return dead("ROOM-UNKNOWN")
	case do.To == x.ID:
		return dead("ROOM-SELF")
	}
	if !inTurn {
		x.side++
	}
	return m.post(room.MessagePosted{Message: room.Message{From: x.ID, Text: do.Text, Source: "agent"}, Auto: true})
}

// drawSession draws what a session does, or false if the room has no session.
func drawSession(rt *rapid.T, m *model, text string) (room.Command, bool) {
	for _, x := range m.seats {
		if !x.Session || rapid.IntRange(0, 2).Draw(rt, "session") > 0 {
			continue
		}
		if rapid.IntRange(0, 1).Draw(rt, "x") == 0 {
			p := rapid.SampledFrom([]room.Presence{room.Live, room.Live, room.Live, room.Idle, room.Away}).Draw(rt, "presence")
			return room.Command{Actor: x.ID, Do: room.Present{Participant: x.ID, Presence: p}}, true
		}
		do := room.Answered{Participant: x.ID, Request: x.answered, Epoch: m.epoch, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: text}}
		if m.turn != nil && rapid.IntRange(0, 3).Draw(rt, "right") > 0 {
			do.Request, do.Epoch = m.turn.Request, m.turn.epoch+uint64(rapid.SampledFrom([]int{0, 0, 0, 0, 1}).Draw(rt, "epoch"))
		}
		if rapid.IntRange(0, 3).Draw(rt, "pass") == 0 {
			do.Outcome, do.Text = endpoint.Passed, ""
		}
		return room.Command{Actor: x.ID, Do: do}, true
	}
	return room.Command{}, false
}
