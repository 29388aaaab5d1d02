package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/folkmoot/moot/internal/term"
)

var (
	//go:embed report.css
	pageCSS string
	//go:embed report.html
	pageHTML string

	pageTemplate = template.Must(template.New("report").Parse(pageHTML))
)

// ContentPolicy is the Content-Security-Policy of the HTML page: its own style and
// nothing else.
func ContentPolicy() string {
	return "default-src 'none'; style-src '" + styleHash() + "'; base-uri 'none'; form-action 'none'"
}

func styleHash() string {
	sum := sha256.Sum256([]byte(pageCSS))
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
	Heading, Summary, Points, More    string
	Notes, Warnings                   []string
	Figures, Differences, Changes     Table
	Endings, AirtimeTable, TokenTable Table
	RiskTable, Calibration            Table
	TimeTable, Windows, Settings      Table
	Gates                             []Gate
	Airtime                           airtimeChart
	Tokens                            curveChart
	Risk                              *curveChart
	Reasons                           []reasonChart
	Agreement                         matrix
	Times                             []histogram
	Strips                            []stripChart
	Style                             template.CSS
	StyleHash                         string
	Resamples                         int
	Simulated                         bool
}

func (r *Report) page() *page {
	p := &page{
		Heading: r.heading(), Summary: r.summary(), Points: r.Points, Notes: r.Notes, Gates: r.Gates, Resamples: r.Resamples,
		Simulated: r.Mode == ModeSimulate,
		Figures:   r.figureTable(), Differences: r.differenceTable(), Endings: r.endingTable(), Calibration: r.calibrationTable(),
		AirtimeTable: r.airtimeTable(), TokenTable: r.tokenTable(), RiskTable: r.riskTable(), TimeTable: r.timeTable(),
		Windows: r.windowTable(len(r.Windows)), Settings: r.settingTable(),
		Airtime: r.airtimeChart(), Tokens: r.tokenChart(), Risk: r.riskChart(), Reasons: r.reasonCharts(), Times: r.histograms(),
		Style:     template.CSS(pageCSS), //nolint:gosec // embedded file
		StyleHash: styleHash(),
	}
	p.Differences.Head, p.Endings.Head = nil, nil
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
