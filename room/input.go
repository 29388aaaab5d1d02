package room

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/folkmoot/moot/policies/policy"
)

// A TextFunc returns what the message at seq said, for messages whose text
// has left the state.
type TextFunc func(seq int64) (string, error)

// Input returns what the policy at cursor c is asked at room clock at. It
// depends on nothing but s, c and at, so a replay rebuilds it byte for byte.
// text is consulted only for messages older than the state's tail.
func (s *State) Input(c PolicyCursor, at time.Duration, text TextFunc) (policy.Input, error) {
	var in policy.Input
	if err := s.InputInto(&in, c, at, text); err != nil {
		return policy.Input{}, err
	}
	return in, nil
}

// InputInto is Input for who asks often: it takes over the lists of agents and
// events that in has, which nobody else may hold then.
func (s *State) InputInto(in *policy.Input, c PolicyCursor, at time.Duration, text TextFunc) error {
	id := s.called()
	agents, events := s.agents(in.Agents[:0]), in.Events[:0]
	*in = policy.Input{
		ABI: policy.ABI, Init: !c.Asked, Room: id, Decision: c.Decision + 1, Turn: s.Tally.Turns + 1,
		NowMS: at.Milliseconds(), Seed: Seed(id, c.Decision+1),
		Objective: s.Spec.Objective, Constraints: s.Spec.Constraints, Config: c.Ref.Config,
		Limits: s.left(at), Agents: agents, State: c.State,
	}
	after, most := c.Through, policy.MaxEvents
	if in.Init {
		after, most = 0, c.Ref.Needs.HistoryEvents
		or(&most, policy.DefHistory)
	}
	evs, cut := s.Recent.after(after, min(most, policy.MaxEvents))
	in.Truncated = cut && !in.Init
	in.Events = slices.Grow(events, len(evs))[:len(evs)]
	budget := policy.MaxInput - policy.MaxState - 64<<10
	first := 0
	for i := len(evs) - 1; i >= 0; i-- {
		ev, err := s.textOf(evs[i], c.Ref.Needs, text)
		if err != nil {
			return err
		}
		if budget -= 2*len(ev.Text) + 256; budget < 0 {
			first, in.Truncated = i+1, true
			break
		}
		in.Events[i] = ev
	}
	in.Events = in.Events[first:]
	*in = fit(*in)
	return nil
}

// Seed is the policy's source of randomness: 128 bits that depend on the room
// and the decision only.
func Seed(room string, decision int64) string {
	var b [96]byte
	of := append(append(append(b[:0], "moot policy seed\x00"...), room...), 0)
	sum := sha256.Sum256(strconv.AppendInt(of, decision, 10))
	return string(hex.AppendEncode(b[:0], sum[:16]))
}

// textOf puts back a text that has left the state, and cuts or withholds it
// as the policy's manifest says.
func (s *State) textOf(ev policy.Event, needs policy.Needs, text TextFunc) (policy.Event, error) {
	if needs.NoText() {
		ev.Text = ""
		return ev, nil
	}
	said := ev.Kind == policy.KindMessage || ev.Kind == policy.KindHuman
	if ev.Text == "" && ev.Bytes > 0 && ev.Seq < s.Recent.kept() && text != nil {
		t, err := text(ev.Seq)
		if err != nil {
			return ev, fmt.Errorf("reading event %d for the policy: %w", ev.Seq, err)
		}
		if said || t != "" {
			ev.Text = t
		}
	}
	most := needs.MaxTextBytes
	or(&most, policy.DefText)
	if len(ev.Text) > most {
		ev.Text, ev.Truncated = cut(ev.Text, most), true
	}
	return ev, nil
}

// kept is the seq from which on texts are in the state.
func (r *recent) kept() int64 {
	if r.Texts < len(r.Events) {
		return r.Events[r.Texts].Seq
	}
	return 1 << 62
}

func (s *State) left(at time.Duration) policy.Limits {
	l := policy.Limits{
		MaxTurns: s.Limits.MaxTurns, TurnsLeft: max(0, s.Limits.MaxTurns-s.Tally.Turns),
		TokensLeft: -1, MSLeft: max(0, (s.Limits.MaxDuration - at).Milliseconds()),
	}
	if s.Limits.MaxTokens > 0 {
		l.TokensLeft = max(0, s.Limits.MaxTokens-s.Tally.Tokens)
	}
	return l
}

func (s *State) agents(out []policy.Agent) []policy.Agent {
	out = slices.Grow(out, len(s.Seats))
	for _, x := range s.Seats {
		if x.Standing == Removed {
			continue
		}
		why := s.Ineligible(x)
		a := policy.Agent{
			ID: x.ID, Name: x.Name, Kind: x.kind(), Role: x.Role, Domains: x.Domains,
			Eligible: why == "", Ineligible: why, Turns: x.Turns, LastTurn: x.LastTurn,
			Failures: x.Failures, Tokens: x.Spent, Followed: s.followed(x.Index), Confidence: x.Confidence,
		}
		a.Unread, a.Urgent = x.unread()
		if x.Replies > 0 {
			a.AvgMS = (x.Latency / time.Duration(x.Replies)).Milliseconds()
		}
		if b := s.bid(x.ID); b != nil && b.Failed == "" {
			bid := b.Bid
			a.Bid = &bid
		}
		out = append(out, a)
	}
	return out
}

func (s *State) followed(next int16) policy.Followed {
	last, before := s.Speakers[0], s.Speakers[1]
	if last == 0 {
		return policy.Followed{}
	}
	f := policy.Followed{Last: int(s.Followed[habit(0, last, next)])}
	if before != 0 {
		f.LastTwo = int(s.Followed[habit(before, last, next)])
	}
	return f
}
