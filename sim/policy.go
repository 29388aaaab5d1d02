package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
)

// Styles of policies.
const (
	styleTurns = iota // the agents in turn
	styleAny          // any eligible agent
	styleFaulty
	styleLarge // with a state that the log does not hold
	styles
)

// propose is the policy of a room. It is a pure function of its input, so that a replay
// gives the same decisions.
func propose(style int, in *policy.Input, faults Faults) (policy.Decision, error) {
	roll := number(in.Seed)
	d := policy.Decision{Action: policy.ActionDecline, Reason: "no agent is eligible"}
	var eligible []string
	for _, a := range in.Agents {
		if a.Eligible {
			eligible = append(eligible, a.ID)
		}
	}
	pick := int(roll>>8) % max(1, len(eligible))
	if style == styleTurns {
		pick = in.Turn % max(1, len(eligible))
	}
	odd := int(roll % 100)
	switch {
	case style == styleFaulty && faults&Agents != 0 && odd < 12:
		return oddDecision(odd, in)
	case odd < 20 && len(in.Events) > 0:
		d.Reason, d.RetryMS = "nothing to add", int64(roll>>16%3)*40_000
	case odd == 99 && in.Turn > 6:
		return policy.Finish("the work is done"), nil
	case len(eligible) > 0:
		d = policy.Speak(eligible[pick], "it is "+eligible[pick]+"'s turn")
	}
	if odd%3 == 0 {
		d.State = policy.JSON(`{"turn":` + strconv.Itoa(in.Turn) + `}`)
		if style == styleLarge {
			d.State = policy.JSON(`{"turn":` + strconv.Itoa(in.Turn) + `,"padding":"` + strings.Repeat("x", 600) + `"}`)
		}
	}
	return d, nil
}

// oddDecision is a decision that a room must not follow.
func oddDecision(odd int, in *policy.Input) (policy.Decision, error) {
	nan := 2.0
	switch odd {
	case 0, 1:
		return policy.Decision{}, errPolicy
	case 2, 3:
		return policy.Speak("nobody-of-that-name", "because"), nil
	case 4:
		return policy.Fail("cannot decide"), nil
	case 5:
		d := policy.Speak(in.Agents[0].ID, "sure")
		d.Confidence = &nan
		return d, nil
	case 6:
		for _, a := range in.Agents {
			if !a.Eligible {
				return policy.Speak(a.ID, "although it is not eligible"), nil
			}
		}
	case 7:
		return policy.Decision{Action: "dance"}, nil
	}
	return policy.Decision{}, nil
}

// number returns the number that a seed in hex begins with.
func number(seed string) uint64 {
	n, _ := strconv.ParseUint(seed[:min(16, len(seed))], 16, 64)
	return n
}

func inputDigest(in *policy.Input) string {
	sum := sha256.Sum256(in.AppendJSON(nil))
	return hex.EncodeToString(sum[:])
}
