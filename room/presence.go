package room

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Presence says whether the session that has a seat can be reached. Only the seats
// of running sessions have one; see [Participant].
type Presence string

// Presences.
const (
	Live Presence = "live" // it awaits its turn now
	Idle Presence = "idle" // no await is in progress, and its lease runs
	Away Presence = "away" // it has no lease
)

// reasonAway is the reason of a turn that was interrupted because its session left,
// and the word of the policy ABI for a seat whose session is away.
const reasonAway = "away"

// away reports whether the seat waits for a running session. A person who has taken
// the seat over is there.
func (x *Seat) away() bool {
	return x.Session && x.TakenBy == "" && x.Presence != Live && x.Presence != Idle
}

// present reports whether a running session holds a lease on a seat of a room that
// could give it the floor.
func (s *State) present(x *Seat) bool {
	return x.Session && (s.Phase == PhaseLive || s.Phase == PhasePaused) && (x.Presence == Live || x.Presence == Idle)
}

// AnyPresent reports whether a running session holds a lease on a seat.
func (s *State) AnyPresent() bool {
	for _, x := range s.Seats {
		if s.present(x) {
			return true
		}
	}
	return false
}

// AnyoneHere reports whether an agent other than that of the seat with id could get
// the floor: it is neither suspended nor away.
func (s *State) AnyoneHere(id string) bool {
	return slices.ContainsFunc(s.Seats, func(y *Seat) bool { return y.ID != id && y.Driven() && y.Standing == Active && !y.away() })
}

// decidePresent records that the presence of a seat has changed.
func (s *State) decidePresent(do Present) ([]Body, error) {
	x := s.seat(do.Participant)
	switch {
	case x == nil || !x.Session || x.Standing == Removed:
		return nil, noSessionSeat(do.Participant)
	case s.Phase != PhaseLive && s.Phase != PhasePaused:
		return nil, endedError(s)
	case do.Host != "":
		return s.knownAs(x, do.Host)
	case do.Presence == x.Presence && (do.Presence == Away || do.Device == x.Device):
		return nil, nil
	}
	switch do.Presence {
	case Live, Idle:
		return []Body{PresenceChanged{Participant: x.ID, Presence: do.Presence, Device: do.Device, Owner: cut(validUTF8(do.Owner), maxID)}}, nil
	case Away:
		return s.leave(x), nil
	}
	return nil, invalidError("ROOM-COMMAND", "no presence "+quote(string(do.Presence)), "use live, idle or away")
}

// knownAs records by which device of the host the owner of a session knows the room.
func (s *State) knownAs(x *Seat, host string) ([]Body, error) {
	switch s.Spec.Device {
	case host:
		return nil, nil
	case "":
		return []Body{PresenceChanged{Participant: x.ID, Presence: x.Presence, Device: x.Device, Owner: x.Participant.Owner, Host: host}}, nil
	}
	return nil, invalidError("NODE-DEVICE", "other owners know the room by the device "+s.Spec.Device+", not "+host, "invite by the node that has that device")
}

// leave ends the lease of x, which interrupts the turn of its session.
func (s *State) leave(x *Seat) []Body {
	changed := PresenceChanged{Participant: x.ID, Presence: Away}
	if t := s.Turn; s.inFlight() && t.Participant == x.ID && s.agentHas(t) {
		changed.Request = t.Request
		return append(s.abandon(reasonAway), changed)
	}
	return []Body{changed}
}

// decideAnswered takes the answer of a running session to a request. A request is
// answered once, and by its own epoch only.
func (s *State) decideAnswered(do Answered, now Now) ([]Body, error) {
	x, t := s.seat(do.Participant), s.Turn
	switch {
	case x == nil || !x.Session:
		return nil, noSessionSeat(do.Participant)
	case do.Request != "" && do.Request == x.Answered:
		return nil, invalidError("SEAT-ANSWERED", "request "+do.Request+" of "+x.ID+" was answered at "+x.AnsweredAt.Format(time.RFC3339), "await the next turn")
	case t == nil || t.Participant != x.ID || s.openTurn(t.Number, do.Request) == nil:
		return nil, invalidError("SEAT-REQUEST", "no request "+quote(cut(validUTF8(do.Request), maxID))+" of "+x.ID+" is open", "await the next turn")
	case t.Epoch != do.Epoch:
		return nil, invalidError("SEAT-REQUEST", "request "+do.Request+" is of epoch "+itoa(int64(t.Epoch))+", not "+itoa(int64(do.Epoch)), "await the turn again")
	case utf8.RuneCountInString(do.Text) > s.Limits.MaxOutput:
		return nil, invalidError("SEAT-SIZE", "the answer has "+itoa(utf8.RuneCountInString(do.Text))+" characters, over the limit of "+itoa(s.Limits.MaxOutput), "shorten it and answer again; the turn is still open")
	}
	return s.decideReplied(Replied{Turn: t.Number, Request: t.Request, Reply: do.Reply, Latency: now.Clock - t.Started}, now)
}

func noSessionSeat(id string) error {
	return invalidError("SEAT-KIND", quote(cut(validUTF8(id), maxID))+" is no seat of this room for a running session", "name a participant whose endpoint is {kind: session}")
}

// applyPresence has the policy asked at once when a session has come or left. The
// declines before it came do not settle the room.
func (s *State) applyPresence(e Event, b PresenceChanged) {
	x := s.seat(b.Participant)
	if x == nil {
		return
	}
	if b.Host != "" {
		s.Spec.Device = b.Host
	}
	was := x.away()
	x.Presence = b.Presence
	if b.Presence != Away && b.Device != x.Device { // its session is on another device now
		x.Device, x.Participant.Owner = b.Device, b.Owner
	}
	if x.away() != was {
		s.LastNews = e.Seq
	}
	if was && !x.away() {
		s.Tally.Declines = 0
	}
}

// noteAnswered keeps which request the session of the open turn has answered. m is
// its message, or nil if it has passed.
func (s *State) noteAnswered(e Event, m *Message) {
	t := s.Turn
	if x := s.seat(t.Participant); x != nil && x.Session && t.Draft == nil && (m == nil || m.By == "") {
		x.Answered, x.AnsweredAt = t.Request, e.At
	}
}

// gone reports whether the end of the time of a turn is no failure: the session that
// has it has not asked for it again.
func (x *Seat) gone(code string) bool {
	return code == FailTimeout && x.Session && x.Presence != Live
}

// Acts of running sessions and of the host that knows their leases.
type (
	// Present says that the presence of the seat is now another. Device and Owner are
	// those of the session if it is on the device of another owner. With Host it says only
	// that a session of another owner may hold the seat, who knows that device of the host.
	Present struct {
		Participant   string
		Presence      Presence
		Device, Owner string
		Host          string
	}
	// Answered is the answer of a running session to the request of its turn.
	Answered struct {
		Participant string
		Request     string
		Epoch       uint64
		endpoint.Reply
	}
)

func (Present) act()  {}
func (Answered) act() {}
