package adaptive

import (
	"math/bits"

	"github.com/folkmoot/moot/policies/policy"
)

// A Study is one decision as a trainer sees it.
type Study struct {
	State policy.JSON // for the next
	room  *room
}

// Study takes up what in has, as Decide does, and describes the candidates.
// It learns no weights, on which features do not depend. The result is valid
// until the next call.
func (p *Policy) Study(in *policy.Input) Study {
	p.hear(in, false)
	p.room.describe()
	return Study{State: p.room.save(p.model), room: p.room}
}

// Rows returns how many rows there are. In a large room one stands for all who
// never spoke.
func (s Study) Rows() int { return len(s.room.rows) }

// Row returns the features of row i that are not 0, and for how many
// candidates it stands.
func (s Study) Row(i int) (features []uint8, values []float64, size float64) {
	w := &s.room.rows[i]
	for set := w.has; set != 0; set &= set - 1 {
		f := bits.TrailingZeros64(set)
		features, values = append(features, uint8(f)), append(values, w.x[f])
	}
	return features, values, w.size
}

// Of returns the row that stands for id, or -1.
func (s Study) Of(id string) int { return s.room.rowFor(hash(id)) }

// Keys returns the keys under which a Team counts that id spoke then.
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

// Shipped returns the prior that policies have unless another is given. It is
// not to be changed.
func Shipped() *Prior { return &prior }

// AgentRoom reports whether the roster is one of an agent room: it has an
// agent, and agents and tools are at least half of it.
func AgentRoom(agents []policy.Agent) bool {
	r := room{scratch: scratch{agents: agents}}
	return r.agentRoom()
}

// Triple is the feature that trained vectors start from: ln of the probability
// after the last two speakers.
const Triple = fTriple

// FeatureNames are the names of the RoomFeatures in the sources.
var FeatureNames = [RoomFeatures]string{
	"fRecency", "fRecency2", "fRecencyFast", "fTurns", "fTurnsFast", "fPair", "fTriple", "fKind",
	"fBack", "fSecond", "fThird", "fNever", "fNewcomer", "fSilence", "fNear", "fRound", "fTopTriple", "fTopPair", "fBackStreak",
	"fAddressed", "fNamed", "fNamedLast", "fNamedFirst", "fNamedOnly", "fNamedLate", "fHandedTo", "fNamedColon",
	"fAddressedByAgent", "fNamedLastByAgent",
	"fPending", "fNamedBack", "fAsked", "fNamedBefore",
	"fBackQuestion", "fBackAsked", "fBackShort", "fTurnsShort", "fTurnsQuestion", "fCodeForTool", "fTool", "fPerson",
}
