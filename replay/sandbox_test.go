package replay_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/replay/score"
)

// TestSandbox replays built-in policies in the sandbox over a shared set, as
// `moot replay` does.
func TestSandbox(t *testing.T) {
	r := replayShared(t, "whowhen", "roundrobin", "mention")
	if r.Conversations != 95 || r.Decisions != 1074 {
		t.Errorf("%d decisions on %d conversations, want 1074 on 95", r.Decisions, r.Conversations)
	}
	if got := fmt.Sprintf("%.4f %.4f", r.Policies[0].Accuracy, r.Policies[0].MRR); got != "0.3976 0.6346" {
		t.Errorf("roundrobin: %s, want 0.3976 0.6346", got)
	}
	b, err := json.Marshal(r.Policies[0].Accuracy)
	if err != nil || string(b) != "0.3976" {
		t.Errorf("in JSON: %s, %v", b, err)
	}
	for _, p := range r.Policies {
		if p.Errors > 0 || p.Differing > 0 || p.Repeated < 130 {
			t.Errorf("%s: %d errors (%s), %d of %d repeated decisions differ", p.Policy, p.Errors, p.FirstError, p.Differing, p.Repeated)
		}
	}
}

// replayShared replays built-in policies over a shared set.
func replayShared(tb testing.TB, set string, names ...string) *report.Report {
	tb.Helper()
	transcripts := sharedSet(tb, set)
	host, err := plugins.NewHost(plugins.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	defer host.Close()
	var c replay.Config
	for _, name := range names {
		c.Policies = append(c.Policies, builtIn(tb, host, name))
	}
	r, err := replay.Run(tb.Context(), c, transcripts)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// TestShuffledBuiltIns: other IDs for the same participants change no figure of
// a built-in policy by more than 0.01. roundrobin is left out, because it
// decides by the order of the IDs alone.
func TestShuffledBuiltIns(t *testing.T) {
	t.Parallel()
	transcripts := sharedSet(t, "delidata")
	host, err := plugins.NewHost(plugins.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	c := replay.Config{Resamples: 1, Repeat: 1 << 20}
	for _, name := range []string{"adaptive", "mention", "quiet", "humanfirst"} {
		c.Policies = append(c.Policies, builtIn(t, host, name))
	}
	plain, err := replay.Run(t.Context(), c, transcripts)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	shuffled, err := replay.Run(t.Context(), c, func(yield func(history.Transcript, error) bool) {
		for x, err := range transcripts {
			if err == nil {
				shuffleIDs(x.Conversation, rng)
			}
			if !yield(x, err) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range plain.Policies {
		q := shuffled.Policies[i]
		for name, pair := range map[string][2]score.Figure{
			"accuracy": {p.Accuracy, q.Accuracy}, "mrr": {p.MRR, q.MRR}, "decline_rate": {p.DeclineRate, q.DeclineRate},
			"top_speaker": {p.TopSpeaker, q.TopSpeaker}, "gini": {p.Gini, q.Gini}, "entropy": {p.Entropy, q.Entropy},
		} {
			if difference := math.Abs(float64(pair[0] - pair[1])); difference > 0.01 {
				t.Errorf("%s: %s is %.4f, with other IDs %.4f", p.Policy, name, pair[0], pair[1])
			}
		}
	}
}
