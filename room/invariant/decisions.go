package invariant

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// recordOf returns the record of the decision that an event has, or nil.
func recordOf(b room.Body) *policy.Record {
	switch b := b.(type) {
	case room.TurnGranted:
		return b.Record
	case room.RoundDeclined:
		if b.Record.Decision > 0 { // an imported one has none
			return &b.Record
		}
	case room.Completed:
		return b.Record
	case room.Paused:
		return b.Record
	}
	return nil
}

// mayHaveTurn checks that a turn goes to an agent of the roster that is there.
func (c *Checker) mayHaveTurn(e step) string {
	b, ok := e.Body.(room.TurnGranted)
	if !ok {
		return ""
	}
	x := c.seat[b.Participant]
	switch {
	case x == nil:
		return b.Participant + " is not in the roster"
	case x.standing != room.Active || !x.driven():
		return fmt.Sprintf("%s is %s, and of the kind %s", x.ID, x.standing, x.Kind)
	case x.Starts && !x.ready && x.takenBy == "":
		return "the agent of " + x.ID + " is not ready"
	case x.Session && !x.here && x.takenBy == "":
		return "the session of " + x.ID + " is away"
	}
	return ""
}

func (c *Checker) failurePauses(e step) string {
	r := recordOf(e.Body)
	switch b := e.Body.(type) {
	case room.Paused:
		if b.Cause == room.CausePolicy && r == nil {
			return "a failure of the policy without its record"
		}
	default:
		if r != nil && r.Code != "" {
			return e.Body.Type() + " of a decision that failed with " + r.Code
		}
	}
	return ""
}

func (c *Checker) seesAll(e step) string {
	if r := recordOf(e.Body); r != nil && r.Through != c.seq {
		return fmt.Sprintf("decision %d knew the events up to %d, and there were %d", r.Decision, r.Through, c.seq)
	}
	return ""
}

func (c *Checker) numbered(e step) string {
	if r := recordOf(e.Body); r != nil && r.Decision != c.was.decision+1 {
		return fmt.Sprintf("decision %d follows decision %d", r.Decision, c.was.decision)
	}
	return ""
}

// recorded checks that only a person or the caller of a child room gives a turn without
// the record of a decision.
func (c *Checker) recorded(e step) string {
	b, ok := e.Body.(room.TurnGranted)
	if ok && b.Record == nil && !c.control(e.Actor) && e.s.Spec.Call == nil {
		return fmt.Sprintf("%s has granted turn %d without a record", e.Actor, b.Turn)
	}
	return ""
}

func (c *Checker) ofPolicy(e step) string {
	if r := recordOf(e.Body); r != nil && r.Digest != e.s.Policy.Ref.Digest {
		return fmt.Sprintf("decision %d is of the policy %.12q, and %.12q is in force", r.Decision, r.Digest, e.s.Policy.Ref.Digest)
	}
	return ""
}

func (c *Checker) seeded(e step) string {
	if r := recordOf(e.Body); r != nil && r.Seed != "" && e.s.Spec.ForkedFrom == nil && r.Seed != room.Seed(e.s.Spec.Room, r.Decision) {
		return fmt.Sprintf("decision %d has the seed %q", r.Decision, r.Seed)
	}
	return ""
}

// maxReason is the largest length of a reason in bytes.
const maxReason = 2_000

func (c *Checker) boundedReason(e step) string {
	for _, text := range reasons(e.Body) {
		if len(text) > maxReason || !utf8.ValidString(text) {
			return fmt.Sprintf("%s has a reason of %d bytes that is too long or no UTF-8", e.Body.Type(), len(text))
		}
	}
	return ""
}

// reasons returns the texts of b by which a policy or an agent says why.
func reasons(b room.Body) []string {
	switch b := b.(type) {
	case room.RoundDeclined:
		return []string{b.Reason}
	case room.TurnGranted:
		return []string{b.Reason}
	case room.TurnPassed:
		return []string{b.Reason}
	case room.TurnFailed:
		return []string{b.Code, b.Error}
	case room.SeatFailed:
		return []string{b.Code, b.Error}
	case room.BidPosted:
		return []string{b.Bid.Reason}
	}
	return nil
}

// oneBid checks that a participant bids once for the decision that is due.
func (c *Checker) oneBid(e step) string {
	b, ok := e.Body.(room.BidPosted)
	if !ok {
		return ""
	}
	if b.Decision != c.was.decision+1 {
		return fmt.Sprintf("%s bids for decision %d after decision %d", b.Participant, b.Decision, c.was.decision)
	}
	n := 0
	for _, o := range e.s.Bids {
		if o.Participant == b.Participant {
			n++
		}
	}
	if n != 1 || c.turn != nil {
		return fmt.Sprintf("the state has %d bids of %s, and a turn is open: %t", n, b.Participant, c.turn != nil)
	}
	return ""
}

// sound checks the numbers of decisions, bids and messages: shares from 0 to 1, and
// scores that are finite.
func (c *Checker) sound(e step) string {
	var shares []*float64
	switch b := e.Body.(type) {
	case room.TurnGranted:
		shares = append(shares, b.Confidence)
		for _, s := range b.Scores {
			if math.IsNaN(s.Score) || math.IsInf(s.Score, 0) {
				return "the score of " + s.Agent + " is no number"
			}
		}
	case room.BidPosted:
		shares = append(shares, &b.Bid.Score)
	case room.MessagePosted:
		shares = append(shares, b.Message.Confidence)
	default:
		return ""
	}
	for _, p := range shares {
		if p != nil && !(*p >= 0 && *p <= 1) {
			return fmt.Sprintf("%s has the share %v", e.Body.Type(), *p)
		}
	}
	return ""
}

func (c *Checker) hinted(e step) string {
	if b, ok := e.Body.(room.TurnGranted); ok && b.Hints != nil && !e.s.Policy.Ref.Hints {
		return fmt.Sprintf("turn %d has hints, and the policy may give none", b.Turn)
	}
	return ""
}
