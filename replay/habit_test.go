package replay_test

import (
	"context"
	"iter"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/habit"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
)

// habitSettings are the settings of the policy habit for the baselines that a room can run.
var habitSettings = map[string]string{
	"round-robin":      `{"rule":"round-robin","address":false}`,
	"least-recent":     `{"rule":"least-recent","address":false}`,
	"freq":             `{"rule":"freq","address":false}`,
	"ABA":              `{"rule":"ABA","address":false}`,
	"bigram":           `{"rule":"bigram","address":false}`,
	"ngram3":           `{"rule":"ngram3","address":false}`,
	"mention":          `{"rule":"ABA","address":false,"mention":true}`,
	"mention-only":     `{"rule":"none","address":false,"mention":true}`,
	"mention->ngram3":  `{"rule":"ngram3","address":false,"mention":true}`,
	"vocative":         `{"rule":"none"}`,
	"address->ABA":     `{"rule":"ABA"}`,
	"address->ngram3":  `{}`,
	"address->experts": `{"rule":"experts"}`,
}

// notRunnable are the baselines that no room can run: one draws at random, the other knows
// the labels of the source.
var notRunnable = map[string]bool{"random": true, "addressee": true}

// TestHabitIsBaseline: on every decision point of every set the policy habit chooses
// as the baseline that its settings name.
func TestHabitIsBaseline(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"extract", "whowhen", "delidata", "irc-threads", "meetings-ami", "meetings-committee", "space-short", "llmafia", "long-space"} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			compareHabit(t, sharedSet(t, set), nativeHabit)
		})
	}
	t.Run("small", func(t *testing.T) {
		t.Parallel()
		compareHabit(t, conversations(small(), agents()), nativeHabit)
	})
}

// TestHabitInTheSandbox does the same with the embedded module.
func TestHabitInTheSandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("decides over a whole shared set")
	}
	t.Parallel()
	host, err := plugins.NewHost(plugins.Config{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	compareHabit(t, sharedSet(t, "extract"), func(t *testing.T, settings string) drive.Proposer {
		t.Helper()
		p, err := host.Load(t.Context(), plugins.Module{
			Name: "habit", Wasm: policies.Module(), Digest: policies.Digest(), Settings: policy.JSON(settings), Trusted: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	})
}

func nativeHabit(t *testing.T, settings string) drive.Proposer {
	t.Helper()
	p := habit.New()
	if err := p.Configure(policy.JSON(settings)); err != nil {
		t.Fatal(err)
	}
	return decider{p}
}

// A decider runs a policy that may be used concurrently without the sandbox.
type decider struct{ policy.Policy }

func (d decider) Propose(_ context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	return d.Decide(&in), policy.Record{}, nil
}

func compareHabit(t *testing.T, set iter.Seq2[history.Transcript, error], load func(*testing.T, string) drive.Proposer) {
	t.Helper()
	var c drive.Config
	for _, name := range drive.BaselineNames() {
		settings, ok := habitSettings[name]
		if ok == notRunnable[name] {
			t.Errorf("baseline %s: has settings: %t", name, ok)
		}
		if ok {
			ref := room.PolicyRef{Name: "habit", Needs: policies.Manifest("habit").Input}
			c.Policies = append(c.Policies,
				drive.Policy{Name: name, Baseline: name}, drive.Policy{Name: "habit" + settings, Proposer: load(t, settings), Ref: ref})
		}
	}
	wrong := map[string]int{}
	for x, err := range set {
		if err != nil {
			t.Fatal(err)
		}
		h, err := history.Open(x)
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			continue
		}
		err = drive.WhatIf(t.Context(), c, h, 0, func(p *history.Point, made []drive.Evaluation) {
			for i := 0; i < len(made); i += 2 {
				want, got := h.NameOf(made[i].Choice), h.NameOf(made[i+1].Choice)
				if got == want {
					continue
				}
				if wrong[c.Policies[i].Name]++; wrong[c.Policies[i].Name] <= 3 {
					t.Errorf("%s, point %d: %s chooses %s (%s), the baseline %s %s", h.Name, p.N, c.Policies[i+1].Name, got, made[i+1].Reason(), c.Policies[i].Name, want)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, n := range wrong {
		t.Errorf("%s: %d decisions differ", name, n)
	}
}
