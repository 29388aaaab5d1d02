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
	if err := s.AppendInput(&in, c, at, text); err != nil {
		return policy.Input{}, err
	}
	return in, nil
}

// AppendInput is Input for who asks often: it takes over the lists of agents and
// events that in has, which nobody else may hold then.
func (s *State) AppendInput(in *policy.Input, c PolicyCursor, at time.Duration, text TextFunc) error {
	id := s.originalID()
	agents, events := s.agents(in.Agents[:0]), in.Events[:0]
	*in = policy.Input{
		ABI: policy.ABI, Init: !c.Asked, Room: id, Decision: c.Decision + 1, Turn: s.Tally.Turns + 1,
		NowMS: at.Milliseconds(), Seed: Seed(id, c.Decision+1),
		Objective: s.Spec.Objective, Constraints: s.Spec.Constraints, Config: c.Ref.Config,
		Limits: s.limitsLeft(at), Agents: agents, State: c.State,
	}
	after, most := c.Through, policy.MaxEvents
	if in.Init {
		after, most = 0, c.Ref.Needs.HistoryEvents
		setDefault(&most, policy.DefHistory)
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
	*in = fitInput(*in)
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
	if ev.Text == "" && ev.Bytes > 0 && ev.Seq < s.Recent.textsFrom() && text != nil {
		t, err := text(ev.Seq)
		if err != nil {
			return ev, fmt.Errorf("reading event %d for the policy: %w", ev.Seq, err)
		}
		if said || t != "" {
			ev.Text = t
		}
	}
	most := needs.MaxTextBytes
	setDefault(&most, policy.DefText)
	if len(ev.Text) > most {
		ev.Text, ev.Truncated = cut(ev.Text, most), true
	}
	return ev, nil
}

// textsFrom is the seq from which on texts are in the state.
func (r *recent) textsFrom() int64 {
	if r.Texts < len(r.Events) {
		return r.Events[r.Texts].Seq
	}
	return 1 << 62
}

func (s *State) limitsLeft(at time.Duration) policy.Limits {
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
			ID: x.ID, Name: x.Name, Kind: x.policyKind(), Role: x.Role, Domains: x.Domains,
			Eligible: why == "", Ineligible: why, Turns: x.Turns, LastTurn: x.LastTurn,
			Failures: x.Failures, Tokens: x.Spent, Followed: s.followed(x.Index), Confidence: x.Confidence,
		}
		a.Unread, a.Urgent = x.countUnread()
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
	f := policy.Followed{Last: int(s.Followed[followKey(0, last, next)])}
	if before != 0 {
		f.LastTwo = int(s.Followed[followKey(before, last, next)])
	}
	return f
}

// fitInput keeps in within [policy.MaxInput], whatever its texts become in JSON:
// the oldest events go first. An objective and constraints that leave no room
// for events are cut.
func fitInput(in policy.Input) policy.Input {
	if maxSize(&in) <= policy.MaxInput || encodedSize(in) <= policy.MaxInput {
		return in
	}
	in.Truncated = true
	all, keep := in.Events, 0
	if in.Events = nil; encodedSize(in) > policy.MaxInput/2 {
		shortenOpening(&in)
	}
	for most := len(all); keep < most; { // the largest number of events that fits
		n := (keep + most + 1) / 2
		in.Events = all[len(all)-n:]
		if encodedSize(in) <= policy.MaxInput {
			keep = n
		} else {
			most = n - 1
		}
	}
	in.Events = all[len(all)-keep:]
	return in
}

// shortenOpening cuts what a room was opened with.
func shortenOpening(in *policy.Input) {
	in.Objective = cut(in.Objective, maxObjective)
	constraints, left := in.Constraints, maxObjective
	in.Constraints = nil
	for _, c := range constraints {
		if len(c) <= left {
			in.Constraints = append(in.Constraints, c)
			left -= len(c)
		}
	}
}

// maxObjective is what is left of an objective, and of the constraints, that
// are too long.
const maxObjective = 32 << 10

func encodedSize(in policy.Input) int { return len(in.AppendJSON(nil)) }

// maxSize is a bound of the size of in that costs no encoding: a byte of text
// becomes six at most.
func maxSize(in *policy.Input) int {
	n := 6*len(in.Objective) + len(in.Config) + len(in.State) + 4096
	for _, c := range in.Constraints {
		n += 6*len(c) + 3
	}
	for i := range in.Agents {
		a := &in.Agents[i]
		n += 6*(len(a.ID)+len(a.Name)+len(a.Role)) + maxListSize(a.Domains) + 1024
		if a.Bid != nil {
			n += 6 * len(a.Bid.Reason)
		}
	}
	for i := range in.Events {
		e := &in.Events[i]
		n += 6*(len(e.From)+len(e.Text)) + maxListSize(e.To) + maxListSize(e.Mentions) + maxListSize(e.Addressed) + 512
	}
	return n
}

// maxListSize bounds what a list takes.
func maxListSize(ids []string) int {
	n := 0
	for _, id := range ids {
		n += 6*len(id) + 3
	}
	return n
}
