package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/folkmoot/moot/internal/term"
)

var (
	//go:embed report.css
	reportCSS string
	//go:embed report.html
	reportHTML string
	//go:embed parts.html
	partsHTML string

	pageStyle    = reportCSS + filterStyle()
	pageTemplate = template.Must(template.Must(template.New("report").Parse(partsHTML)).Parse(reportHTML))
)

// ContentPolicy is the Content-Security-Policy of the HTML page: its own style and
// nothing else.
func ContentPolicy() string {
	return "default-src 'none'; style-src '" + styleHash() + "'; base-uri 'none'; form-action 'none'"
}

func styleHash() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// WriteHTML writes the report as one HTML page that needs no network: it
// contains its style, runs no script and loads nothing. Every chart has its
// table. A report that was read gives the same page as before.
func (r *Report) WriteHTML(w io.Writer) error {
	out := bufio.NewWriter(w)
	if err := pageTemplate.Execute(out, r.page()); err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	return out.Flush()
}

// A page is the data of the template. Its texts have no control or
// bidirectional characters; the template escapes them.
type page struct {
	Heading, Question, Summary, Points, More string
	Caution                                  string
	Notes, Warnings                          []string
	Answers                                  []answer
	Quotes                                   []quote
	Forest                                   *forest
	Figures                                  []Table
	Differences, Changes                     Table
	Endings, Flips, AirtimeTable, TokenTable Table
	RiskTable, Calibration                   Table
	TimeTable, Windows, Settings, Spending   Table
	Gates                                    []Gate
	Airtime                                  airtimeChart
	Tokens                                   curveChart
	Risk                                     *curveChart
	Reasons                                  []reasonChart
	Agreement                                matrix
	Times                                    []histogram
	Browser                                  *browser
	Confusions                               []confusionView
	Strips                                   []stripChart
	Style                                    template.CSS
	StyleHash                                string
	Resamples                                int
	Simulated                                bool
}

func (r *Report) page() *page {
	p := &page{
		Heading: r.heading(), Question: r.question(), Caution: r.caution(), Summary: r.summary(), Points: r.scope(), Notes: r.Notes, Gates: r.Gates, Resamples: r.Resamples,
		Simulated: r.Mode == ModeSimulate,
		Answers:   r.answers(), Quotes: r.quotes(), Forest: r.forest(), Figures: r.figureTables(), Browser: r.browser(), Confusions: r.confusions(),
		Differences: r.differenceTable(), Endings: r.endingTable(), Flips: r.flipTable(), Calibration: r.calibrationTable(),
		AirtimeTable: r.airtimeTable(), TokenTable: r.tokenTable(), RiskTable: r.riskTable(), TimeTable: r.timeTable(),
		Windows: r.windowTable(len(r.Windows)), Settings: r.settingTable(), Spending: r.spendingTable(),
		Airtime: r.airtimeChart(), Tokens: r.tokenChart(), Risk: r.riskChart(), Reasons: r.reasonCharts(), Times: r.histograms(),
		Style:     template.CSS(pageStyle), //nolint:gosec // embedded file
		StyleHash: styleHash(),
	}
	for i := range p.Answers {
		a := &p.Answers[i]
		a.Sentence, a.Sure = term.JoinPercent(a.Sentence), term.JoinPercent(a.Sure)
		for j := range a.Remarks {
			a.Remarks[j].Text = term.JoinPercent(a.Remarks[j].Text)
		}
	}
	if !p.Simulated {
		p.Agreement = r.matrix()
	}
	if r.Changes != nil {
		p.Changes = r.Changes.table()
		for _, w := range r.Changes.Warnings {
			p.Warnings = append(p.Warnings, term.Line(w))
		}
	}
	for i := range r.Strips {
		p.Strips = append(p.Strips, r.stripChart(i))
	}
	if n := r.Conversations - len(p.Strips); n > 0 {
		p.More = fmt.Sprintf("The first %s. The other %s only have figures.", count(len(p.Strips), "transcript"), thousands(n))
	}
	return p
}

// A tableCell is a cell of a table in HTML. Head names its column, for narrow
// pages, where each cell has a line of its own.
type tableCell struct {
	Head, Value, Note string
	First             bool
}

// Cells returns the rows of t for HTML.
func (t Table) Cells() [][]tableCell {
	var all [][]tableCell
	for _, row := range t.Rows {
		var cells []tableCell
		for i, s := range row {
			c := tableCell{First: i == 0}
			c.Value, c.Note, _ = strings.Cut(s, noteMark)
			c.Note = strings.ReplaceAll(c.Note, noteMark, " ")
			if i < len(t.Head) {
				c.Head = t.Head[i]
			}
			cells = append(cells, c)
		}
		all = append(all, cells)
	}
	return all
}

// Class says from which width on the columns of t fit.
func (t Table) Class() string { return widthClass(len(t.Head)) }

// Class says from which width on the columns of m fit.
func (m matrix) Class() string { return widthClass(len(m.Names) + 1) }

func widthClass(columns int) string {
	switch {
	case columns > 14:
		return "stack"
	case columns > 8:
		return "wide"
	case columns > 3:
		return "medium"
	}
	return "narrow"
}
