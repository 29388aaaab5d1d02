package replay_test

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/folkmoot/moot/policies/mention"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/roundrobin"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/replay/score"
)

// renamed gives the participants of each conversation random IDs. Their names
// stay as display names, so the texts name the same participants as before.
func renamed(all iter.Seq2[history.Transcript, error], seed uint64) iter.Seq2[history.Transcript, error] {
	return func(yield func(history.Transcript, error) bool) {
		rng := rand.New(rand.NewPCG(seed, 16))
		for tr, err := range all {
			if err == nil {
				tr.Conversation = renamedConversation(tr.Conversation, rng)
			}
			if !yield(tr, err) {
				return
			}
		}
	}
}

func renamedConversation(c *history.Conversation, rng *rand.Rand) *history.Conversation {
	to := map[string]string{}
	out := *c
	out.Participants = slices.Clone(c.Participants)
	for i, place := range rng.Perm(len(out.Participants)) {
		p := &out.Participants[i]
		id := fmt.Sprintf("%c%04d", 'a'+rng.IntN(26), place)
		to[p.ID], p.Name, p.ID = id, p.ID, id
	}
	slices.SortFunc(out.Participants, func(a, b history.Participant) int { return int(a.ID[1]) - int(b.ID[1]) })
	out.Turns = slices.Clone(c.Turns)
	for i := range out.Turns {
		turn := &out.Turns[i]
		turn.Speaker, turn.To = to[turn.Speaker], slices.Clone(turn.To)
		for j, id := range turn.To {
			turn.To[j] = to[id]
		}
	}
	return &out
}

// lowestID rates the candidates by their turns, and prefers those without. Of
// equals it chooses the one that spoke later and then the lowest ID: among those
// that never spoke the choice is arbitrary.
func lowestID(in *policy.Input) policy.Decision {
	d := policy.Decision{Action: policy.ActionSpeak}
	var best policy.Agent
	for _, a := range in.Agents {
		if !a.Eligible {
			continue
		}
		d.Scores = append(d.Scores, policy.Score{Agent: a.ID, Score: -float64(a.Turns)})
		if c := cmp.Or(cmp.Compare(best.Turns, a.Turns), cmp.Compare(a.LastTurn, best.LastTurn), cmp.Compare(best.ID, a.ID)); best.ID == "" || c > 0 {
			best = a
		}
	}
	d.Agent = best.ID
	return d
}

// firstOf returns the first conversations with so many turns in total. The last
// one is cut.
func firstOf(all iter.Seq2[history.Transcript, error], turns int) []*history.Conversation {
	var out []*history.Conversation
	for tr, err := range all {
		if err != nil || turns <= 0 {
			break
		}
		c := *tr.Conversation
		c.Turns = c.Turns[:min(turns, len(c.Turns))]
		turns -= len(c.Turns)
		out = append(out, &c)
	}
	return out
}

// renamedPolicies are all baselines and some policies.
func renamedPolicies() []drive.Policy {
	ring, named := roundrobin.New(), mention.New(nil)
	return append(
		baselines(),
		drive.Policy{Name: "lowest ID", Proposer: native{decide: lowestID}},
		drive.Policy{Name: "ring", Proposer: native{decide: ring.Decide}},
		drive.Policy{Name: "named", Proposer: native{decide: named.Decide}},
	)
}

// TestRenamed: other IDs of the participants, drawn five times, move no share
// of a report by more than 0.5 points, and the tokens by no more than 0.5 %. It
// replays the first 2,500 turns of each shared set six times.
func TestRenamed(t *testing.T) {
	t.Parallel()
	sets := []string{"extract", "small", "whowhen", "delidata", "irc-threads", "meetings-ami", "meetings-committee", "space-short", "llmafia", "long-space", "irc-channels"}
	for _, set := range sets {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			talks := conversations(small(), agents())
			if set != "small" {
				talks = conversations(firstOf(sharedSet(t, set), 2500)...)
			}
			plain := replayRenamed(t, talks)
			for seed := range uint64(5) {
				other := replayRenamed(t, renamed(talks, seed))
				for i := range plain.Policies {
					compareRenamed(t, &plain.Policies[i], &other.Policies[i])
				}
			}
		})
	}
}

func replayRenamed(t *testing.T, talks iter.Seq2[history.Transcript, error]) *report.Report {
	t.Helper()
	r, err := replay.Run(t.Context(), replay.Config{Policies: renamedPolicies(), Resamples: 1, Repeat: 1 << 20}, talks)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func compareRenamed(t *testing.T, plain, other *score.Result) {
	t.Helper()
	for figure := range plain.N {
		a, _ := plain.Figure(figure)
		b, _ := other.Figure(figure)
		bound := 0.005
		if figure == "tokens_a_decision" {
			bound *= float64(a)
		}
		if moved := math.Abs(float64(a - b)); moved > bound || a.IsNone() != b.IsNone() {
			t.Errorf("%s: %s is %v, and %v with other IDs", plain.Policy, figure, a, b)
		}
	}
}
