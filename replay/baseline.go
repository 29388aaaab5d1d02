package replay

import (
	"math"
	"slices"
	"strings"
)

// A baseline is a reference rule: the candidate with the highest first key
// wins, of equals the one with the highest second key, and so on, and then who
// spoke more recently. It is Go, not a module, and not sandboxed.
type baseline struct {
	name   string
	what   string // in a sentence's words
	keys   []key
	strict bool // declines when nobody has any of the first key
	kind   kind
}

// A key rates a candidate.
type key func(p *point, c int) float64

type kind int

const (
	ranks kind = iota
	draws
	learns
)

// The keys that all baselines are made of.
var (
	turn      key = func(p *point, c int) float64 { return -float64(p.ahead(c)) }
	airtime   key = func(p *point, c int) float64 { return p.habits.count(c) }
	followed  key = func(p *point, c int) float64 { return float64(p.habits.after[[2]int{p.habits.last, c}]) }
	followed2 key = func(p *point, c int) float64 {
		return float64(p.habits.afterTwo[[3]int{p.habits.before, p.habits.last, c}])
	}
	idle      key = func(p *point, c int) float64 { return p.silent(c) }
	firstID   key = func(p *point, c int) float64 { return -float64(p.h.seats[c].rank) }
	addressed key = func(p *point, c int) float64 { return yes(p.habits.to == c) }
	mentioned key = func(p *point, c int) float64 { return p.habits.mention(p, c) }
	labelled  key = func(p *point, c int) float64 { return yes(slices.Contains(p.h.labels, c)) }
)

var baselines = []baseline{
	{name: "random", what: "any candidate, all alike; its agreement is the expectation", kind: draws},
	{name: "round-robin", what: "the next in byte order of ids, as a ring", keys: []key{turn}},
	{name: "least-recent", what: "who has been silent for longest, never spoken first", keys: []key{idle, firstID}},
	{name: "freq", what: "who has spoken most often", keys: []key{airtime}},
	{name: "ABA", what: "who spoke before the last speaker", keys: []key{}},
	{name: "bigram", what: "who has followed the last speaker most often", keys: []key{followed}},
	{name: "ngram3", what: "who has followed the last two speakers most often, then bigram", keys: []key{followed2, followed}},
	{name: "mention", what: "who is named in the last turn, else ABA", keys: []key{mentioned}},
	{name: "mention-only", what: "who is named in the last turn, else nobody", keys: []key{mentioned}, strict: true},
	{name: "mention->ngram3", what: "who is named in the last turn, else ngram3", keys: []key{mentioned, followed2, followed}},
	{name: "vocative", what: "whom the last turn addresses by name, else nobody", keys: []key{addressed}, strict: true},
	{name: "address->ABA", what: "whom the last turn addresses by name, else ABA", keys: []key{addressed}},
	{name: "address->ngram3", what: "whom the last turn addresses by name, else ngram3", keys: []key{addressed, followed2, followed}},
	{name: "address->experts", what: "whom the last turn addresses by name, else the rule that was right most often of late", kind: learns},
	{name: "addressee", what: "whom the source labels as addressed, else ABA: an oracle where there are labels", keys: []key{labelled}},
}

// expertNames are the rules that address->experts chooses from, ties in this
// order.
var expertNames = []string{"ngram3", "ABA", "bigram", "freq", "round-robin", "least-recent"}

// BaselineNames returns the names of all baselines.
func BaselineNames() []string {
	var names []string
	for _, b := range baselines {
		names = append(names, b.name)
	}
	return names
}

// aliases are other spellings of baselines.
var aliases = map[string]string{
	"aba": "ABA", "mention->aba": "mention", "mention->decline": "mention-only", "address": "vocative", "vocative-only": "vocative",
	"address->aba": "address->ABA", "vocative->aba": "address->ABA", "vocative->ngram3": "address->ngram3", "vocative->experts": "address->experts",
	"roundrobin": "round-robin", "addressee->aba": "addressee",
}

// FindBaseline returns the name of the baseline that text means; arrows,
// underscores and case may be written in any way. It is "" for none.
func FindBaseline(text string) string {
	plain := strings.NewReplacer("→", "->", "_", "-", " ", "", "*", "").Replace(strings.ToLower(text))
	for _, b := range baselines {
		if strings.ToLower(b.name) == plain {
			return b.name
		}
	}
	return aliases[plain]
}

func baselineOf(name string) *baseline {
	for i := range baselines {
		if baselines[i].name == name {
			return &baselines[i]
		}
	}
	return nil
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// ahead is how many places after the last speaker c comes in byte order.
func (p *point) ahead(c int) int {
	n, last := len(p.h.seats), -1
	if p.last >= 0 {
		last = p.h.seats[p.last].rank
	}
	return (p.h.seats[c].rank - last + n) % n
}

// silent is higher for who spoke longer ago.
func (p *point) silent(c int) float64 {
	if p.when[c] == 0 {
		return math.Inf(1)
	}
	return -float64(p.when[c])
}

func (k *habits) count(c int) float64 {
	if c < len(k.turns) {
		return float64(k.turns[c])
	}
	return 0
}
