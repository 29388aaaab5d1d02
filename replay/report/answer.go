package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/score"
)

// A tone says whether a difference is good. Forms show it in color and in words.
type tone string

const (
	better  tone = "better"
	worse   tone = "worse"
	neutral tone = "neutral" // neither is better
	chance  tone = "chance"  // the difference may be chance
)

// An answer is what the first screen says about one policy.
type answer struct {
	Policy   string
	Label    string // such as "closest to what happened"; may be empty
	Best     bool
	Big      string // the main figure
	Unit     string // its meaning
	Range    string // its interval in words, or why there is none
	Bar      rangeBar
	Sentence string
	Sure     string // about its surest decisions; may be empty
	Remarks  []remark
}

// A remark is one difference from another policy.
type remark struct {
	Tone tone
	Text string // begins with the word of the tone
}

// Class is the tone of v in HTML.
func (v remark) Class() string { return string(v.Tone) }

// Sign is a mark that shows the tone without a color.
func (v remark) Sign() string { return signs[v.Tone] }

var signs = map[tone]string{better: "▲", worse: "▼", neutral: "•", chance: "≈"}

// A rangeBar is a figure with its interval, in percent of the width.
type rangeBar struct {
	Shown, HasRange bool
	At, From, Width float64
	Other           float64 // the same figure of the policy compared with; negative for none
	OtherName       string
	Label           string
}

// answers returns an answer for each policy.
func (r *Report) answers() []answer {
	all := make([]answer, len(r.Policies))
	for i := range all {
		all[i] = r.answer(i)
	}
	return all
}

func (r *Report) answer(i int) answer {
	p := &r.Policies[i]
	a := answer{Policy: term.Line(p.Policy)}
	other := r.opponent(i)
	a.Remarks = r.remarks(i, other)
	if r.Mode == ModeSimulate {
		a.Sentence, a.Unit = r.simulatedSentence(p), "of the recorded lines posted"
		a.Big = wholePercent(score.Ratio(float64(p.Run.Said), float64(p.Run.Said+p.Run.Unspoken)))
		return a
	}
	a.Big, a.Unit = wholePercent(float64(p.Accuracy)), "same choice as recorded"
	a.Best = len(r.Policies) > 1 && r.closest() == i
	if a.Best {
		a.Label = "closest to what happened"
		if d, ok := r.between(i, other, "accuracy"); !ok || !d.significant {
			a.Label += ", maybe by chance"
		}
	}
	a.Bar = r.rangeBar(p, other)
	interval := p.Intervals["accuracy"]
	switch {
	case p.Accuracy.IsNone():
		a.Big, a.Unit = "", "nothing to measure"
	case a.Bar.HasRange:
		a.Range = fmt.Sprintf("%.0f to %.0f", 100*float64(interval[0]), 100*float64(interval[1]))
	default:
		a.Range = "no interval: " + count(r.Conversations, "transcript")
	}
	a.Sentence = r.sentence(i, other)
	if half := p.Risk.At(50); !half.IsNone() {
		a.Sure = fmt.Sprintf("The surer half of its choices is right %s of the time.", wholePercent(float64(half)))
	}
	return a
}

// opponent is the policy that policy i is compared with in words: the first one
// or, for the first, the best of the others. It is -1 for none.
func (r *Report) opponent(i int) int {
	if i > 0 {
		return 0
	}
	best := -1
	for k := 1; k < len(r.Policies); k++ {
		if best < 0 || r.Policies[best].Accuracy.IsNone() || r.Policies[k].Accuracy > r.Policies[best].Accuracy {
			best = k
		}
	}
	return best
}

// closest is the policy with the highest accuracy, -1 for none.
func (r *Report) closest() int {
	best := -1
	for i := range r.Policies {
		if f := r.Policies[i].Accuracy; !f.IsNone() && (best < 0 || f > r.Policies[best].Accuracy) {
			best = i
		}
	}
	return best
}

// sentence says in one sentence how a policy did.
func (r *Report) sentence(i, other int) string {
	p := &r.Policies[i]
	if p.Unmeasured != "" {
		return p.Unmeasured
	}
	agrees := "agrees " + wholePercent(float64(p.Accuracy)) + " of the time"
	if other >= 0 && !r.Policies[other].Accuracy.IsNone() {
		agrees += fmt.Sprintf(", %s %s", shortName(r.Policies[other].Policy), wholePercent(float64(r.Policies[other].Accuracy)))
	}
	parts := []string{agrees, "silent " + wholePercent(float64(p.DeclineRate))}
	parts = append(parts, r.tokenPhrase(p)...)
	if !p.AddressedNotChosen.IsNone() {
		parts = append(parts, "overlooks "+wholePercent(float64(p.AddressedNotChosen))+" of those addressed")
	}
	if p.Errors > 0 {
		parts = append(parts, count(p.Errors, "error"))
	}
	return strings.Join(parts, "; ")
}

