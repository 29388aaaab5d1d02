package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
)

// baselineFigures reads the figures of the reference implementation, by set and
// baseline: accuracy, macro accuracy, mean reciprocal rank, accuracy where the
// recorded speaker had spoken before, decline rate.
func baselineFigures(t *testing.T) map[string]map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "baselines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	for line := range strings.Lines(string(b)) {
		set, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if set == "#" {
			continue
		}
		name, figures, _ := strings.Cut(rest, " ")
		if all[set] == nil {
			all[set] = map[string]string{}
		}
		all[set][name] = figures
	}
	return all
}

// TestBaselines compares every baseline with the reference implementation, to
// four decimals: on a small extract always, on whole sets where they are.
func TestBaselines(t *testing.T) {
	t.Parallel()
	sizes := map[string][2]int{ // conversations, decisions
		"extract": {12, 171}, "whowhen": {95, 1074}, "delidata": {198, 4877}, "irc-threads": {859, 13996}, "meetings-ami": {76, 38755},
		"meetings-committee": {18, 3707}, "space-short": {5, 11663}, "llmafia": {6, 368}, "long-space": {4, 32049},
	}
	for set, want := range baselineFigures(t) {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			if n := len(drive.BaselineNames()); len(want) != n {
				t.Errorf("figures of %d baselines, there are %d", len(want), n)
			}
			r, err := replay.Run(t.Context(), replay.Config{Policies: baselines(), Resamples: 1}, sharedSet(t, set))
			if err != nil {
				t.Fatal(err)
			}
			if size := sizes[set]; r.Conversations != size[0] || r.Decisions != size[1] {
				t.Errorf("%d decisions on %d conversations, want %d on %d", r.Decisions, r.Conversations, size[1], size[0])
			}
			measured := map[string]float64{}
			for i := range r.Policies {
				p := &r.Policies[i]
				measured[p.Policy] = float64(p.Accuracy)
				seen := fmt.Sprintf("%.4f", p.AccuracySeen)
				if p.Policy == "address->experts" {
					seen = "-" // the reference has no figure
				}
				got := fmt.Sprintf("%.4f %.4f %.4f %s %.4f", p.Accuracy, p.MacroAccuracy, p.MRR, seen, p.DeclineRate)
				if got != want[p.Policy] {
					t.Errorf("%s: %s, want %s", p.Policy, got, want[p.Policy])
				}
			}
			if row := tableRow(set, r.Decisions, measured); set != "extract" {
				t.Log(row)
				checkDocumented(t, row)
			}
		})
	}
}

// tableRow is the row of a set in docs/replay.md.
func tableRow(set string, decisions int, accuracy map[string]float64) string {
	row := fmt.Sprintf("| %s | %d |", set, decisions)
	for _, name := range []string{"random", "least-recent", "freq", "ABA", "bigram", "ngram3", "address->ABA", "address->ngram3", "mention->ngram3", "address->experts"} {
		row += fmt.Sprintf(" %.1f |", 100*accuracy[name])
	}
	return row
}

// checkDocumented tests that docs/replay.md has the row.
func checkDocumented(t *testing.T, row string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "docs", "replay.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), row+"\n") {
		t.Errorf("docs/replay.md has no row %s", row)
	}
}

// TestBalancedAccuracy: in the games of llmafia a person or the game speaks in
// nine turns of ten, so the baselines are near 0.5.
func TestBalancedAccuracy(t *testing.T) {
	r, err := replay.Run(t.Context(), replay.Config{Policies: baselines()}, sharedSet(t, "llmafia"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // balanced, silence precision and recall, speak precision and recall
		"round-robin": "0.5055 0.9006 0.8841 0.1091 0.1270",
		"freq":        "0.5037 0.9002 0.9469 0.1129 0.0604",
		"ngram3":      "0.5231 0.9041 0.9046 0.1422 0.1415",
		"vocative":    "0.5327 0.9061 0.9033 0.1579 0.1622",
	}
	for _, p := range r.Policies {
		if p.Silence == nil || p.Silence.TrueRate < 0.8994 || p.Silence.TrueRate > 0.8996 {
			t.Fatalf("%s: %+v", p.Policy, p.Silence)
		}
		s := p.Silence
		got := fmt.Sprintf("%.4f %.4f %.4f %.4f %.4f", p.BalancedAccuracy, s.SilencePrecision, s.SilenceRecall, s.SpeakPrecision, s.SpeakRecall)
		if w, ok := want[p.Policy]; ok && got != w {
			t.Errorf("%s: %s, want %s", p.Policy, got, w)
		}
	}
}
