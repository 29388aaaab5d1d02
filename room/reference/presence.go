package reference

import (
	"strings"

	"github.com/folkmoot/moot/room"
)

// The rules of the seats of running sessions, as the model states them.

// A session is what the model knows of the session of a seat.
type session struct {
	presence room.Presence
	Answered string // its last request that has an answer
	side     int    // messages since its last turn
}

// away reports whether a seat waits for its session.
func (x *Seat) away() bool {
	return x.Session && x.takenBy == "" && x.presence == room.Away
}

// leave notes that the session of a seat, if it is one, is away.
func (x *Seat) leave() {
	if x.Session {
		x.presence = room.Away
	}
}

// answer notes that the session of a seat, if it is one, has answered a request.
func (x *Seat) answer(request string) {
	if x.Session {
		x.Answered = request
	}
}

// present states when the presence of a seat changes, and what that changes.
func (m *Model) present(do room.Present) bool {
	x := m.seat(do.Participant)
	runs := m.Phase == room.PhaseLive || m.Phase == room.PhasePaused
	if !runs || x == nil || !x.Session || x.standing == room.Removed {
		return false
	}
	return do.Presence == x.presence || m.come(x, do.Presence)
}

// come changes the presence of a seat. The end of its lease interrupts its turn.
func (m *Model) come(x *Seat, p room.Presence) bool {
	was, request := x.away(), ""
	if t := m.Turn; p == room.Away && t != nil && t.Seat == x && t.Draft == nil && x.takenBy == "" {
		request = t.Request
		m.interrupt(x)
	}
	m.note(room.PresenceChanged{Participant: x.ID, Presence: p, Request: request})
	if x.presence = p; x.away() != was {
		m.news = m.Seq
		if was {
			m.Tally.Declines = 0
		}
	}
	return true
}

// gone states which turn of a session has not failed when its time is over: one for
// which no session asks any more.
func (m *Model) gone(x *Seat, code string) bool {
	return code == room.FailTimeout && x.Session && x.presence != room.Live
}

// answer states which answer of a session counts: the first one to the open request,
// of the right process and not too long.
func (m *Model) answer(do room.Answered) bool {
	x, t := m.seat(do.Participant), m.Turn
	switch {
	case x == nil || !x.Session, do.Request == x.Answered, t == nil, m.Phase != room.PhaseLive:
		return false
	case t.Seat != x || t.Draft != nil || t.Request != do.Request || t.Epoch != do.Epoch || x.takenBy != "":
		return false
	case len([]rune(do.Text)) > m.Limits.MaxOutput:
		return false
	}
	return m.replied(room.Replied{Turn: t.Turn, Participant: x.ID, Request: t.Request, Reply: do.Reply, Latency: max(0, m.now-t.started)})
}

// says states what a session may say between its turns.
func (m *Model) says(x *Seat, do room.Say) bool {
	inTurn := m.Turn != nil && m.Turn.Draft == nil && m.Turn.Seat == x
	if x.standing != room.Active || m.Phase != room.PhaseLive || !inTurn && x.side >= m.Limits.MaxInternal || x.mode() != room.FullAuto || x.takenBy != "" {
		return false
	}
	dead := func(code string) bool { return m.note(room.MessageDead{Code: code}) }
	switch {
	case len([]rune(do.Text)) > m.Limits.MaxOutput:
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
