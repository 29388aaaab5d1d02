package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/score"
)

// Bounds of the filters. The style has a rule for each.
const (
	maxKindFilters    = 30
	maxSpeakerFilters = 24
)

// A browser lists decisions to read, with filters by kind and by speaker.
type browser struct {
	Kinds, Speakers []filter
	Cases           []caseView
	Note            string
}

// A filter is one choice of a list.
type filter struct{ ID, Text, Count string }

// A caseView is one decision with what led to it and why.
type caseView struct {
	ID, Class, Place, Recorded, Show string
	Choices                          []choiceView
	Before                           []messageView
}

type choiceView struct {
	Policy, Choice, Reason, Confidence string
	Same                               bool
}

type messageView struct{ From, Text string }

func caseID(n int) string { return fmt.Sprintf("case-%d", n+1) }

// browser is nil for a report without cases, as of a simulation.
func (r *Report) browser() *browser {
	if len(r.Cases) == 0 {
		return nil
	}
	b := &browser{Note: fmt.Sprintf("%s of %s decisions are kept here: of each kind all, or a sample without regard to their content; of the sure ones the surest.",
		thousands(len(r.Cases)), thousands(r.Decisions))}
	for i, k := range r.Kinds[:min(len(r.Kinds), maxKindFilters)] {
		text := shortName(k.Wrong) + " other than recorded"
		switch {
		case k.Right != "":
			text = shortName(k.Right) + " as recorded, " + shortName(k.Wrong) + " not"
		case k.Sure:
			text = shortName(k.Wrong) + " sure (80 % or more) and other than recorded"
		}
		n := thousands(k.Decisions)
		if k.Kept < k.Decisions {
			n = fmt.Sprintf("%s of %s", thousands(k.Kept), n)
		}
		b.Kinds = append(b.Kinds, filter{fmt.Sprintf("k%d", i), text, n})
	}
	speakers := r.speakers()
	for i, s := range speakers {
		b.Speakers = append(b.Speakers, filter{fmt.Sprintf("s%d", i), choiceText(s.name), thousands(s.cases)})
	}
	for i := range r.Cases {
		b.Cases = append(b.Cases, r.caseView(i, speakers))
	}
	return b
}

// A speaker is a participant that some cases are about.
type speaker struct {
	name  string
	cases int
}

// speakers returns those of the most cases, as recorded or as chosen.
func (r *Report) speakers() []speaker {
	counts := map[string]int{}
	for i := range r.Cases {
		for _, name := range caseNames(&r.Cases[i]) {
			counts[name]++
		}
	}
	all := make([]speaker, 0, len(counts))
	for name, n := range counts {
		all = append(all, speaker{name, n})
	}
	slices.SortFunc(all, func(a, b speaker) int { return cmp.Or(cmp.Compare(b.cases, a.cases), cmp.Compare(a.name, b.name)) })
	return all[:min(len(all), maxSpeakerFilters)]
}

func (r *Report) caseView(n int, speakers []speaker) caseView {
	c := &r.Cases[n]
	v := caseView{ID: caseID(n), Class: "case", Place: casePlace(c), Recorded: choiceText(c.Recorded), Show: showCommand(c)}
	for _, k := range c.Kinds {
		if k >= 0 && k < maxKindFilters {
			v.Class += fmt.Sprintf(" k%d", k)
		}
	}
	names := caseNames(c)
	for i, s := range speakers {
		if slices.Contains(names, s.name) {
			v.Class += fmt.Sprintf(" s%d", i)
		}
	}
	for i, x := range c.Choices {
		if i < len(r.Policies) && x.Choice != "" {
			y := choiceView{Policy: shortName(r.Policies[i].Policy), Choice: choiceText(x.Choice), Reason: term.Line(x.Reason), Same: x.Same}
			if !x.Confidence.IsNone() {
				y.Confidence = wholePercent(float64(x.Confidence))
			}
			v.Choices = append(v.Choices, y)
		}
	}
	for _, e := range c.Before {
		text := cmp.Or(strings.TrimSpace(term.Strip(e.Text)), "(withheld or empty)")
		v.Before = append(v.Before, messageView{term.Line(e.From), text})
	}
	return v
}

// caseNames are the participants that a case is about: recorded and chosen.
func caseNames(c *score.Case) []string {
	names := []string{c.Recorded}
	for _, x := range c.Choices {
		if x.Choice != "" && x.Choice != "error" && !slices.Contains(names, x.Choice) {
			names = append(names, x.Choice)
		}
	}
	return names
}

// choiceText names a choice in a sentence.
func choiceText(s string) string {
	switch s {
	case "decline":
		return "silence"
	case "finish":
		return "the end"
	}
	return term.Line(s)
}

func casePlace(c *score.Case) string {
	return fmt.Sprintf("%s, turn %s", term.Line(c.Transcript), thousands(c.Turn))
}

// showCommand shows the decision in full. TRANSCRIPTS stands for the file, which
// a report does not know.
func showCommand(c *score.Case) string {
	name := strings.ReplaceAll(term.Line(c.Transcript), "'", `'\''`)
	if c.Seq > 0 {
		return fmt.Sprintf("moot replay show '%s#%d' --policy NAME", name, c.Seq)
	}
	return fmt.Sprintf("moot replay show 'FILE#%d' --conversation '%s' --policy NAME", c.Point, name)
}

// filterStyle has the rules of the filters: a checked one hides the cases that
// lack its class.
func filterStyle() string {
	var b strings.Builder
	rule := func(letter string, n int) {
		for i := range n {
			fmt.Fprintf(&b, ".browse:has(#%[1]s%[2]d:checked) .case:not(.%[1]s%[2]d) { display: none; }\n", letter, i)
		}
	}
	rule("k", maxKindFilters)
	rule("s", maxSpeakerFilters)
	return b.String()
}

// A confusionView is the table of one policy: whom it chooses instead of whom.
type confusionView struct {
	Policy string
	Rows   []confusionLine
	Rest   string
}

type confusionLine struct {
	Recorded, Decisions, Same string
	Share                     float64
	Instead                   []string
}

func (r *Report) confusions() []confusionView {
	var all []confusionView
	for _, c := range r.Confusion {
		if len(c.Rows) == 0 { // nothing was measured
			continue
		}
		v := confusionView{Policy: term.Line(c.Policy)}
		for _, row := range c.Rows {
			share := score.Ratio(float64(row.Same), float64(row.Decisions))
			l := confusionLine{Recorded: choiceText(row.Recorded), Decisions: thousands(row.Decisions), Same: wholePercent(share), Share: points100(score.Figure(share))}
			for _, x := range row.Instead {
				l.Instead = append(l.Instead, choiceText(x.Chosen)+" "+thousands(x.Count))
			}
			v.Rows = append(v.Rows, l)
		}
		if c.Rest > 0 {
			v.Rest = count(c.Rest, "decision") + " about other participants are left out."
		}
		all = append(all, v)
	}
	return all
}
