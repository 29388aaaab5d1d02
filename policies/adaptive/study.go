package adaptive

import (
	"math/bits"

	"github.com/folkmoot/moot/policies/policy"
)

// A Study is a decision with the features of its candidates, for training.
type Study struct {
	State policy.JSON // state for the next decision
	room  *room
}

// Study adds the messages of in, like Decide, and computes the features of the
// candidates. It does not update weights; features do not depend on them. The
// result is valid until the next call.
func (p *Policy) Study(in *policy.Input) Study {
	p.observe(in, false)
	p.room.describe()
	return Study{State: p.room.save(p.model), room: p.room}
}

// Rows returns the number of rows. In a large room one row stands for all
// candidates that never spoke.
func (s Study) Rows() int { return len(s.room.rows) }

// Row returns the features of row i that are not 0, and the number of candidates
// of the row.
func (s Study) Row(i int) (features []uint8, values []float64, size float64) {
	w := &s.room.rows[i]
	for set := w.has; set != 0; set &= set - 1 {
		f := bits.TrailingZeros64(set)
		features, values = append(features, uint8(f)), append(values, w.x[f])
	}
	return features, values, w.size
}

// Of returns the index of the row that stands for id, or -1.
func (s Study) Of(id string) int { return s.room.rowFor(hash(id)) }

// Keys returns the keys under which a Team counts that id was the next speaker.
func (s Study) Keys(id string) (keys [contexts]uint32) {
	c := s.room.context()
	who := hash(id)
	for i := range keys {
		next := who
		if i == afterKind {
			next = uint32(s.room.kindOf(who))
		}
		keys[i] = keyOf(c[i], next)
	}
	return keys
}

// Slots returns the slots of the words for row i.
func (s Study) Slots(i int) (slotsOf []int) {
	for _, word := range s.room.last.bag {
		a, b := slots(word, &s.room.rows[i])
		slotsOf = append(slotsOf, a, b)
	}
	return slotsOf
}

// Shipped returns the built-in prior. It must not be changed.
func Shipped() *Prior { return &prior }

// AgentRoom reports whether a room has an agent, and at least half of its
// participants are agents or tools.
func AgentRoom(agents []policy.Agent) bool {
	r := room{scratch: scratch{agents: agents}}
	return r.agentRoom()
}

// Triple is the feature that training starts from: ln of the trigram probability.
const Triple = fTriple

// FeatureNames are the names of the features in the source code.
var FeatureNames = [RoomFeatures]string{
	"fRecency", "fRecency2", "fRecencyFast", "fTurns", "fTurnsFast", "fPair", "fTriple", "fKind",
	"fBack", "fSecond", "fThird", "fNever", "fNewcomer", "fSilence", "fNear", "fRound", "fTopTriple", "fTopPair", "fBackStreak",
	"fAddressed", "fNamed", "fNamedLast", "fNamedFirst", "fNamedOnly", "fNamedLate", "fHandedTo", "fNamedColon",
	"fAddressedByAgent", "fNamedLastByAgent",
	"fPending", "fNamedBack", "fAsked", "fNamedBefore",
	"fBackQuestion", "fBackAsked", "fBackShort", "fTurnsShort", "fTurnsQuestion", "fCodeForTool", "fTool", "fPerson",
}
