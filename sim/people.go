package sim

import (
	"cmp"
	"strconv"
	"time"

	"github.com/folkmoot/moot/room"
)

// A client is a person or a program that gives commands to rooms over a connection.
// It repeats a command under the same id if it got no answer.
type client struct {
	id          string // actor of its commands
	controls    bool
	outstanding []*order
}

// An order is a command of a client that has no answer yet.
type order struct {
	f      *facts
	cmd    room.Command
	tries  int
	lost   bool // its connection has ended without an answer
	stored int  // how often its events were stored
	pauses bool // it closes the gate
	procs  int  // number of the process to which it was given first
}

// maxTries is how often a client gives a command at most.
const maxTries = 4

// personActs lets a person act, or two at once.
func (s *simulation) personActs() {
	h := s.someRoom()
	if h == nil {
		return
	}
	f := h.facts
	c := one(s.src, s.clients...)
	if h.state.Phase != room.PhaseLive { // a person with control sees to it
		c = s.clients[s.src.below(3)]
	}
	if s.src.percent(30) {
		c.repeat(s)
		return
	}
	s.give(c, f, s.act(c, h))
	if s.fault(Rush, 30) {
		other, pauses := one(s.src, s.clients...), s.src.percent(50)
		s.after(s.between(3*time.Millisecond), func() {
			h := s.room(f.spec.Room)
			switch {
			case h == nil || h.state.Phase == room.PhaseUnopened:
			case pauses:
				s.give(other, f, room.Pause{})
			default:
				s.give(other, f, s.act(other, h))
			}
		})
	}
}

// act draws an act of a person.
func (s *simulation) act(c *client, h *hosted) room.Act {
	seat := h.anySeat()
	weights := []int{6, 5, 8, 1, 1, 5, 4, 3, 3, 3, 2, 3, 3, 3, 1, 2, 2, 2, 2}
	if h.state.Turn != nil && h.state.Turn.Draft != nil {
		weights[5], weights[6], weights[7] = 40, 8, 6
	}
	if h.state.Turn != nil && len(h.state.Turn.Requests) > 0 {
		weights[8] = 40
	}
	if h.state.Phase != room.PhaseLive {
		weights[2], weights[14] = 60, 12
	}
	taken := h.takenBy(c.id)
	if taken != "" && h.state.Turn != nil && h.state.Turn.Participant == taken {
		weights[11] = 30
	}
	if s.plain() { // the model does not know redactions, other policies and guests
		weights[16], weights[18] = 0, 0
	}
	switch s.src.weighted(weights) {
	case 0:
		return room.Say{Text: s.words(), To: one(s.src, "", "", seat), MessageID: s.messageID()}
	case 1:
		return room.Pause{Reason: "wait"}
	case 2:
		return room.Resume{}
	case 3:
		return one[room.Act](s.src, room.Stop{}, room.Pause{})
	case 4:
		return one[room.Act](s.src, room.Complete{}, room.Resume{}, room.Resume{})
	case 5:
		return room.Approve{Draft: h.draft()}
	case 6:
		return room.Edit{Draft: h.draft(), Text: s.words(), Approve: s.src.percent(50)}
	case 7:
		return room.Reject{Draft: h.draft(), Reason: "no"}
	case 8:
		return room.Permit{ID: h.permission(), Allowed: s.src.percent(60), Always: s.src.percent(20), Reason: "as asked"}
	case 9:
		return room.TakeOver{Participant: seat}
	case 10:
		return room.Release{Participant: seat}
	case 11:
		return room.Say{Text: s.words(), As: cmp.Or(taken, seat)}
	case 12:
		return room.Next{Participant: seat}
	case 13:
		return room.SetStanding{Participant: seat, Standing: one(s.src, room.Active, room.Active, room.Active, room.Muted, room.Suspended)}
	case 14:
		l := h.state.Limits
		l.MaxTurns = 1 + s.src.below(2*l.MaxTurns+4)
		l.MaxDuration = one(s.src, l.MaxDuration, l.MaxDuration+10*time.Minute)
		return room.SetLimits{Limits: l}
	case 15:
		return room.SetMode{Participant: seat, Mode: one(s.src, room.Manual, room.SemiAuto, room.FullAuto, "")}
	case 16:
		return room.Redact{Target: int64(s.src.below(int(h.state.Seq) + 2))}
	case 17:
		if len(h.state.Calls) > 0 {
			return room.CancelCall{Call: one(s.src, h.state.Calls...).ID, Reason: "not needed"}
		}
		return room.Say{Text: s.words()}
	}
	if s.src.percent(50) {
		return room.SetPolicy{Policy: h.state.Policy.Ref}
	}
	n := strconv.Itoa(s.src.below(5))
	return room.Join{Participant: room.Participant{ID: "guest" + n, Kind: "human", Device: "device" + n}}
}

