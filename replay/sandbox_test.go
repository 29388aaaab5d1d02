package replay_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/report"
)

// TestSandbox replays built-in policies in the sandbox over a shared set, as
// `moot replay` does.
func TestSandbox(t *testing.T) {
	r := replayShared(t, "whowhen", "roundrobin", "mention")
	if r.Conversations != 95 || r.Decisions != 1074 {
		t.Errorf("%d decisions on %d conversations, want 1074 on 95", r.Decisions, r.Conversations)
	}
	if got := fmt.Sprintf("%.4f %.4f", r.Policies[0].Accuracy, r.Policies[0].MRR); got != "0.3324 0.6148" {
		t.Errorf("roundrobin: %s, want 0.3324 0.6148", got)
	}
	b, err := json.Marshal(r.Policies[0].Accuracy)
	if err != nil || string(b) != "0.3324" {
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

// TestRenamedBuiltIns: other IDs of the participants move no figure of a
// built-in policy.
func TestRenamedBuiltIns(t *testing.T) {
	if testing.Short() {
		t.Skip("decides over a whole shared set")
	}
	t.Parallel()
	talks := conversations(firstOf(sharedSet(t, "delidata"), 1000)...)
	host, err := plugins.NewHost(plugins.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	c := replay.Config{Resamples: 1, Repeat: 1 << 20}
	for _, name := range []string{"adaptive", "mention", "quiet", "humanfirst", "roundrobin"} {
		c.Policies = append(c.Policies, builtIn(t, host, name))
	}
	plain, err := replay.Run(t.Context(), c, talks)
	if err != nil {
		t.Fatal(err)
	}
	other, err := replay.Run(t.Context(), c, renamed(talks, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range plain.Policies {
		compareRenamed(t, &plain.Policies[i], &other.Policies[i])
	}
}
