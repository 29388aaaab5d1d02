// Package explore decides when a room takes another agent than the one that its policy
// has chosen, and with which probability: epsilon-greedy exploration, as with a
// contextual bandit (Langford and Zhang 2007). The recorded probabilities, which are
// called propensities, let a replay estimate what another policy would have achieved.
//
// Everything is a function of its arguments. The random numbers are a hash of the seed
// of the policy's input, so the same room takes the same agents again.
package explore

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
)

// Reasons for which a choice of the policy is kept.
const (
	KeptHandOff = "hand-off" // an agent has named who goes on
	KeptRequest = "request"  // a person has addressed a participant since the last turn
	KeptOnly    = "only one" // no other agent is eligible
)

// A Choice says how an agent got a turn in a room that explores.
type Choice struct {
	Choice     string  `json:"choice"`             // agent that the policy chose
	Explored   bool    `json:"explored,omitempty"` // the turn was drawn by the scores; it may have been drawn for Choice
	Propensity float64 `json:"propensity"`         // probability with which the agent that has the turn was to get it, given Choice and the scores
	Kept       string  `json:"kept,omitempty"`     // why no other agent could get it; "" when any eligible agent could
}

// Replaced reports whether the agent that got the turn is not the one that the policy
// chose. The nil Choice replaces nothing.
func (c *Choice) Replaced(taken string) bool { return c != nil && c.Choice != taken }

// Text says that the policy chose another agent.
func (c *Choice) Text() string { return "explored; the policy chose " + c.Choice }

// Draw takes choice with the probability 1-rate, and otherwise draws one of agents by
// [Distribution]. choice is one of agents. seed is that of the policy's input, and
// through the newest event that the input knew of: a decision that is asked for again
// is drawn again.
func Draw(rate float64, seed string, through int64, choice string, agents []string, scores []policy.Score) (taken string, c Choice) {
	c = Choice{Choice: choice, Propensity: 1}
	if len(agents) < 2 {
		c.Kept = KeptOnly
		return choice, c
	}
	first, second := uniforms(seed, through)
	taken = choice
	if c.Explored = first < rate; c.Explored {
		taken = pick(second, agents, Distribution(agents, scores))
	}
	c.Propensity = Propensity(rate, taken, choice, agents, scores)
	return taken, c
}

// Propensity is the probability with which [Draw] takes agent: (1-rate)*[agent is choice]
// + rate*q(agent). It is 0 if agent is none of agents. The conversion keeps a compiler
// from fusing operations, so that all machines compute the same bits.
func Propensity(rate float64, agent, choice string, agents []string, scores []policy.Score) float64 {
	i := slices.Index(agents, agent)
	if i < 0 {
		return 0
	}
	p := float64(rate * Distribution(agents, scores)[i])
	if agent == choice {
		p += 1 - rate
	}
	return p
}

// Distribution returns with which probability each agent is drawn: one half evenly, so
// that each of them can be, and one half in proportion to the scores. An agent without a
// score has the lowest one. When a score is negative, all are raised until the lowest is
// 0. Without scores that differ, all is even. scores are finite; of two for an agent the
// last one counts.
func Distribution(agents []string, scores []policy.Score) []float64 {
	w := weights(agents, scores)
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	for i, x := range w {
		w[i] = 0.5 / float64(len(w))
		if sum > 0 {
			w[i] += float64(0.5 * float64(x/sum))
		} else {
			w[i] *= 2
		}
	}
	return w
}

// weights returns the scores of agents, none of them negative or above 2.
func weights(agents []string, scores []policy.Score) []float64 {
	w := make([]float64, len(agents))
	largest, lowest := 0.0, 0.0
	stated := make([]bool, len(agents))
	for _, s := range scores {
		for i, id := range agents {
			if id == s.Agent {
				w[i], stated[i] = s.Score, true
			}
		}
	}
	for i, x := range w {
		if stated[i] {
			largest = max(largest, math.Abs(x))
			lowest = min(lowest, x)
		}
	}
	for i, x := range w {
		if !stated[i] {
			x = lowest
		}
		if w[i] = 0; largest > 0 {
			w[i] = float64(x/largest) - float64(lowest/largest)
		}
	}
	return w
}

// pick returns the agent in whose part of the unit interval u is.
func pick(u float64, agents []string, q []float64) string {
	sum := 0.0
	for i, x := range q {
		if sum += x; u < sum {
			return agents[i]
		}
	}
	return agents[len(agents)-1]
}

// uniforms returns two independent numbers from 0 up to 1.
func uniforms(seed string, through int64) (float64, float64) {
	var b [128]byte
	of := append(append(append(b[:0], "moot exploration\x00"...), seed...), 0)
	sum := sha256.Sum256(strconv.AppendInt(of, through, 10))
	return uniform(sum[:8]), uniform(sum[8:16])
}

// uniform turns 53 of 64 bits into a number from 0 up to 1.
func uniform(b []byte) float64 { return float64(binary.BigEndian.Uint64(b)>>11) / (1 << 53) }
