package replay_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// small is a conversation of three with two turns to merge.
func small() *history.Conversation {
	return &history.Conversation{
		ID:           "talk/1",
		Participants: []history.Participant{{ID: "cid", Kind: history.KindAgent}, {ID: "ann", Kind: history.KindHuman}, {ID: "bob", Kind: history.KindTool}},
		Turns: []history.Turn{
			{Speaker: "ann", Text: "bob, please", To: []string{"bob"}},
			{Speaker: "bob", Text: "done"},
			{Speaker: "cid", Text: "I saw it"},
			{Speaker: "ann", Text: "thanks", To: []string{"cid"}},
			{Speaker: "ann", Text: "cid?", To: []string{"bob", "ann"}},
			{Speaker: "cid", Text: "yes"},
		},
	}
}

// agents is a conversation of agents alone: ann and bob have three turns each,
// cid one.
func agents() *history.Conversation {
	c := &history.Conversation{ID: "talk/a"}
	for _, id := range []string{"ann", "bob", "cid"} {
		c.Participants = append(c.Participants, history.Participant{ID: id, Kind: history.KindAgent})
	}
	for i, id := range []string{"ann", "bob", "ann", "bob", "cid", "ann", "bob"} {
		c.Turns = append(c.Turns, history.Turn{Speaker: id, Text: fmt.Sprintf("%s's line %d", id, i)})
	}
	return c
}

func conversations(all ...*history.Conversation) iter.Seq2[history.Transcript, error] {
	return func(yield func(history.Transcript, error) bool) {
		for _, c := range all {
			if !yield(history.Transcript{Name: c.ID, Conversation: c}, nil) {
				return
			}
		}
	}
}

func rooms(all ...[]room.Event) iter.Seq2[history.Transcript, error] {
	return func(yield func(history.Transcript, error) bool) {
		for i, events := range all {
			if !yield(history.Transcript{Name: fmt.Sprintf("r_%d", i+1), Room: events}, nil) {
				return
			}
		}
	}
}

// sharedSet reads a shared set of conversations, or the extract in testdata. It
// skips the test where the set is missing.
func sharedSet(tb testing.TB, set string) iter.Seq2[history.Transcript, error] {
	tb.Helper()
	file := filepath.Join("..", "..", "shared", "transcripts", set+".jsonl.gz")
	if set == "extract" {
		file = filepath.Join("testdata", "extract.jsonl")
	}
	if _, err := os.Stat(file); err != nil {
		tb.Skip("the shared transcripts are not next to this checkout")
	}
	return talksOf(file)
}

func transcriptOf(c *transcripts.Conversation) history.Transcript {
	x := &history.Conversation{ID: c.ID, Objective: c.Objective()}
	for _, p := range c.Participants {
		x.Participants = append(x.Participants, history.Participant{ID: p.ID, Kind: p.Kind, Role: p.Role})
	}
	x.Turns = make([]history.Turn, 0, len(c.Turns))
	for _, t := range c.Turns {
		x.Turns = append(x.Turns, history.Turn{Speaker: t.Speaker, Text: t.Text, To: t.Addressees})
	}
	for _, d := range c.Decisions {
		x.Decisions = append(x.Decisions, history.Decision{Before: d.Before, Agent: d.Agent, Speak: d.Decision == transcripts.Speaks})
	}
	return history.Transcript{Name: c.ID, Conversation: x}
}

// baselines returns the named baselines, or all, as policies under test.
func baselines(names ...string) []drive.Policy {
	if len(names) == 0 {
		names = drive.BaselineNames()
	}
	var all []drive.Policy
	for _, name := range names {
		all = append(all, drive.Policy{Name: name, Baseline: name})
	}
	return all
}

// builtIn loads a built-in policy into the sandbox.
func builtIn(tb testing.TB, host *plugins.Host, name string) drive.Policy {
	tb.Helper()
	p, err := host.Load(tb.Context(), plugins.Module{Name: name, Wasm: policies.Module(), Digest: policies.Digest(), Trusted: true})
	if err != nil {
		tb.Fatal(err)
	}
	return drive.Policy{
		Name: name, Proposer: p, Ref: room.PolicyRef{Use: name, Name: name, Digest: p.Digest(), Needs: policies.Manifest(name).Input},
	}
}

// native runs a policy without the sandbox. Like the sandbox, it records only
// how the policy ran.
type native struct {
	decide func(*policy.Input) policy.Decision
	fuel   uint64
	meter  int
	err    error
}