func (r *Report) simulatedSentence(p *score.Result) string {
	if p.Unmeasured != "" {
		return p.Unmeasured
	}
	parts := []string{
		count(p.Run.Turns, "turn") + " given, " + thousands(p.Run.Passed) + " of them without a line left",
		"silent " + wholePercent(float64(p.DeclineRate)),
	}
	parts = append(parts, r.tokenPhrase(p)...)
	if !p.TopSpeaker.IsNone() {
		parts = append(parts, "the top speaker has "+wholePercent(float64(p.TopSpeaker))+" of the turns")
	}
	return strings.Join(parts, "; ")
}

// tokenPhrase compares the tokens of prompts with the recorded ones.
func (r *Report) tokenPhrase(p *score.Result) []string {
	if r.Recorded.Tokens == 0 {
		return nil
	}
	more := 100 * float64(p.Tokens-r.Recorded.Tokens) / float64(r.Recorded.Tokens)
	return []string{strings.Replace(signed(int(math.Round(more))), "±", "+", 1) + " % tokens"}
}

// comparedFigures are the figures of remarks and of the forest plot, in order, with the tone of a
// higher value. title is their name in the plot. One without a name is only plotted.
var comparedFigures = []struct {
	key, name, title string
	tone             tone
}{
	{"accuracy", "same choice", "same choice", better},
	{"balanced_accuracy", "speak or silent, balanced", "speak or silent, balanced", better},
	{"addressed_not_chosen", "overlooked of those addressed", "overlooked of those addressed", worse},
	{"tokens_a_decision", "tokens", "tokens, in %", worse}, // a remark has the unit at its number
	{"decline_rate", "silent", "silent", neutral},
	{"top_speaker", "", "share of the top speaker", neutral},
}

// remarks compares policy i with another one, in words.
func (r *Report) remarks(i, other int) []remark {
	if other < 0 {
		return nil
	}
	name := shortName(r.Policies[other].Policy)
	words := map[tone]string{better: "better than " + name, worse: "worse than " + name, neutral: "unlike " + name, chance: "may be chance"}
	var all []remark
	for _, c := range comparedFigures {
		if d, ok := r.between(i, other, c.key); ok && d.value != 0 && c.name != "" {
			t := d.tone(c.tone)
			text := words[t] + ": " + d.text() + " " + c.name
			if p := d.of.PText(); p != "" {
				text += ", " + p
			}
			all = append(all, remark{t, text})
		}
	}
	if len(all) == 0 && len(r.Comparisons) == 0 {
		all = append(all, remark{chance, "may be chance: " + count(r.Conversations, "transcript") + " cannot show a difference from " + name})
	}
	return all
}

// A delta is a difference of one figure between two policies. Its unit is a
// point, or a percent of the tokens of the other policy.
type delta struct {
	value, from, to float64
	tokens          bool
	significant     bool
	of              *score.Comparison
}

func (d delta) unit() string {
	if d.tokens {
		return " %"
	}
	return " points"
}

// tone says whether the difference is good, where higher is the tone of a higher
// value.
func (d delta) tone(higher tone) tone {
	switch {
	case d.value == 0:
		return neutral
	case !d.significant:
		return chance
	case higher == neutral:
		return neutral
	case (d.value > 0) == (higher == better):
		return better
	}
	return worse
}

// text is the difference with its sign and unit.
func (d delta) text() string {
	return signedDecimal(d.value) + d.unit()
}

// hasRange reports whether there is an interval.
func (d delta) hasRange() bool { return !math.IsNaN(d.from) && !math.IsNaN(d.to) }

// between returns a figure of policy i minus that of another, false when the
// report does not compare them.
func (r *Report) between(i, other int, key string) (delta, bool) {
	a, b, sign := other, i, 1.0
	if i == 0 {
		a, b, sign = i, other, -1.0
	}
	for k := range r.Comparisons {
		c := &r.Comparisons[k]
		if c.A != r.Policies[a].Policy || c.B != r.Policies[b].Policy || c.Figure != key {
			continue
		}
		d := delta{of: c, significant: c.Significant(), tokens: key == "tokens_a_decision"}
		unit := 100.0
		if d.tokens {
			base := float64(r.Policies[other].TokensADecision)
			if base == 0 {
				return d, false
			}
			unit = 100 / base
		}
		d.value = sign * unit * float64(c.Difference)
		d.from, d.to = sign*unit*float64(c.Interval[0]), sign*unit*float64(c.Interval[1])
		if d.from > d.to {
			d.from, d.to = d.to, d.from
		}
		return d, true
	}
	return delta{}, false
}

func (r *Report) rangeBar(p *score.Result, other int) rangeBar {
	i := p.Intervals["accuracy"]
	b := rangeBar{Shown: !p.Accuracy.IsNone(), At: points100(p.Accuracy), Other: -1}
	b.Label = wholePercent(float64(p.Accuracy)) + " of the decisions as recorded"
	if other >= 0 && !r.Policies[other].Accuracy.IsNone() {
		b.Other, b.OtherName = points100(r.Policies[other].Accuracy), shortName(r.Policies[other].Policy)
	}
	if _, ok := p.Intervals["accuracy"]; ok && !i[0].IsNone() && !i[1].IsNone() {
		b.HasRange, b.From, b.Width = true, points100(i[0]), points100(i[1]-i[0])
		b.Label += fmt.Sprintf(", 95 %% interval %s to %s", wholePercent(float64(i[0])), wholePercent(float64(i[1])))
	}
	return b
}

