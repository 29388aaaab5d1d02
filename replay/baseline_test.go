package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// baselines returns the named ones, or all, as subjects.
func baselineSubjects(names ...string) []Subject {
	if len(names) == 0 {
		names = BaselineNames()
	}
	var all []Subject
	for _, name := range names {
		all = append(all, Subject{Name: name, Baseline: name})
	}
	return all
}

// golden is what the prototype behind the design prints for each set, by
// baseline: accuracy, macro accuracy, mean reciprocal rank, accuracy where the
// true speaker had spoken before, decline rate.
func golden(t *testing.T) map[string]map[string]string {
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

// TestBaselines holds every baseline to four decimals of what the prototype
// measured: on a small extract always, and on whole sets where they are.
func TestBaselines(t *testing.T) {
	t.Parallel()
	sizes := map[string][2]int{ // conversations, decisions
		"extract": {12, 171}, "whowhen": {95, 1074}, "delidata": {198, 4877}, "irc-threads": {859, 13996}, "meetings-ami": {76, 38755},
		"meetings-committee": {18, 3707}, "space-short": {5, 11663}, "llmafia": {6, 368}, "long-space": {4, 32049},
	}
	for set, want := range golden(t) {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			if len(want) != len(baselines) {
				t.Errorf("%d baselines have figures, of %d", len(want), len(baselines))
			}
			r, err := Run(t.Context(), Config{Subjects: baselineSubjects(), Resamples: 1}, sharedTalks(t, set))
			if err != nil {
				t.Fatal(err)
			}
			if size := sizes[set]; r.Conversations != size[0] || r.Decisions != size[1] {
				t.Errorf("%d decisions on %d conversations, want %d on %d", r.Decisions, r.Conversations, size[1], size[0])
			}
			for i := range r.Policies {
				p := &r.Policies[i]
				seen := fmt.Sprintf("%.4f", p.AccuracySeen)
				if p.Policy == "address->experts" {
					seen = "-" // was not measured
				}
				got := fmt.Sprintf("%.4f %.4f %.4f %s %.4f", p.Accuracy, p.MacroAccuracy, p.MRR, seen, p.DeclineRate)
				if got != want[p.Policy] {
					t.Errorf("%s: %s, want %s", p.Policy, got, want[p.Policy])
				}
			}
		})
	}
}

// TestFindBaseline: names are written in many ways.
func TestFindBaseline(t *testing.T) {
	for text, want := range map[string]string{
		"ABA": "ABA", "aba": "ABA", "round-robin": "round-robin", "Round-Robin": "round-robin", "address→ngram3": "address->ngram3",
		"mention -> ngram3": "mention->ngram3", "mention_only": "mention-only", "vocative_aba": "", "addressee*": "addressee", "": "", "best": "",
	} {
		if got := FindBaseline(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for alias, name := range aliases {
		if baselineOf(name) == nil || FindBaseline(alias) != name {
			t.Errorf("%s stands for %s, which is no baseline", alias, name)
		}
	}
}

// TestBalanced: in the games of llmafia, where a person or the game speaks in
// nine turns of ten, the rules are no better than chance.
func TestBalanced(t *testing.T) {
	r, err := Run(t.Context(), Config{Subjects: baselineSubjects()}, sharedTalks(t, "llmafia"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // balanced, silence precision and recall, speak precision and recall
		"round-robin": "0.5072 0.9009 0.9063 0.1143 0.1081",
		"freq":        "0.5013 0.8997 0.9486 0.1053 0.0541",
		"ngram3":      "0.5207 0.9036 0.9063 0.1389 0.1351",
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
