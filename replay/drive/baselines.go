package drive

import (
	"math"
	"slices"
	"strings"

	"github.com/folkmoot/moot/replay/history"
)

// A rule is a baseline: a reference rule, written in Go and not sandboxed. The
// candidate with the highest first key wins. Ties go to the highest second key
// and so on, and finally to the candidate that spoke later. Candidates that are
// still equal, as those that never spoke, share their place.
type rule struct {
	name   string
	keys   []key
	strict bool // declines when the first key of every candidate is 0
	kind   kind
}

// A key rates a candidate.
type key func(s *statistics, p *history.Point, c int) float64

type kind int

const (
	byKeys    kind = iota
	random         // draws a candidate, all with the same probability
	ring           // takes turns; in a conversation, which has no order of turns, all candidates share the first place
	byExperts      // follows the expert that was right most often recently
)

// The keys of all baselines.
var (
	nextInRing key = func(_ *statistics, p *history.Point, c int) float64 { return -float64(ringDistance(p, c)) }
	mostTurns  key = func(s *statistics, _ *history.Point, c int) float64 { return float64(s.turns[c]) }
	bigram     key = func(s *statistics, _ *history.Point, c int) float64 { return float64(s.bigrams[[2]int{s.last, c}]) }
	trigram    key = func(s *statistics, _ *history.Point, c int) float64 {
		return float64(s.trigrams[[3]int{s.before, s.last, c}])
	}
	longestSilent key = func(_ *statistics, p *history.Point, c int) float64 { return silence(p, c) }
	addressed     key = func(s *statistics, _ *history.Point, c int) float64 { return indicator(s.addressed == c) }
	mentioned     key = func(s *statistics, p *history.Point, c int) float64 { return s.mentionScore(p, c) }
	labeled       key = func(_ *statistics, p *history.Point, c int) float64 {
		return indicator(slices.Contains(p.History.Labels, c))
	}
)

// rules are all baselines. docs/replay.md describes them.
var rules = []rule{
	{name: "random", kind: random},
	{name: "round-robin", keys: []key{nextInRing}, kind: ring},
	{name: "least-recent", keys: []key{longestSilent}},
	{name: "freq", keys: []key{mostTurns}},
	{name: "ABA", keys: []key{}}, // the tie-break alone: the speaker before the last one
	{name: "bigram", keys: []key{bigram}},
	{name: "ngram3", keys: []key{trigram, bigram}},
	{name: "mention", keys: []key{mentioned}},
	{name: "mention-only", keys: []key{mentioned}, strict: true},
	{name: "mention->ngram3", keys: []key{mentioned, trigram, bigram}},
	{name: "vocative", keys: []key{addressed}, strict: true},
	{name: "address->ABA", keys: []key{addressed}},
	{name: "address->ngram3", keys: []key{addressed, trigram, bigram}},
	{name: "address->experts", kind: byExperts},
	{name: "addressee", keys: []key{labeled}}, // an oracle where the source has labels
}

// expertNames are the rules that address->experts chooses from. Ties go to the
// earlier one.
var expertNames = []string{"ngram3", "ABA", "bigram", "freq", "round-robin", "least-recent"}

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

// ringDistance is how many seats are between the last speaker and c in the ring
// of the seats.
func ringDistance(p *history.Point, c int) int {
	n := len(p.History.Seats)
	return (c - p.Last - 1 + n) % n
}

// silence is higher for a candidate that spoke longer ago.
func silence(p *history.Point, c int) float64 {
	if p.LastSpoke[c] == 0 {
		return math.Inf(1)
	}
	return -float64(p.LastSpoke[c])
}