// points100 is a share in percent, with one decimal, for a place in a picture.
func points100(f score.Figure) float64 {
	if f.IsNone() {
		return 0
	}
	return math.Round(1000*min(max(float64(f), 0), 1)) / 10
}

// caution says on the first screen what the figures cannot show.
func (r *Report) caution() string {
	s := "Agreement is not quality: the recorded choice is what happened."
	if r.Mode == ModeSimulate {
		s = "The texts are not what would have been said."
	}
	most := 0.0
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Figure == "accuracy" && c.A != score.RecordedName && c.Detectable != nil {
			most = max(most, 100*float64(*c.Detectable))
		}
	}
	if most > 0 {
		s += fmt.Sprintf(" With %s, a difference of less than %.1f points in the same choice is likely to stay unseen.", count(r.Conversations, "transcript"), most)
	}
	return s
}

// question is the heading of the first screen.
func (r *Report) question() string {
	switch {
	case r.Changes != nil:
		return r.heading()
	case r.Mode == ModeSimulate:
		return "How would the policies have run the rooms?"
	case len(r.Policies) == 1:
		return "Would " + shortName(r.Policies[0].Policy) + " have chosen the same speakers?"
	}
	return "Which policy would have chosen the same speakers?"
}

// A quote is a decision that differs from the recorded one, for the first screen.
type quote struct {
	Policy, Did, Reason string
	Place, Link         string
	From, Text          string // the last message before it
}

// maxQuotes is how many decisions the first screen quotes.
const maxQuotes = 3

// quotes takes examples of all policies in turn: of the first its surest wrong
// choice, of the others one that the first got right, if there are any.
func (r *Report) quotes() []quote {
	var all []quote
	used := map[int]bool{}
	for round := 0; len(all) < maxQuotes && round < maxQuotes; round++ {
		for i := 0; i < len(r.Policies) && len(all) < maxQuotes; i++ {
			if n := r.tellingCase(i, used); n >= 0 && r.Policies[i].Unmeasured == "" {
				used[n] = true
				all = append(all, r.quote(n, i))
			}
		}
	}
	return all
}

// tellingCase is the index of the case that shows most about policy i, -1 for
// none. Short and public messages are quoted rather than long ones.
func (r *Report) tellingCase(i int, used map[int]bool) int {
	best, most := -1, math.Inf(-1)
	for n := range r.Cases {
		c := &r.Cases[n]
		if used[n] || i >= len(c.Choices) || c.Choices[i].Same || c.Choices[i].Choice == "" || len(c.Before) == 0 {
			continue
		}
		value := 0.0
		if f := c.Choices[i].Confidence; !f.IsNone() {
			value += float64(f)
		}
		if i > 0 && c.Choices[0].Same {
			value++
		}
		for seen := range used {
			if r.Cases[seen].Transcript == c.Transcript {
				value--
				if r.Cases[seen].Turn == c.Turn {
					value -= 2
				}
			}
		}
		switch size := len(term.Line(c.Before[len(c.Before)-1].Text)); {
		case size == 0:
			value -= 3
		case size > 160 || strings.Contains(strings.TrimSpace(c.Before[len(c.Before)-1].Text), "\n"):
			value -= 0.5 // such as the output of a program
		}
		if value > most {
			best, most = n, value
		}
	}
	return best
}

func (r *Report) quote(n, i int) quote {
	c := &r.Cases[n]
	last := c.Before[len(c.Before)-1]
	return quote{
		Policy: shortName(r.Policies[i].Policy), Did: did(c.Choices[i].Choice, c.Recorded), Reason: term.Line(c.Choices[i].Reason),
		Place: casePlace(c), Link: caseID(n), From: term.Line(last.From), Text: term.Line(strings.TrimSpace(last.Text)),
	}
}

// did says what a policy would have done instead of what is recorded.
func did(choice, recorded string) string {
	instead := cmp.Or(map[string]string{"decline": "silence", "finish": "the end"}[recorded], term.Line(recorded))
	switch choice {
	case "decline":
		return "would have stayed silent, not asked " + instead
	case "finish":
		return "would have ended the room, not asked " + instead
	case "error":
		return "fails, where the record has " + instead
	}
	return "would have asked " + term.Line(choice) + ", not " + instead
}

// maxName is how many characters of a policy's name a heading shows.
const maxName = 28

// shortName is the name of a policy, without the end of long settings.
func shortName(s string) string {
	if runes := []rune(term.Line(s)); len(runes) > maxName {
		return string(runes[:maxName-1]) + "…"
	}
	return term.Line(s)
}

// wholePercent formats a share in whole percent.
func wholePercent(f float64) string { return formatKnown("%.0f %%", 100*f) }

// signedDecimal formats f with one decimal and its sign. The minus is U+2212.
func signedDecimal(f float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f", f), "-", "−", 1)
}
