package page

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
	"github.com/folkmoot/moot/waste"
)

var (
	//go:embed page.css
	pageCSS string
	//go:embed page.html
	pageHTML string

	pageTemplate = template.Must(template.New("waste").Parse(pageHTML))
)

// WriteHTML writes a report as one HTML page. It contains its style, runs no script and
// loads nothing; its content security policy enforces that.
func WriteHTML(w io.Writer, r *waste.Report) error {
	out := bufio.NewWriter(w)
	if err := pageTemplate.Execute(out, view{r}.page()); err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	return out.Flush()
}

// A htmlPage is the data of the template, which escapes its texts.
type htmlPage struct {
	Figure, Of, Summary string
	Sentences, Notes    []string
	Bars                []bar
	Kinds, Groups       table
	Gates               table
	Examples            []exampleList
	Style               template.CSS
	StyleHash           string
}

// A bar shows the kinds as parts of a whole.
type bar struct {
	Name, Label string
	Parts       []barPart
}

type barPart struct {
	Class, Title string
	X, W         int // thousandths of the whole
}

type exampleList struct {
	Title string
	Items []exampleItem
}

type exampleItem struct{ Place, Remark, Text, Command string }

func (v view) page() *htmlPage {
	sum := sha256.Sum256([]byte(pageCSS))
	p := &htmlPage{
		Figure: percent(v.Waste.Share), Of: "of " + v.tokens(v.Tokens) + " tokens", Summary: v.summary(), Sentences: v.sentences(), Notes: v.notes(),
		Kinds: v.kindTable(), Groups: v.groupTable(maxPageGroups), Gates: v.gateTable(),
		Style: template.CSS(pageCSS), StyleHash: "sha256-" + base64.StdEncoding.EncodeToString(sum[:]), //nolint:gosec // embedded file
	}
	for i, s := range p.Sentences {
		p.Sentences[i] = term.JoinPercent(s)
	}
	p.Bars = append(p.Bars, v.bar("tokens", func(p *waste.Part) waste.Share { return p.Share }))
	if v.Prompts > 0 {
		p.Bars = append(p.Bars, v.bar("prompts", func(p *waste.Part) waste.Share { return p.ShareOfPrompts }))
	}
	for i := range v.Kinds {
		k := &v.Kinds[i]
		if len(k.Examples) == 0 {
			continue
		}
		list := exampleList{Title: capital(titles[k.Kind])}
		for j := range k.Examples {
			x := &k.Examples[j]
			list.Items = append(list.Items, exampleItem{place(x), remark(x, v.EstimatedTurns > 0), excerpt(x, maxPageExcerpt), strings.Join(shower(x), " ")})
		}
		p.Examples = append(p.Examples, list)
	}
	for i := range p.Groups.Rows {
		p.Groups.Rows[i][0] = term.Line(p.Groups.Rows[i][0])
	}
	return p
}

// Bounds of the page.
const (
	maxPageGroups  = 24
	maxPageExcerpt = 240 // characters
)

// bar returns the kinds as parts of the tokens or of the prompts.
func (v view) bar(name string, share func(*waste.Part) waste.Share) bar {
	b := bar{Name: name}
	var said []string
	x := 0.0
	for i := range v.Kinds {
		k := &v.Kinds[i]
		s := float64(share(&k.Part))
		if !(s > 0) {
			continue
		}
		title := titles[k.Kind] + " " + percent(waste.Share(s))
		from, to := int(1000*x), int(1000*(x+s))
		b.Parts = append(b.Parts, barPart{fmt.Sprint("f", i), title, from, max(to-from, 2)})
		said = append(said, title)
		x += s
	}
	b.Label = "waste in " + name + ": " + strings.Join(said, ", ")
	if len(said) == 0 {
		b.Label = "no waste in " + name
	}
	return b
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
