package page

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/waste"
)

// A table is a part of a report. Its cells are plain text in one line.
type table struct {
	Title string
	Head  []string
	Rows  [][]string
	Break int // the columns from it on stay together where not all fit; 0 if none do
}

// kindTable has a row for each kind, one for the waste and one for everything.
func (v view) kindTable() table {
	t := table{Title: "Waste by kind", Head: []string{"kind", "turns", "tokens", "share", "prompts", "share"}}
	for i := range v.Kinds {
		r := &v.Kinds[i]
		row := v.row(titles[r.Kind], &r.Part)
		if r.Kind == waste.ResentContext {
			row[1], row[2], row[3] = "", "", ""
		}
		if r.Kind == waste.AfterError && v.Labelled == 0 {
			row = []string{row[0], "no labels", "", "", "", ""}
		}
		t.Rows = append(t.Rows, row)
	}
	all := waste.Part{Turns: v.Turns, Tokens: v.Tokens, Share: 1, Prompts: v.Prompts, ShareOfPrompts: 1}
	t.Rows = append(t.Rows, v.row("waste", &v.Waste), v.row("everything", &all))
	if v.Prompts == 0 {
		t.Head = t.Head[:4]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][:4]
		}
		t.Rows = append(t.Rows[:len(v.Kinds)-1], t.Rows[len(v.Kinds):]...)
	}
	return t
}

func (v view) row(title string, p *waste.Part) []string {
	return []string{title, thousands(p.Turns), v.tokens(p.Tokens), percent(p.Share), v.prompts(p.Prompts), percent(p.ShareOfPrompts)}
}

// groupTable has a row for each group of runs, at most so many: those with the most
// tokens. It has none if it would say nothing more than the other table.
func (v view) groupTable(most int) table {
	t := table{Title: "Runs by group", Head: []string{"group", "runs"}}
	labels, outcomes := v.Labelled > 0, v.Failed+v.Succeeded > 0
	if outcomes {
		t.Head = append(t.Head, "succeeded", "failed")
	}
	t.Head = append(t.Head, "turns", "tokens", "waste")
	if labels {
		t.Break = len(t.Head)
		t.Head = append(t.Head, "turns after the error", "share", "of tokens")
	}
	if len(v.Groups) < 2 && !labels && !outcomes {
		return t
	}
	groups := slices.SortedStableFunc(slices.Values(v.Groups), func(a, b waste.Group) int { return cmp.Compare(b.Tokens, a.Tokens) })
	for _, g := range groups[:min(most, len(groups))] {
		row := []string{term.Line(g.Group), thousands(g.Runs)}
		if outcomes {
			row = append(row, thousands(g.Succeeded), thousands(g.Failed))
		}
		row = append(row, thousands(g.Turns), v.tokens(g.Tokens), percent(g.Waste.Share))
		if labels {
			row = append(row, thousands(g.AfterError.Turns), percent(g.AfterError.ShareOfTurns), percent(g.AfterError.Share))
		}
		t.Rows = append(t.Rows, row)
	}
	if n := len(groups) - most; n > 0 {
		t.Title += fmt.Sprintf(", the %d largest of %d", most, len(groups))
	}
	return t
}

// gateTable has a row for each condition.
func (v view) gateTable() table {
	t := table{Title: "Gates", Head: []string{"condition", "observed", "result"}}
	for _, g := range v.Gates {
		result := "passed"
		if !g.Passed {
			result = "failed"
		}
		t.Rows = append(t.Rows, []string{term.Line(g.Gate), number(g.Observed), result})
	}
	return t
}

func number(s waste.Share) string {
	if s != s {
		return "nothing to measure"
	}
	return fmt.Sprintf("%.4g", float64(s))
}