// messageID returns an id for a message, or none.
func (s *simulation) messageID() string {
	if id := one(s.src, "", "m_"+s.src.id()); !s.plain() {
		return id
	}
	return ""
}

// takenBy returns the seat that a person has taken over, or "".
func (h *hosted) takenBy(person string) string {
	for _, x := range h.state.Seats {
		if x.TakenBy == person {
			return x.ID
		}
	}
	return ""
}

// give gives a command for the first time.
func (s *simulation) give(c *client, f *facts, do room.Act) {
	o := &order{f: f, procs: s.procs, cmd: room.Command{ID: "c_" + s.src.id(), Actor: c.id, Via: "http", Do: do}}
	c.outstanding = append(c.outstanding, o)
	c.order(s, o)
}

// order gives a command to the process that hosts its room.
func (c *client) order(s *simulation, o *order) {
	h := s.room(o.f.spec.Room)
	if h == nil {
		o.lost = true
		return
	}
	o.tries++
	o.lost = false
	if o.tries > 1 {
		s.at(moment{kind: onRetry, room: h, order: o})
	}
	r := request{cmd: o.cmd, order: o}
	o.pauses = false
	if s.cfg.flaws.newID && o.tries > 1 {
		r.cmd.ID = "c_" + s.src.id()
	}
	tries := o.tries
	r.answer = func(events []room.Event, err error) { c.answered(s, o, tries, events, err) }
	switch o.cmd.Do.(type) {
	case room.Pause, room.Stop:
		if h.controls(c.id) {
			h.pauses++
			o.pauses = true
			if h.gate.close(); h.s.cfg.flaws.openGate {
				h.gate.closed, h.gate.cut = h.gate.closed-1, nil
			} else {
				r.held = true
			}
			s.at(moment{kind: onPausing, room: h})
		}
	}
	h.people = append(h.people, r)
}

// controls reports whether an actor may close the gate.
func (h *hosted) controls(actor string) bool {
	if actor == room.ActorHost {
		return true
	}
	x, ok := h.state.Seat(actor)
	return ok && x.Controls()
}

// answered ends an order, unless its answer is lost on the way.
func (c *client) answered(s *simulation, o *order, tries int, events []room.Event, err error) {
	if tries != o.tries {
		return // the client has given up on that connection
	}
	if err == errEnded || err == errFull || err == errFailed || s.fault(Retry, 10) {
		if s.proc != nil {
			s.at(moment{kind: onUnanswered, order: o, events: events})
		}
		o.lost = true
		return
	}
	if n := len(events); n > 0 {
		o.f.acknowledged(s, events[n-1].Seq)
	}
	s.at(moment{kind: onAnswered, order: o, events: events, err: err})
	c.forget(o)
}

func (c *client) forget(o *order) {
	for i, x := range c.outstanding {
		if x == o {
			c.outstanding = append(c.outstanding[:i:i], c.outstanding[i+1:]...)
			return
		}
	}
}

// repeat gives a command again whose answer was lost.
func (c *client) repeat(s *simulation) {
	for _, o := range c.outstanding {
		if o.lost {
			if o.tries >= maxTries {
				c.forget(o)
			} else {
				c.order(s, o)
			}
			return
		}
	}
}

// disconnect loses the answers that are on their way.
func (c *client) disconnect(*simulation) {
	for _, o := range c.outstanding {
		o.lost = true
	}
}

// reconnect lets the client repeat a command after the start of a process.
func (c *client) reconnect(s *simulation) {
	s.after(s.between(20*time.Second), func() {
		if s.proc != nil {
			c.repeat(s)
		}
	})
}
