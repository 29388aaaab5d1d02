package score

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
)

// Bounds of the decisions that a report keeps for reading.
const (
	maxKinds   = 30
	keptCases  = 300 // about; a decision may be of several kinds
	minOfKind  = 8   // decisions that are kept of a kind at least
	sureChoice = 0.8 // confidence from which on a policy is sure
)

// A Kind is a set of decisions to read: those that policy Right made as recorded
// and policy Wrong did not. Without Right it is all that Wrong did not, or, with
// Sure, those of them in which it stated a confidence of 0.8 or more.
type Kind struct {
	Right     string `json:"right,omitempty"`
	Wrong     string `json:"wrong"`
	Sure      bool   `json:"sure,omitempty"`
	Decisions int    `json:"decisions"` // of that kind
	Kept      int    `json:"kept"`      // of them, among the cases
}

// A Case is one decision with the messages that led to it.
type Case struct {
	Transcript string            `json:"transcript"`
	Point      int               `json:"point"` // number of the decision point, from 1
	Turn       int               `json:"turn"`  // that was decided about
	Seq        int64             `json:"seq,omitempty"`
	Before     []history.Excerpt `json:"before"`
	Recorded   string            `json:"recorded"`
	Choices    []CaseChoice      `json:"choices"` // by policy
	Kinds      []int             `json:"kinds"`   // indexes of the kinds, ascending

	place int // of the transcript among all
}

// A CaseChoice is the decision of one policy.
type CaseChoice struct {
	Choice     string `json:"choice"`
	Same       bool   `json:"same"` // as recorded
	Confidence Figure `json:"confidence"`
	Reason     string `json:"reason,omitempty"`
}

// A kindRule tells the decisions of a kind. right is -1 for none.
type kindRule struct {
	right, wrong int
	sure         bool
}

func (k kindRule) includes(truth history.Choice, all []drive.Evaluation) bool {
	switch e := &all[k.wrong]; {
	case e.Choice == truth:
		return false
	case k.sure:
		return e.Choice.Speaks() && e.Confidence >= sureChoice
	}
	return k.right < 0 || all[k.right].Choice == truth
}

// kindRules returns the kinds for n policies. Those with the first policy come
// first, because others are left out beyond the bound.
func kindRules(n int) []kindRule {
	var all []kindRule
	for i := range n {
		all = append(all, kindRule{-1, i, true}, kindRule{-1, i, false})
	}
	for j := 1; j < n; j++ {
		for i := range j {
			all = append(all, kindRule{i, j, false}, kindRule{j, i, false})
		}
	}
	return all[:min(len(all), maxKinds)]
}

// cases keeps some decisions of each kind: a sample by the order of a hash
// (bottom-k sampling, Cohen and Kaplan, 2007), which does not depend on the
// order in which transcripts are replayed. Of the sure ones it keeps the surest.
// It may be used by several goroutines.
type cases struct {
	mu    sync.Mutex
	kinds []kindRule
	found []int         // decisions by kind
	kept  [][]rankedOne // by kind, the lowest ranks, ascending
	limit int           // of each list of kept
}

// A rankedOne is a case with its place in the order of a kind.
type rankedOne struct {
	rank float64
	of   *Case
}

func newCases(policies int) *cases {
	rules := kindRules(policies)
	return &cases{kinds: rules, found: make([]int, len(rules)), kept: make([][]rankedOne, len(rules)), limit: max(minOfKind, keptCases/max(1, len(rules)))}
}

// addPoint counts the decisions at p and keeps them if they are wanted.
func (c *cases) addPoint(place int, p *history.Point, all []drive.Evaluation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var made *Case
	var included []int
	for i, rule := range c.kinds {
		if rule.includes(p.Truth, all) {
			c.found[i]++
			included = append(included, i)
		}
	}
	for _, i := range included {
		rule, rank := c.kinds[i], hashOf(place, p.N)
		if rule.sure {
			rank -= math.Round(1e4 * all[rule.wrong].Confidence) // hash is below 1
		}
		list := c.kept[i]
		if len(list) == c.limit && rank >= list[len(list)-1].rank {
			continue
		}
		if made == nil {
			made = newCase(place, p, all)
			made.Kinds = included // of all rules, until Cases
		}
		at, _ := slices.BinarySearchFunc(list, rank, func(x rankedOne, r float64) int { return cmp.Compare(x.rank, r) })
		list = slices.Insert(list, at, rankedOne{rank, made})
		c.kept[i] = list[:min(len(list), c.limit)]
	}
}

// drop drops the kinds that a policy belongs to.
func (c *cases) drop(policy int) {
	for i, rule := range c.kinds {
		if rule.wrong == policy || rule.right == policy {
			c.found[i], c.kept[i] = 0, nil
		}
	}
}

// hashOf is a number from 0 up to 1 that looks random (the finalizer of
// SplitMix64, Steele et al., 2014).
func hashOf(place, point int) float64 {
	x := uint64(place)<<32 + uint64(point)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}

func newCase(place int, p *history.Point, all []drive.Evaluation) *Case {
	h := p.History
	c := &Case{Transcript: h.Name, Point: p.N, Turn: p.State.Tally.Turns + 1, Before: p.Excerpts(), Recorded: h.NameOf(p.Truth), place: place}
	if !h.Conversation() {
		c.Seq = p.Event.Seq
	}
	for i := range all {
		e := &all[i]
		x := CaseChoice{Choice: h.NameOf(e.Choice), Same: e.Choice == p.Truth, Confidence: None(), Reason: e.Reason()}
		if e.Confidence >= 0 && e.Err == nil {
			x.Confidence = Figure(e.Confidence)
		}
		c.Choices = append(c.Choices, x)
	}
	return c
}

// Cases returns the kinds that have decisions, and the kept decisions in the
// order of the transcripts. A simulation has none. It may be called once.
func (b *Batch) Cases() ([]Kind, []Case) {
	c, kinds, index := b.cases, []Kind{}, map[int]int{}
	all := map[*Case]bool{}
	for i, rule := range c.kinds {
		for _, x := range c.kept[i] {
			all[x.of] = true
		}
		if c.found[i] == 0 {
			continue
		}
		k := Kind{Wrong: b.Policies[rule.wrong].Name, Sure: rule.sure, Decisions: c.found[i]}
		if rule.right >= 0 {
			k.Right = b.Policies[rule.right].Name
		}
		index[i] = len(kinds)
		kinds = append(kinds, k)
	}
	list := make([]Case, 0, len(all))
	for x := range all {
		x.Kinds = slices.DeleteFunc(x.Kinds, func(rule int) bool { return c.found[rule] == 0 })
		for i, rule := range x.Kinds {
			x.Kinds[i] = index[rule]
			kinds[index[rule]].Kept++
		}
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b Case) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.Point, b.Point)) })
	return kinds, list
}
