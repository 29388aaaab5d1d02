package waste

import (
	"cmp"
	"math"
	"slices"
)

// Version is the version of the JSON form of reports. Fields are added, never renamed.
const Version = 1

// A Report is the account of runs. Tokens are those of texts; prompts are the tokens
// that models read. A share is null where there is nothing to measure.
type Report struct {
	Version        int     `json:"moot_waste"`
	Runs           int64   `json:"runs"`
	Failed         int64   `json:"failed"`    // runs whose outcome is known and bad
	Succeeded      int64   `json:"succeeded"` // runs whose outcome is known and good
	Labelled       int64   `json:"labelled"`  // runs with a labelled error
	Turns          int64   `json:"turns"`
	Tokens         int64   `json:"tokens"`
	Prompts        int64   `json:"prompts"`
	EstimatedTurns int64   `json:"estimated_turns"` // turns whose tokens the source does not state: bytes/4
	Calls          int64   `json:"calls"`           // turns with a prompt
	EstimatedCalls int64   `json:"estimated_calls"` // of these, those whose prompt is estimated: all texts before
	Waste          Part    `json:"waste"`
	Kinds          []Row   `json:"kinds"` // in the order of Kinds
	Groups         []Group `json:"groups"`
	Guard          *Guard  `json:"guard,omitempty"`
	Gates          []Gate  `json:"gates,omitempty"`
	Partial        bool    `json:"partial,omitempty"` // the account was interrupted
}

// A Part is a part of the turns and their tokens.
type Part struct {
	Turns          int64 `json:"turns"`
	ShareOfTurns   Share `json:"share_of_turns"`
	Tokens         int64 `json:"tokens"`
	Share          Share `json:"share"` // of the tokens
	Prompts        int64 `json:"prompts"`
	ShareOfPrompts Share `json:"share_of_prompts"`
}

// A Row is a kind of waste: the turns that count as it.
type Row struct {
	Kind Kind `json:"kind"`
	Part
	OfKind   Part      `json:"of_kind"` // also the turns that count as an earlier kind
	Examples []Example `json:"examples"`
}

// An Example is a turn of a kind. Of a labelled error it is the turn with the error.
type Example struct {
	Run     string `json:"run"`
	File    string `json:"file,omitempty"`
	Turn    int    `json:"turn"` // index, from 0
	Speaker string `json:"speaker"`
	Text    string `json:"text"` // its beginning
	Tokens  int64  `json:"tokens"`
	Like    int    `json:"like"`             // index of the turn that it repeats, or -1
	Follow  int64  `json:"follow,omitempty"` // turns after a labelled error
	Last    int    `json:"last,omitempty"`   // turns from this one to the end of a conversation
}

// A Group is the account of the runs of one folder or file. AfterError is a part of
// the runs with a label.
type Group struct {
	Group      string `json:"group"`
	Runs       int64  `json:"runs"`
	Failed     int64  `json:"failed"`
	Succeeded  int64  `json:"succeeded"`
	Labelled   int64  `json:"labelled"`
	Turns      int64  `json:"turns"`
	Tokens     int64  `json:"tokens"`
	Prompts    int64  `json:"prompts"`
	Waste      Part   `json:"waste"`
	AfterError Part   `json:"after_error"`
}

// A Guard is what a policy that ends runs would have done.
type Guard struct {
	Policy      string `json:"policy"`
	Runs        int64  `json:"runs"`
	Stopped     int64  `json:"stopped"`      // runs that would have ended earlier
	Early       int64  `json:"before_error"` // of these, those that would have ended before their labelled error
	Good        int64  `json:"good"`         // runs that have succeeded
	GoodStopped int64  `json:"good_stopped"` // of these, how many would have ended earlier: false alarms
	Part               // the turns that would have been saved

	TrainedOn string `json:"trained_on,omitempty"` // data in which the figures of the policy are too good
}

// A Share is a ratio with four decimals. NaN is null in JSON.
type Share float64

// MarshalJSON implements json.Marshaler.
func (s Share) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(s)) {
		return []byte("null"), nil
	}
	return appendRounded(nil, float64(s)), nil
}

// shareOf returns part/whole, NaN for an empty whole.
func shareOf(part, whole int64) Share {
	if whole == 0 {
		return Share(math.NaN())
	}
	return Share(float64(part) / float64(whole))
}

// partOf returns s as a part of whole.
func (s *sums) partOf(whole *sums) Part {
	return Part{
		s.turns, shareOf(s.turns, whole.turns), s.tokens, shareOf(s.tokens, whole.tokens), s.prompts, shareOf(s.prompts, whole.prompts),
	}
}

// Report returns the account so far.
func (a *Account) Report() *Report {
	t := &a.total
	r := &Report{
		Version: Version, Runs: t.runs, Turns: t.turns, Tokens: t.tokens, Prompts: t.prompts,
		EstimatedTurns: t.estimated, Calls: t.prompted, EstimatedCalls: t.promptsEstimated, Groups: []Group{},
	}
	var waste sums
	for i, k := range Kinds() {
		s := &a.kinds[i]
		row := Row{Kind: k, Part: s.partOf(t), OfKind: s.of.partOf(t), Examples: append([]Example{}, s.examples...)}
		waste.tokens += s.tokens
		waste.prompts += s.prompts
		if k != ResentContext {
			waste.turns += s.turns
		}
		r.Kinds = append(r.Kinds, row)
	}
	r.Waste = waste.partOf(t)
	for _, g := range a.groups {
		r.Failed, r.Succeeded, r.Labelled = r.Failed+g.failed, r.Succeeded+g.succeeded, r.Labelled+g.labelled.runs
		r.Groups = append(r.Groups, g.report())
	}
	if r.Labelled == 0 { // nothing was measured
		nothing, row := sums{}, &r.Kinds[AfterError.place()]
		row.Part, row.OfKind = nothing.partOf(&nothing), nothing.partOf(&nothing)
	}
	if a.Guard != "" {
		g := &a.guard
		r.Guard = &Guard{a.Guard, t.runs, g.stopped, g.early, g.good, g.goodStopped, g.partOf(t), a.TrainedOn}
	}
	return r
}

func (g *groupSums) report() Group {
	return Group{
		g.name, g.total.runs, g.failed, g.succeeded, g.labelled.runs, g.total.turns, g.total.tokens, g.total.prompts,
		g.waste.partOf(&g.total), g.after.partOf(&g.labelled),
	}
}

// maxExamples is how many examples of a kind are kept.
const maxExamples = 3

// offer keeps an example if it is one of those with the most tokens, at most one of a
// run. Of two with the same number the earlier one comes first.
func (k *kindSums) offer(x Example) {
	if i := slices.IndexFunc(k.examples, func(y Example) bool { return y.Run == x.Run && y.File == x.File }); i >= 0 {
		if k.examples[i].Tokens >= x.Tokens {
			return
		}
		k.examples = slices.Delete(k.examples, i, i+1)
	}
	k.examples = append(k.examples, x)
	slices.SortStableFunc(k.examples, func(a, b Example) int { return cmp.Compare(b.Tokens, a.Tokens) })
	k.examples = k.examples[:min(len(k.examples), maxExamples)]
}
