package reference

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/explore"
)

// The rules of rooms that explore, as the model states them.

// A exploration is what the model knows of the choices of the policy.
type exploration struct {
	addressed bool   // a person has addressed a participant since the latest turn was granted
	replaced  string // agent that the latest decision chose, if another one got the turn
}

// asked notes that a person has addressed a participant, in a room that explores.
func (m *Model) asked(from, to, text string) {
	word, _, _ := strings.Cut(strings.ReplaceAll(text, ",", " "), " ")
	x := m.seat(word)
	m.addressed = m.addressed || m.Explore > 0 && (to != "" || x != nil && x.ID != from)
}

// explored returns the agent that gets the turn in place of x, which the policy chose,
// and how it was drawn.
func (m *Model) explored(x *Seat, do room.Decided) (*Seat, *explore.Choice) {
	c := &explore.Choice{Choice: x.ID, Propensity: 1}
	var agents []*Seat
	for _, y := range m.Seats {
		if m.ineligible(y) == "" {
			agents = append(agents, y)
		}
	}
	switch {
	case m.Explore == 0:
		return x, nil
	case m.follow != nil:
		c.Kept = "hand-off"
	case m.addressed:
		c.Kept = "request"
	case len(agents) == 1:
		c.Kept = "only one"
	}
	if c.Kept != "" {
		return x, c
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "moot exploration\x00%s\x00%d", do.Record.Seed, do.Record.Through))
	number := func(b []byte) float64 { return float64(binary.BigEndian.Uint64(b)>>11) / (1 << 53) }
	rate, shares, taken := min(m.Explore, 1), drawShares(agents, do.Decision.Scores), x
	if c.Explored = number(sum[:8]) < rate; c.Explored {
		place := number(sum[8:16])
		for i, y := range agents {
			taken = y
			if place -= shares[i]; place < 0 {
				break
			}
		}
	}
	c.Propensity = 0
	for i, y := range agents {
		if y == taken {
			c.Propensity = rate * shares[i]
		}
	}
	if taken == x {
		c.Propensity += 1 - rate
	}
	return taken, c
}

// drawShares returns with which probability each agent is drawn: one half evenly, the
// other one by the scores, of which none is below 0. All are even without such scores.
func drawShares(agents []*Seat, scores []policy.Score) []float64 {
	of := map[string]float64{}
	for _, s := range scores {
		of[s.Agent] = s.Score
	}
	sum := 0.0
	for _, x := range agents {
		sum += of[x.ID]
	}
	shares := make([]float64, len(agents))
	for i, x := range agents {
		even := 1 / float64(len(agents))
		if shares[i] = even; sum > 0 {
			shares[i] = even/2 + of[x.ID]/sum/2
		}
	}
	return shares
}

// rounded returns c without the digits of the propensity that depend on the order of the
// operations.
func rounded(c *explore.Choice) *explore.Choice {
	if c == nil {
		return nil
	}
	r := *c
	r.Propensity = math.Round(c.Propensity*1e9) / 1e9
	return &r
}
