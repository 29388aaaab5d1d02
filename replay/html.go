package replay

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"

	"github.com/folkmoot/moot/internal/term"
)

var (
	//go:embed report.css
	reportCSS string
	//go:embed report.html
	reportHTML string

	reportTemplate = template.Must(template.New("report").Parse(reportHTML))
)

// WriteHTML writes the report as one file that works offline: it holds its
// style, runs no script and loads nothing. Every picture has its table. A
// report that was read back gives the same page.
func (r *Report) WriteHTML(w io.Writer) error {
	out := bufio.NewWriter(w)
	if err := reportTemplate.Execute(out, r.sheet()); err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	return out.Flush()
}

// A sheet is what the template shows. All its texts are stripped of control
// and bidirectional characters; the template escapes them.
type sheet struct {
	Heading, Title, Points, More string
	Notes                        []string
	Figures, Differences         rows
	Changes, Endings             rows
	Warnings                     []string
	Gates                        []Gate
	Shares                       shares
	Tokens                       curves
	Risk                         *curves
	Calibration                  rows
	Reasons                      []reasons
	Agreement                    matrix
	Times                        []histogram
	TimeTable, Windows, Settings rows
	Strips                       []strips
	Style                        template.CSS
	StyleHash                    string
	Resamples                    int
	Simulated                    bool
}

// rows is a table.
type rows struct {
	Head []string
	Rows [][]string
}

func (r *Report) sheet() *sheet {
	sum := sha256.Sum256([]byte(reportCSS))
	g := r.grid()
	s := &sheet{
		Heading: r.heading(), Title: r.title(), Points: r.Points, Notes: r.Notes, Gates: r.Gates, Resamples: r.Resamples,
		Simulated: r.Mode == ModeSimulate,
		Figures:   rows{g[0], g[1:]}, Differences: rows{Rows: r.differenceRows()}, Endings: rows{Rows: r.endingRows()},
		Shares: r.shares(), Tokens: r.tokenCurves(), Risk: r.riskCurves(), Calibration: r.calibration(), Reasons: r.reasonBars(),
		Times: r.histograms(), TimeTable: r.timeTable(), Windows: r.windowRows(len(r.Windows)), Settings: r.settingRows(),
		Style:     template.CSS(reportCSS), //nolint:gosec // our own file
		StyleHash: "sha256-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
	if !s.Simulated {
		s.Agreement = r.matrix()
	}
	if r.Changes != nil {
		s.Changes = rows{r.Changes.head(), r.Changes.rows()}
		for _, w := range r.Changes.Warnings {
			s.Warnings = append(s.Warnings, term.Line(w))
		}
	}
	for i := range r.Strips {
		s.Strips = append(s.Strips, r.strips(i))
	}
	if n := r.Conversations - len(s.Strips); n > 0 {
		s.More = fmt.Sprintf("The first %s; of the other %s only the figures are told.", count(len(s.Strips), "transcript"), thousands(n))
	}
	return s
}

// heading is what the page is about.
func (r *Report) heading() string {
	s := "Replay of "
	if r.Changes != nil {
		s = "Two replays: "
	}
	for i, name := range r.columns()[1:] {
		if i > 0 {
			s += ", "
		}
		s += name
	}
	return s
}

// columns names the recorded history and the policies.
func (r *Report) columns() []string {
	names := []string{recordedName}
	for i := range r.Policies {
		names = append(names, term.Line(r.Policies[i].Policy))
	}
	return names
}

func (r *Report) settingRows() rows {
	out := rows{Head: []string{"policy", "use", "SHA-256 of the module", "settings"}}
	for i := range r.Policies {
		p := &r.Policies[i]
		digest := p.Digest
		if p.Reference {
			digest = notSandboxed
		}
		out.Rows = append(out.Rows, []string{term.Line(p.Policy), term.Line(p.Use), digest, term.Line(p.Settings)})
	}
	return out
}

// notSandboxed is what is said of a baseline.
const notSandboxed = "not sandboxed: reference"

// A matrix is a table of shares with a bar in each cell.
type matrix struct {
	Names []string
	Rows  []matrixRow
}

type matrixRow struct {
	Name  string
	Cells []matrixCell
}

type matrixCell struct {
	Width int
	Text  string
}

func (r *Report) matrix() matrix {
	m := matrix{Names: r.columns()}
	for i, row := range r.Agreement {
		x := matrixRow{Name: m.Names[i]}
		for _, f := range row {
			c := matrixCell{Text: percent(float64(f))}
			if !math.IsNaN(float64(f)) {
				c.Width = int(math.Round(54 * float64(f)))
			}
			x.Cells = append(x.Cells, c)
		}
		m.Rows = append(m.Rows, x)
	}
	return m
}
