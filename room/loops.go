package room

import (
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/loops"
)

// loopLimits returns the limits of the loop guards. The two agents of a one-to-one
// room alternate by design, and maxTurns bounds them.
func (s *State) loopLimits() loops.Limits {
	l := loops.Limits{Ring: s.Limits.MaxRing, PingPong: s.Limits.MaxPingPong, Internal: s.Limits.MaxInternal}
	if s.Spec.OneToOne {
		l.Ring = 0
	}
	return l
}

// watchLoops counts an event for the loop guards in g and reports whether it may trip
// one.
func (s *State) watchLoops(g *loops.Guard, b Body) bool {
	switch b := b.(type) {
	case MessagePosted:
		return s.watchMessage(g, b.Message)
	case PlanChanged:
		if b.Completes() {
			g.Reset()
		}
		return false
	case HandoffAsked:
		if b.Refused != "" {
			return false
		}
		g.Address(b.From, b.To, b.Turn)
		g.Exchange(b.From, b.To)
		return true
	case CallStarted:
		g.Address(b.Caller, b.Agent, s.turnNumber())
		return true
	case CallEnded:
		for i := range s.Calls {
			if c := &s.Calls[i]; c.ID == b.Call {
				g.Address(c.Agent, c.Caller, s.turnNumber())
			}
		}
		return true
	}
	return false
}

// watchMessage counts a message. One of a person, and one by which an agent shows
// people its progress, resets the guards. A message that another agent session sends as
// the host is not that of a person, and the room's own messages do not count.
func (s *State) watchMessage(g *loops.Guard, m Message) bool {
	x := s.seat(m.From)
	rule, _ := kinds.Of(m.Kind)
	switch {
	case m.From == ActorRoom || m.Kind == kinds.Call || m.Kind == kinds.CallResult || // its steps are those of the events of calls
		m.By == "" && m.Source == SourceAgent && (x == nil || !x.Driven()):
		return false
	case x == nil, !x.Driven(), m.By != "", rule.Progress && m.Visibility != Internal:
		g.Reset()
		return false
	}
	to := s.wakes(m)
	inside := m.Visibility == Internal && m.Kind != kinds.Ack && (to != "" || m.To == Broadcast)
	if inside {
		g.AddInternal()
	}
	if to != "" {
		g.Address(m.From, to, s.turnNumber())
	}
	if to != "" && (m.Kind == kinds.ClarificationRequest || m.Kind == kinds.ClarificationReply) {
		g.Exchange(m.From, to)
	}
	return inside || to != ""
}

// wakes returns the agent that m is for: its receiver, or of a message to everybody
// the agent that its text addresses last, or else the only one that it mentions. It
// returns "" if there is none.
func (s *State) wakes(m Message) string {
	if m.To != Broadcast {
		return s.agentID(m.To)
	}
	for i := len(m.Addressed) - 1; i >= 0; i-- {
		if id := s.agentID(m.Addressed[i]); id != "" {
			return id
		}
	}
	if len(m.Mentions) == 1 {
		return s.agentID(m.Mentions[0])
	}
	return ""
}

// agentID returns id if it is that of an agent's seat, else "".
func (s *State) agentID(id string) string {
	if x := s.seat(id); x != nil && x.Driven() {
		return id
	}
	return ""
}

// turnNumber returns the number of the open turn, or 0.
func (s *State) turnNumber() int {
	if s.Turn == nil {
		return 0
	}
	return s.Turn.Number
}

// withLoops returns bodies with the end of the room, if they trip a loop guard and do
// not end the room themselves.
func (s *State) withLoops(bodies []Body) []Body {
	if s.Phase != PhaseLive {
		return bodies
	}
	guard, tripped, open := s.Loops, false, s.Turn != nil
	for _, b := range bodies {
		tripped = s.watchLoops(&guard, b) || tripped
		switch b := b.(type) {
		case Stopped, Completed, Errored, Paused:
			return bodies
		case MessagePosted:
			open = open && b.Turn != s.Turn.Number
		case TurnPassed, TurnFailed, TurnRejected, TurnInterrupted:
			open = false
		}
	}
	if !tripped {
		return bodies
	}
	name, reason := guard.Tripped(s.loopLimits())
	if name == "" {
		return bodies
	}
	if open {
		bodies = append(bodies, s.abandon("loop "+name)...)
	}
	return append(bodies, Stopped{Cause: CauseLoop, Name: name, Reason: reason})
}
