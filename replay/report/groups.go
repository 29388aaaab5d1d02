package report

import (
	"fmt"
	"slices"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/score"
)

// A group is some rows of the table of figures that answer one question.
type group struct {
	title string
	note  string // what the figures mean; may be empty
	lines []line
}

// groups returns all figures. Rows and columns without any are left out when a
// table is made of them.
func (r *Report) groups() []group {
	if r.Mode == ModeSimulate {
		return []group{
			{title: "Turns", lines: simulationLines()},
			{title: "Silence", lines: []line{declineLine()}},
			r.airtimeGroup(), r.costGroup(), runGroup(),
		}
	}
	return []group{
		{title: "Agreement", note: "Agreement is not quality: the recorded choice is what happened.", lines: []line{
			figureLine("same choice", "accuracy", percent, false),
			figureLine("mean of transcripts", "macro_accuracy", percent, false),
			figureLine("speaker had spoken", "accuracy_seen", percent, false),
			figureLine("of those not declined", "selective_accuracy", percent, false),
			figureLine("mean reciprocal rank", "mrr", decimal, false),
		}},
		silenceGroup(),
		r.outcomeGroup(),
		{title: "Confidence", note: "Accuracy when only the most confident choices count.", lines: r.riskLines()},
		r.airtimeGroup(), r.costGroup(), runGroup(),
	}
}

func declineLine() line {
	return line{
		name: "declines", recorded: func(r *Report) string { return thousands(r.Recorded.Declines) }, policy: declineCell,
		n: func(r *Report) string { return r.decisionsMeasured("decline_rate") },
	}
}

func (r *Report) airtimeGroup() group {
	return group{title: "Airtime", lines: []line{
		figureLine("top speaker", "top_speaker", percent, true),
		figureLine("gini", "gini", decimal, true),
		figureLine("entropy", "entropy", decimal, true),
		figureLine("addressed but not chosen", "addressed_not_chosen", percent, true),
	}}
}

func (r *Report) costGroup() group {
	return group{title: "Tokens, cost and time", note: "Estimates: a chosen turn takes the prompt that the room would send, and the reply and the latency that the seat had on average.", lines: []line{
		sumLine("prompt tokens", "tokens_a_decision", tokens, func(p *score.Result) int64 { return p.Tokens }),
		sumLine("completion tokens", "", tokens, func(p *score.Result) int64 { return p.Completion }),
		sumLine("cost of prompts", "tokens_a_decision", money, func(p *score.Result) int64 { return p.Cost }),
		sumLine("cost of completions", "", money, func(p *score.Result) int64 { return p.ReplyCost }),
		sumLine("time of turns", "", seconds, func(p *score.Result) int64 { return p.TurnMS }),
		{name: "decision p50 / p99", policy: func(_ *Report, p *score.Result) string {
			if p.P50.IsNone() {
				return missing
			}
			return fmt.Sprintf("%.3f / %.3f ms", float64(p.P50), float64(p.P99))
		}},
	}}
}

func runGroup() group {
	return group{title: "How the policies ran", lines: []line{
		{name: "repeated, same bytes", policy: repeatedCell},
		{
			name: "errors", recorded: func(r *Report) string { return thousands(r.Recorded.Errors) },
			policy: func(_ *Report, p *score.Result) string { return thousands(p.Errors) },
		},
		{name: "sandbox", policy: func(_ *Report, p *score.Result) string {
			if p.Reference {
				return notSandboxed
			}
			return "yes"
		}},
	}}
}

// figureTables returns the tables of all groups that have a figure.
func (r *Report) figureTables() []Table {
	var all []Table
	for _, g := range r.groups() {
		if t := r.groupTable(g); len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	if t := r.outcomeTable(); len(t.Rows) > 0 {
		all = append(all, t)
	}
	return all
}

// groupTable has a row for each figure and a column for each policy. Rows and
// columns without any figure are left out, and other cells without one are empty.
func (r *Report) groupTable(g group) Table {
	t := Table{Title: g.title, Note: g.note, Head: []string{"figure", "n", score.RecordedName}}
	for i := range r.Policies {
		t.Head = append(t.Head, term.Line(r.Policies[i].Policy))
	}
	for _, l := range g.lines {
		row := []string{l.name, "", missing}
		if l.n != nil {
			row[1] = l.n(r)
		}
		if l.recorded != nil {
			row[2] = l.recorded(r)
		}
		known := false
		for i := range r.Policies {
			row = append(row, l.policy(r, &r.Policies[i]))
			known = known || row[len(row)-1] != missing
		}
		if known {
			t.Rows = append(t.Rows, row)
		}
	}
	t.dropEmpty()
	return t
}

// dropEmpty empties the cells without a figure, and leaves out the columns of n
// and of the recorded decisions that have none.
func (t *Table) dropEmpty() {
	for _, row := range t.Rows {
		for i := range row {
			if row[i] == missing {
				row[i] = ""
			}
		}
	}
	for column := 2; column >= 1; column-- {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[column] != "" }) {
			t.Head = slices.Delete(t.Head, column, column+1)
			for i := range t.Rows {
				t.Rows[i] = slices.Delete(t.Rows[i], column, column+1)
			}
		}
	}
}

// spendingTable has the price and the recorded turns of each participant.
func (r *Report) spendingTable() Table {
	t := Table{Title: "Price and time by participant", Head: []string{"participant", "turns", "completion tokens a turn"}}
	priced := slices.ContainsFunc(r.Seats, func(s score.SeatSpending) bool { return s.PriceInput > 0 || s.PriceOutput > 0 })
	timed := slices.ContainsFunc(r.Seats, func(s score.SeatSpending) bool { return s.Timed > 0 })
	if priced {
		t.Head = append(t.Head, "price in", "price out")
		t.Note = "Prices are for a million tokens."
	}
	if timed {
		t.Head = append(t.Head, "seconds a turn")
	}
	for _, s := range r.Seats {
		estimated := "~"
		if s.Stated == s.Turns {
			estimated = ""
		}
		row := []string{term.Line(s.Participant), thousands(s.Turns), estimated + thousands(int(s.Completion)/max(1, s.Turns))}
		if priced {
			row = append(row, fmt.Sprintf("%.2f", float64(s.PriceInput)/1e6), fmt.Sprintf("%.2f", float64(s.PriceOutput)/1e6))
		}
		if timed {
			cell := ""
			if s.Timed > 0 {
				cell = fmt.Sprintf("%.1f", float64(s.LatencyMS)/1e3/float64(s.Timed))
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
