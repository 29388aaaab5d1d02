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
// style, runs no script and loads nothing. Every picture has its table. It
// needs the report that Run returned; one that was read back has no pictures.
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
	Names, Notes, Head       []string
	Title, Points, More      string
	Rows, Differences, Times [][]string
	Gates                    []Gate
	Shares                   shares
	Tokens                   curves
	Agreement                matrix
	Windows                  rows
	Strips                   []strips
	Policies                 []Result
	Resamples                int
	Style                    template.CSS
	StyleHash                string
}

type rows struct {
	Head []string
	Rows [][]string
}

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

func (r *Report) sheet() *sheet {
	sum := sha256.Sum256([]byte(reportCSS))
	s := &sheet{
		Title: r.title(), Points: r.Points, Notes: r.Notes, Gates: r.Gates, Resamples: r.Resamples,
		Style:     template.CSS(reportCSS), //nolint:gosec // our own file
		StyleHash: "sha256-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		name := term.Line(p.Policy)
		s.Names = append(s.Names, name)
		s.Policies = append(s.Policies, Result{Policy: name, Use: term.Line(p.Use), Digest: p.Digest, Settings: term.Line(p.Settings)})
		s.Times = append(s.Times, []string{name, decimal(float64(p.P50)) + " ms", decimal(float64(p.P99)) + " ms", thousands(p.Repeated), thousands(p.Differing)})
	}
	g := r.grid()
	s.Head, s.Rows = g[0], g[1:]
	s.Differences = r.differenceRows()
	s.Agreement = r.matrix()
	s.Windows = r.windowRows(len(r.Windows))
	s.Shares = r.shares()
	s.Tokens = r.curves()
	for i, t := range r.trials {
		if t.detailed {
			s.Strips = append(s.Strips, r.strips(i, t))
		}
	}
	if n := len(r.trials) - len(s.Strips); n > 0 {
		s.More = fmt.Sprintf("The first %d transcripts; of the other %d only the figures are told.", len(s.Strips), n)
	}
	return s
}

func (r *Report) matrix() matrix {
	m := matrix{Names: []string{"recorded"}}
	for i := range r.Policies {
		m.Names = append(m.Names, term.Line(r.Policies[i].Policy))
	}
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
