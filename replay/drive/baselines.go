package drive

import (
	"strings"

	"github.com/folkmoot/moot/policies/habit"
)

// A rule is a baseline: a reference rule, written in Go and not sandboxed. Most are
// rules of the policy habit. Candidates with equal keys, as those that never spoke,
// share their place.
type rule struct {
	name string
	habit.Rule
	kind kind
}

type kind int

const (
	byKeys kind = iota
	random      // draws a candidate, all with the same probability
	ring        // takes turns; in a conversation, which has no order of turns, all candidates share the first place
	oracle      // follows the addressees that the source labels
)

// rules are all baselines. docs/replay.md describes them.
var rules = []rule{
	{name: "random", kind: random},
	{name: "round-robin", Rule: habit.Rule{Then: habit.RoundRobin}, kind: ring},
	{name: "least-recent", Rule: habit.Rule{Then: habit.LeastRecent}},
	{name: "freq", Rule: habit.Rule{Then: habit.Freq}},
	{name: "ABA", Rule: habit.Rule{Then: habit.ABA}},
	{name: "bigram", Rule: habit.Rule{Then: habit.Bigram}},
	{name: "ngram3", Rule: habit.Rule{Then: habit.Ngram3}},
	{name: "mention", Rule: habit.Rule{Mention: true, Then: habit.ABA}},
	{name: "mention-only", Rule: habit.Rule{Mention: true, Then: habit.None}},
	{name: "mention->ngram3", Rule: habit.Rule{Mention: true, Then: habit.Ngram3}},
	{name: "vocative", Rule: habit.Rule{Address: true, Then: habit.None}},
	{name: "address->ABA", Rule: habit.Rule{Address: true, Then: habit.ABA}},
	{name: "address->ngram3", Rule: habit.Rule{Address: true, Then: habit.Ngram3}},
	{name: "address->experts", Rule: habit.Rule{Address: true, Then: habit.BestRule}},
	{name: "addressee", Rule: habit.Rule{Address: true, Then: habit.ABA}, kind: oracle},
}

// aliases are other spellings of baselines.
var aliases = map[string]string{
	"aba": "ABA", "mention->aba": "mention", "mention->decline": "mention-only", "address": "vocative", "vocative-only": "vocative",
	"address->aba": "address->ABA", "vocative->aba": "address->ABA", "vocative->ngram3": "address->ngram3", "vocative->experts": "address->experts",
	"roundrobin": "round-robin", "addressee->aba": "addressee",
}

// BaselineNames returns the names of all baselines.
func BaselineNames() []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

// FindBaseline returns the name of the baseline that text names. Case, arrows,
// spaces and underscores may be written in any way. It is "" for none.
func FindBaseline(text string) string {
	plain := strings.NewReplacer("→", "->", "_", "-", " ", "", "*", "").Replace(strings.ToLower(text))
	for _, r := range rules {
		if strings.ToLower(r.name) == plain {
			return r.name
		}
	}
	return aliases[plain]
}

func findRule(name string) *rule {
	for i := range rules {
		if rules[i].name == name {
			return &rules[i]
		}
	}
	return nil
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
