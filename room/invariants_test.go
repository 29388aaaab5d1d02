package room_test

import (
	"cmp"
	"fmt"

	"github.com/folkmoot/moot/room"
)

// A history checks invariants over every prefix of a log, from the events alone,
// without a State. The names are those of the reliability catalogue.
type history struct {
	seq      int64
	clock    int64
	limits   room.Limits
	seats    map[string]*seatHistory
	open     *room.TurnGranted // S1
	drafted  bool
	approved map[string]bool // S6: hashes of drafts, used once
	draft    string
	phase    string
	turns    int
	failures int
	declines int
	ended    map[int]bool // R1
	opened   bool
	asked    map[string]bool // A1: permission requests; true while one waits
}

type seatHistory struct {
	room.Participant
	standing room.Standing
	set      room.Mode // S6: by a person, until the room ends
	owner    string
	last     int
	here     bool // its session holds a lease
	ready    bool // its agent runs and has answered what it was asked
}

func newHistory() *history {
	return &history{seats: map[string]*seatHistory{}, approved: map[string]bool{}, ended: map[int]bool{}, asked: map[string]bool{}}
}

// add returns the invariant that e breaks, or "".
func (h *history) add(e room.Event) string {
	switch {
	case e.Seq != h.seq+1:
		return fmt.Sprintf("G1: seq %d after %d", e.Seq, h.seq)
	case int64(e.Clock) < h.clock:
		return "G2: the clock ran back"
	case h.phase == "stopped" && !harmless(e.Body):
		return "S3: " + e.Body.Type() + " after the end"
	case h.phase == "error" && sends(e.Body):
		return "S5: " + e.Body.Type() + " after an error"
	}
	h.seq, h.clock = e.Seq, int64(e.Clock)
	switch b := e.Body.(type) {
	case room.Opened:
		h.limits, h.phase, h.opened = b.Spec.Limits, "live", true
	case room.Claimed:
		for _, x := range h.seats {
			x.ready, x.here = false, false
		}
	case room.PresenceChanged:
		if b.Presence == room.Away && h.open != nil && h.open.Participant == b.Participant && !h.drafted && h.seats[b.Participant].owner == "" {
			return "P2: left with a turn open"
		}
		h.seats[b.Participant].here = b.Presence != room.Away
	case room.SeatReady:
		h.seats[b.Participant].ready = true
	case room.SeatFailed:
		h.seats[b.Participant].ready = false
	case room.Joined:
		h.seats[b.Participant.ID] = &seatHistory{Participant: b.Participant, standing: room.Active}
	case room.SeatChanged:
		h.seats[b.Participant].standing, h.seats[b.Participant].ready = b.Standing, false
	case room.SeatTaken:
		if h.open != nil && h.open.Participant == b.Participant {
			return "S9: taken over with a turn open"
		}
		h.seats[b.Participant].owner = b.By
	case room.SeatReleased:
		h.seats[b.Participant].owner, h.seats[b.Participant].ready = "", false
	case room.ModeChanged:
		if e.Actor != room.ActorHost && e.Actor != "me" {
			return "S6: mode changed by " + e.Actor
		}
		h.seats[b.Participant].set = b.Mode
	case room.LimitsChanged:
		if e.Actor != room.ActorHost && e.Actor != "me" {
			return "L7: limits changed by " + e.Actor
		}
		h.limits = b.Limits
	case room.RoundDeclined:
		if h.declines++; h.declines > h.limits.MaxDeclines {
			return "L6: too many declines in a row"
		}
	case room.TurnGranted:
		return h.granted(e, b)
	case room.PermissionAsked:
		return h.ask(b)
	case room.PermissionAnswered:
		return h.answer(e, b)
	case room.TurnDrafted:
		h.drafted, h.draft = true, b.Draft
		return h.unanswered()
	case room.TurnEdited:
		h.draft = b.Draft
		clear(h.approved)
	case room.TurnApproved:
		if b.Draft != h.draft {
			return "S6: approved another text than the draft"
		}
		h.approved[b.Draft] = true
	case room.MessagePosted:
		return h.posted(b)
	case room.TurnPassed:
		h.failures = 0
		return h.end(b.Turn)
	case room.TurnRejected:
		return h.end(b.Turn)
	case room.TurnFailed:
		h.failures++
		h.lost(b.Code == room.FailTimeout || b.Code == room.FailExited)
		return h.end(b.Turn)
	case room.TurnInterrupted:
		h.lost(!h.drafted)
		return h.end(b.Turn)
	default:
		return h.phases(e.Body)
	}
	return ""
}

func (h *history) phases(b room.Body) string {
	switch b := b.(type) {
	case room.Paused:
		if h.open != nil && !h.drafted {
			return "S4: paused with a request in flight"
		}
		h.phase = "paused"
	case room.Resumed:
		h.phase, h.failures, h.declines = "live", 0, 0
	case room.Stopped:
		h.unset()
		if h.open != nil && !h.drafted {
			return "S5: stopped with a request in flight"
		}
		h.phase = "halted"
		if b.Cause == room.CausePerson {
			h.phase = "stopped"
		}
	case room.Completed:
		h.unset()
		h.phase = "stopped"
		if b.Cause == room.CauseSettled {
			h.phase = "settled"
		}
	case room.Errored:
		h.unset()
		if h.open != nil {
			return "S5: ended in an error with a turn open"
		}
		h.phase = "error"
	}
	return ""
}

