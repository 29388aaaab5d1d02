package room

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/policies/policy"
)

// A TextFunc returns the text of the message at seq, for messages whose text the
// state does not hold any more.
type TextFunc func(seq int64) (string, error)

// Input returns the input of the policy at cursor c and room clock at. It depends
// only on s, c and at, so that a replay rebuilds it byte for byte. text is called
// only for messages whose text the state does not hold.
func (s *State) Input(c PolicyCursor, at time.Duration, text TextFunc) (policy.Input, error) {
	var in policy.Input
	if err := s.AppendInput(&in, c, at, text); err != nil {
		return policy.Input{}, err
	}
	return in, nil
}

// AppendInput is like Input but reuses the slices of in, which the caller must
// own.
func (s *State) AppendInput(in *policy.Input, c PolicyCursor, at time.Duration, text TextFunc) error {
	id := s.originalID()
	agents, events := s.agents(in.Agents[:0]), in.Events[:0]
	*in = policy.Input{
		ABI: policy.ABI, Init: !c.Asked, Room: id, Decision: c.Decision + 1, Turn: s.Tally.Turns + 1,
		NowMS: at.Milliseconds(), Seed: Seed(id, c.Decision+1),
		Objective: s.Spec.Objective, Constraints: s.Spec.Constraints, Config: c.Ref.Config,
		Limits: s.limitsLeft(at), Agents: agents, Handoff: s.handoff(), Replaced: c.Replaced, State: c.State,
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

// Seed returns the seed of the policy's random numbers: 128 bits in hex that
// depend only on the room and the decision.
func Seed(room string, decision int64) string {
	var b [96]byte
	of := append(append(append(b[:0], "moot policy seed\x00"...), room...), 0)
	sum := sha256.Sum256(strconv.AppendInt(of, decision, 10))
	return string(hex.AppendEncode(b[:0], sum[:16]))
}

// textOf restores a text that the state does not hold, and cuts or withholds it
// as the policy's manifest says.
func (s *State) textOf(ev policy.Event, needs policy.Needs, text TextFunc) (policy.Event, error) {
	if needs.NoText() {
		ev.Text = ""
		return ev, nil
	}
	if ev.Text == "" && ev.Bytes > 0 && ev.Seq < s.Recent.textsFrom() && text != nil {
		t, err := text(ev.Seq)
		if err != nil {
			return ev, fmt.Errorf("reading event %d for the policy: %w", ev.Seq, err)
		}
		ev.Text = t
	}
	most := needs.MaxTextBytes
	setDefault(&most, policy.DefText)
	if len(ev.Text) > most {
		ev.Text, ev.Truncated = cut(ev.Text, most), true
	}
	return ev, nil
}

// textsFrom returns the seq of the first event whose text is in the state.
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
		if x.Session && x.TakenBy == "" {
			a.Presence = string(x.Presence)
		}
		a.Unread, a.Urgent = x.countUnread()
		if x.Replies > 0 {
			a.AvgMS = (x.Latency / time.Duration(x.Replies)).Milliseconds()
		}
		if b := s.bid(x.ID); b != nil && b.Failed == "" {
			bid := b.Bid
			a.Bid = &bid
		}
		a.Tasks = s.tasksOf(x.ID)
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

// fitInput drops the oldest events of an input whose JSON would exceed
// [policy.MaxInput]. It cuts an objective and constraints that leave no space for
// events.
func fitInput(in policy.Input) policy.Input {
	if maxSize(&in) <= policy.MaxInput || encodedSize(in) <= policy.MaxInput {
		return in
	}
	in.Truncated = true
	all, keep := in.Events, 0
	if in.Events = nil; encodedSize(in) > policy.MaxInput/2 {
		shortenOpening(&in)
		shortenTasks(in.Agents, maxTasks)
	}
	for most := len(all); keep < most; { // binary search for the largest number of events that fits
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

// shortenOpening cuts the objective and the constraints.
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

// shortenTasks leaves out tasks, the last ones first, until the rest has at most
// so many bytes. It does not change the tasks that it keeps.
func shortenTasks(agents []policy.Agent, left int) {
	for i := range agents {
		a := &agents[i]
		for n := range a.Tasks {
			if left -= maxTasksSize(a.Tasks[n : n+1]); left < 0 {
				a.Tasks = a.Tasks[:n]
				break
			}
		}
	}
}

// maxTasks bounds the tasks of an input that is too large, in bytes.
const maxTasks = 128 << 10

// maxObjective is the length in bytes to which an objective, and all constraints
// together, are cut.
const maxObjective = 32 << 10

func encodedSize(in policy.Input) int { return len(in.AppendJSON(nil)) }

// maxSize returns an upper bound of the encoded size, without encoding: a byte of
// text becomes at most six bytes.
func maxSize(in *policy.Input) int {
	n := 6*(len(in.Objective)+len(in.Replaced)) + len(in.Config) + len(in.State) + 4096
	for _, c := range in.Constraints {
		n += 6*len(c) + 3
	}
	for i := range in.Agents {
		a := &in.Agents[i]
		n += 6*(len(a.ID)+len(a.Name)+len(a.Role)) + maxListSize(a.Domains) + 1024
		if a.Bid != nil {
			n += 6 * len(a.Bid.Reason)
		}
		n += maxTasksSize(a.Tasks)
	}
	if h := in.Handoff; h != nil {
		n += 6 * (len(h.From) + len(h.To) + len(h.Reason))
	}
	for i := range in.Events {
		e := &in.Events[i]
		n += 6*(len(e.From)+len(e.Text)) + maxListSize(e.To) + maxListSize(e.Mentions) + maxListSize(e.Addressed) + maxListSize(e.Silent) + 512
	}
	return n
}

// maxTasksSize returns an upper bound of the encoded size of tasks.
func maxTasksSize(all []policy.Task) int {
	n := 0
	for i := range all {
		t := &all[i]
		n += 6*(len(t.ID)+len(t.Title)+len(t.State)) + maxListSize(t.After) + 64
	}
	return n
}

// maxListSize returns an upper bound of the encoded size of a list.
func maxListSize(ids []string) int {
	n := 0
	for _, id := range ids {
		n += 6*len(id) + 3
	}
	return n
}

// CompleteRecord returns the record of one decision. run says how the policy ran;
// CompleteRecord sets all other fields and is their only author. in is the input
// at cursor c when the log ended at through; d and err are the policy's answer.
func (c PolicyCursor) CompleteRecord(run policy.Record, in *policy.Input, through int64, d policy.Decision, err error) policy.Record {
	r := run
	r.Policy, r.Digest = c.Ref.Name, c.Ref.Digest
	r.Decision, r.Seed, r.AskedAtMS, r.Through = in.Decision, in.Seed, in.NowMS, through
	r.State, r.StateJSON = "", nil
	r.Code, r.Error, r.Fix = "", "", ""
	if err != nil {
		r.Code, r.Fix = codeOf(err), fixOf(err)
		r.Error = strings.TrimSuffix(err.Error(), " ["+r.Code+"]")
		return r
	}
	r.StateJSON = NextPolicyState(in.State, d.State)
	r.State = PolicyStateDigest(r.StateJSON)
	return r
}

// NextPolicyState returns a policy's state after a decision that returned the
// state next: none keeps the state before, and null clears it.
func NextPolicyState(before, next policy.JSON) policy.JSON {
	switch {
	case next == nil:
		return before
	case string(next) == "null":
		return nil
	}
	return next
}

// PolicyStateDigest returns the SHA-256 of a policy's state in hex, and "" for
// no state or null.
func PolicyStateDigest(state policy.JSON) string {
	if state == nil || string(state) == "null" {
		return ""
	}
	sum := sha256.Sum256(state)
	return hex.EncodeToString(sum[:])
}

// codeOf returns the stable code of an error.
func codeOf(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return "policy.failed"
}

// fixOf returns what a person can do about an error, or "".
func fixOf(err error) string {
	var fixed interface{ ErrorFix() string }
	if errors.As(err, &fixed) {
		return fixed.ErrorFix()
	}
	return ""
}

// RecordOf returns the record of the decision that e holds, or nil.
func RecordOf(e Event) *policy.Record {
	switch b := e.Body.(type) {
	case RoundDeclined:
		if b.Record.Decision == 0 {
			return nil // of an imported room
		}
		return &b.Record
	case TurnGranted:
		return b.Record
	case Completed:
		return b.Record
	case Paused:
		return b.Record
	}
	return nil
}

// RecordedInput returns the input of the decision that r records. s must be the
// fold of all events before the one that holds r.
func (s *State) RecordedInput(r *policy.Record, text TextFunc) (policy.Input, error) {
	return s.Input(s.Policy, time.Duration(r.AskedAtMS)*time.Millisecond, text)
}

// Limits of the texts that a state holds.
const (
	recentEvents = policy.MaxEvents
	recentBytes  = 32 << 10
)

// recent holds the newest events as policies see them. At most recentEvents of
// them, with recentBytes in all, have their text.
type recent struct {
	Events []policy.Event
	Texts  int // index of the first event whose text is kept
	Bytes  int // of the texts kept
}

func (r *recent) push(e policy.Event) {
	if len(r.Events) >= 2*recentEvents {
		n := len(r.Events) - recentEvents
		kept := copy(r.Events, r.Events[n:])
		clear(r.Events[kept:])
		r.Events = r.Events[:kept]
		r.Texts = max(0, r.Texts-n)
	}
	r.Events = append(r.Events, e)
	r.Bytes += len(e.Text)
	for r.Texts < len(r.Events) && (r.Bytes > recentBytes || len(r.Events)-r.Texts > recentEvents) {
		r.Bytes -= len(r.Events[r.Texts].Text)
		r.Events[r.Texts].Text = ""
		r.Texts++
	}
}

// last returns the newest event, which must exist.
func (r *recent) last() *policy.Event { return &r.Events[len(r.Events)-1] }

// after returns at most n of the events after seq, the newest, and whether it
// left out others.
func (r *recent) after(seq int64, n int) (evs []policy.Event, cut bool) {
	i := len(r.Events)
	for i > 0 && r.Events[i-1].Seq > seq && len(r.Events)-i < n {
		i--
	}
	cut = i > 0 && r.Events[i-1].Seq > seq
	return r.Events[i:], cut
}

// seenIDs is the number of ids of commands and messages that a room remembers.
const seenIDs = 10_000

// An idSet remembers the newest ids and the seq of their last event, in a ring.
type idSet struct {
	At      map[string]int64
	Order   []string
	Content map[string]uint64 `json:"Said"` // contentHash of each message, by its id
	Next    int               // index in Order that is overwritten next, once it is full
}

func (m *idSet) add(id string, seq int64) {
	if id == "" {
		return
	}
	if _, ok := m.At[id]; ok {
		m.At[id] = seq
		return
	}
	if m.At == nil {
		m.At = map[string]int64{}
	}
	if len(m.Order) < seenIDs {
		m.Order = append(m.Order, id)
	} else {
		delete(m.At, m.Order[m.Next])
		delete(m.Content, m.Order[m.Next])
		m.Order[m.Next] = id
		m.Next = (m.Next + 1) % seenIDs
	}
	m.At[id] = seq
}

// addContent stores the content hash of the message with id.
func (m *idSet) addContent(id string, said uint64) {
	if id == "" {
		return
	}
	if m.Content == nil {
		m.Content = map[string]uint64{}
	}
	m.Content[id] = said
}

func (m *idSet) has(id string) bool {
	_, ok := m.At[id]
	return id != "" && ok
}