func (n native) Propose(_ context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	if n.err != nil {
		return policy.Decision{}, policy.Record{}, n.err
	}
	return n.decide(&in), policy.Record{Input: hexDigest(in.AppendJSON(nil)), Fuel: n.fuel, Meter: n.meter}, nil
}

func hexDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// turns chooses the participants in order and declines every third time. Its
// state is so large that the log holds only every 64th.
func turns(in *policy.Input) policy.Decision {
	d := policy.Decline("every third")
	if in.Decision%3 != 0 {
		n := int(in.Decision) % len(in.Agents)
		if !in.Agents[n].Eligible {
			n = 0
		}
		d = policy.Speak(in.Agents[n].ID, "its turn")
		d.Scores = []policy.Score{{Agent: in.Agents[n].ID, Score: 0.5}}
	}
	if in.State != nil && !strings.HasSuffix(string(in.State), fmt.Sprintf("%d]", in.Decision-1)) {
		return policy.Fail("state of another decision")
	}
	d.State = policy.JSON("[" + strings.Repeat("0,", 1000) + fmt.Sprint(in.Decision) + "]")
	return d
}

// mostActive chooses the participant with the most turns. Its confidence is the
// share of these turns; below 0.1 it declines.
type mostActive struct{}

func (mostActive) Propose(_ context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	best, total := -1, 1
	for i, a := range in.Agents {
		total += a.Turns
		if a.Eligible && (best < 0 || a.Turns > in.Agents[best].Turns) {
			best = i
		}
	}
	share := float64(in.Agents[best].Turns) / float64(total)
	if share < 0.1 {
		return policy.Decline("no participant stands out"), policy.Record{}, nil
	}
	d := policy.Speak(in.Agents[best].ID, in.Agents[best].ID+" speaks most")
	d.Confidence = &share
	return d, policy.Record{}, nil
}

// record runs a room of two agents and a person for n decisions.
func record(t *testing.T, p drive.Proposer, n int) []room.Event {
	t.Helper()
	r := &recorder{t: t}
	r.do(room.ActorHost, room.Open{
		Spec: room.Spec{
			Room: "r_1", Objective: "agree", Limits: room.Limits{MaxTurns: 500, MaxDeclines: 500, MaxDuration: time.Hour * 100, SameText: 500, SameTextOf: 500},
			Policy: room.PolicyRef{Use: "turns", Name: "turns", Digest: "d1"},
		},
		Participants: []room.Participant{
			{ID: "zoe", Kind: policy.Local, Mode: room.FullAuto}, {ID: "adam", Kind: policy.Local, Mode: room.FullAuto}, {ID: "yuki", Kind: policy.Human},
		},
	})
	r.do(room.ActorHost, room.Claim{Owner: "test"})
	r.do("yuki", room.Say{Text: "adam, what do you think?"})
	for i := range n {
		r.decide(p, i)
	}
	return r.events
}

// A recorder runs a room.
type recorder struct {
	t      *testing.T
	s      room.State
	events []room.Event
	clock  time.Duration
}

func (r *recorder) do(actor string, act room.Act) {
	r.t.Helper()
	r.clock += 1500 * time.Millisecond
	made, err := r.s.Decide(room.Command{Actor: actor, Do: act}, room.Now{Wall: time.Unix(1_770_000_000, 0), Clock: r.clock})
	if err != nil {
		r.t.Fatalf("%T: %v", act, err)
	}
	for _, e := range made {
		e.ID = fmt.Sprintf("e%d", e.Seq)
		r.events = append(r.events, e)
		r.s.Apply(e)
	}
}

// decide asks p for decision i and lets the agent that gets the turn answer.
func (r *recorder) decide(p drive.Proposer, i int) {
	r.t.Helper()
	s := &r.s
	in, err := s.Input(s.Policy, r.clock, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	d, rec, err := p.Propose(r.t.Context(), in)
	if err != nil {
		r.t.Fatal(err)
	}
	rec = s.Policy.CompleteRecord(rec, &in, s.Seq, d, nil)
	before := s.Policy.Decision
	r.do(room.ActorPolicy, room.Decided{Decision: d, Record: rec, Grant: room.Grant{Request: fmt.Sprint("q", i)}})
	if s.Policy.Decision == before {
		r.t.Fatalf("decision %d was not recorded", i+1)
	}
	if s.Policy.Lost {
		s.SetPolicyState(rec.StateJSON)
	}
	if s.Turn != nil {
		r.do(s.Turn.Participant, room.Replied{Turn: s.Turn.Number, Request: s.Turn.Request, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprintf("yuki, this is number %d", i)}})
	}
}