// unset ends the modes that persons have set.
func (h *history) unset() {
	for _, x := range h.seats {
		x.set = ""
	}
}

// harmless reports whether an event may follow the end, because it sends nothing.
func harmless(b room.Body) bool {
	switch b.(type) {
	case room.ReplyLate, room.Violation, room.SeatChanged, room.Redacted, room.Claimed, room.LimitsChanged, room.SummaryMade:
		return true
	}
	return false
}

// sends reports whether an event says that an agent was asked or that its answer
// went to the room.
func sends(b room.Body) bool {
	switch b := b.(type) {
	case room.TurnGranted, room.TurnApproved, room.TurnDrafted:
		return true
	case room.MessagePosted:
		return b.Message.By == "" && b.Message.Source == "agent"
	}
	return false
}

func (h *history) granted(e room.Event, b room.TurnGranted) string {
	x := h.seats[b.Participant]
	l := h.limits
	switch {
	case h.open != nil:
		return "S1: two open turns"
	case h.phase != "live":
		return "S4: granted while " + h.phase
	case x == nil || x.standing != room.Active || x.Kind == "human":
		return "P1: granted to " + b.Participant
	case x.Starts && !x.ready && x.owner == "":
		return "P1: granted to an agent that is not ready: " + b.Participant
	case x.Session && !x.here && x.owner == "":
		return "P1: granted to a session that is away: " + b.Participant
	case b.Turn != h.turns+1:
		return "R5: turn numbers are reused"
	case h.turns >= l.MaxTurns:
		return "L1: too many turns"
	case e.Clock >= l.MaxDuration:
		return "L2: granted after the time is up"
	case h.failures >= l.MaxFailures:
		return "L3: granted after too many failures"
	case b.Record != nil && x.last > 0 && b.Turn-x.last <= x.Cooldown:
		return "L5: granted while cooling"
	}
	h.turns, h.declines, x.last = b.Turn, 0, b.Turn
	h.open, h.drafted, h.draft = &b, false, ""
	return ""
}

// lost records that the agent that has the turn may have ended.
func (h *history) lost(yes bool) {
	if yes && h.open != nil {
		h.seats[h.open.Participant].ready = false
	}
}

func (h *history) posted(b room.MessagePosted) string {
	x := h.seats[b.Message.From]
	if x == nil || x.Kind == "human" || b.Message.By != "" {
		h.declines = 0
		if h.phase == "settled" {
			h.phase = "live"
		}
	}
	if b.Turn == 0 {
		return ""
	}
	h.failures = 0
	if cmp.Or(x.set, x.Mode) == room.Manual && b.Message.By == "" {
		if !h.approved[h.draft] {
			return "S6: posted without an approval of that text"
		}
		delete(h.approved, h.draft)
	}
	return h.end(b.Turn)
}

// ask checks a permission request: of the agent that has the turn, under a new id.
func (h *history) ask(b room.PermissionAsked) string {
	switch _, known := h.asked[b.ID]; {
	case h.open == nil || h.open.Turn != b.Turn || h.open.Participant != b.Participant || h.drafted:
		return "A1: asked outside its turn"
	case known:
		return "A1: asked twice"
	case h.seats[b.Participant].owner != "" || h.seats[b.Participant].Kind == "remote":
		return "A1: asked by a seat without an agent of this device"
	}
	h.asked[b.ID] = true
	return ""
}

// answer checks the answer to a permission request: one for each, and a person of
// the owner or a rule if it allows.
func (h *history) answer(e room.Event, b room.PermissionAnswered) string {
	person := (b.By == room.ActorHost || b.By == "me") && e.Actor == b.By
	ruled := b.By == "rule" && e.Actor == room.ActorRoom && !b.Always
	switch {
	case !h.asked[b.ID]:
		return "A2: answered without a request"
	case b.Allowed && !person && !ruled:
		return "A3: allowed by " + b.By + " as " + e.Actor
	case b.Always && !b.Allowed:
		return "A3: always refused"
	case !person && e.Actor != room.ActorRoom:
		return "A3: answered by the actor " + e.Actor
	}
	h.asked[b.ID] = false
	return ""
}

// unanswered returns an invariant that a request without an answer breaks when the
// agent does not work on the turn any more.
func (h *history) unanswered() string {
	for id, waits := range h.asked {
		if waits {
			return "A2: " + id + " waits after the turn"
		}
	}
	return ""
}

func (h *history) end(turn int) string {
	if broken := h.unanswered(); broken != "" {
		return broken
	}
	if h.ended[turn] {
		return "R1: two terminal events of a turn"
	}
	if h.open == nil || h.open.Turn != turn {
		return "R2: a turn ended that was not open"
	}
	h.ended[turn] = true
	h.open = nil
	return ""
}
