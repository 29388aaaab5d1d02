package history

import (
	"maps"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/explore"
)

// FieldCompleted is the field of a room of moot that says how it has ended: 1 if it was
// completed, 0 if it was completed degraded, was stopped or ended with an error. A room
// that is live or paused has no such field.
const FieldCompleted = "completed"

// Fields returns what is known of the transcript as a whole, after a walk. The caller
// does not change it.
func (h *History) Fields() map[string]float64 { return h.fields }

// setCompleted sets FieldCompleted of a room of moot in the state s.
func (h *History) setCompleted(s *room.State) {
	if h.conversation || s.Phase == room.PhaseLive || s.Phase == room.PhasePaused {
		return
	}
	completed := 0.0
	if s.Phase == room.PhaseCompleted && !s.Ending.Degraded {
		completed = 1
	}
	if _, stated := h.fields[FieldCompleted]; !stated {
		h.fields = maps.Clone(h.fields)
		if h.fields == nil {
			h.fields = map[string]float64{}
		}
		h.fields[FieldCompleted] = completed
	}
}

// Exploration returns how the recorded turn at p was drawn, and who got it. It is nil in a
// room that does not explore, for a decision without a turn, and in a simulation.
func (p *Point) Exploration() (x *explore.Choice, taken string) {
	if p.Simulated || p.Event == nil {
		return nil, ""
	}
	b, _ := p.Event.Body.(room.TurnGranted)
	return b.Exploration, b.Participant
}

// Propensity is the probability with which the recorded turn at p, which was drawn as x
// says, was to be given to the seat. It is 0 for a seat that was not eligible.
func (p *Point) Propensity(x *explore.Choice, seat int) float64 {
	b, _ := p.Event.Body.(room.TurnGranted)
	agents := make([]string, len(p.Candidates))
	for i, c := range p.Candidates {
		agents[i] = p.History.Seats[c].ID
	}
	return explore.Propensity(min(p.State.Spec.Explore, 1), p.History.Seats[seat].ID, x.Choice, agents, b.Scores)
}
