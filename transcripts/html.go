package transcripts

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

var (
	//go:embed page.css
	pageCSS string
	//go:embed page.html
	pageHTML string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
	pageStyle    = "sha256-" + sha256Base64(pageCSS)
)

func sha256Base64(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// WriteHTML writes a room as one HTML file, as readers at level see it. The file
// contains its style, runs no script and loads nothing; its content security
// policy forbids both. Texts of participants are escaped. Only code blocks and
// links to http, https and mailto become markup.
func WriteHTML(w io.Writer, entries iter.Seq2[log.Entry, error], level Level) error {
	s, err := buildTimeline(entries, level)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := pageTemplate.Execute(out, newPage(s)); err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	return out.Flush()
}

// page is the data of the template. Control and bidirectional characters are
// stripped from all its texts; the template escapes them.
type page struct {
	Title, Objective string
	Rules            []string
	Summary          []pageFact
	Seats            []pageSeat
	Blocks           []block
	Ending           string
	Level            Level
	Hidden, Messages int
	Style            template.CSS
	StyleHash        string
}

type pageFact struct {
	Name, Value string
	Wide        bool
}

type pageSeat struct {
	Class, Label, Kind, Role, Reply, Tokens string
	Airtime, Turns, Messages, Failures      int
}

// A block is a message, another event, or a run of declined rounds.
type block struct {
	Message  bool
	Declines []block

	Kind, Class, Mark string
	Seq               int64
	Turn              int
	Who, To           string
	Clock             string
	Chips             []string
	Note, Why         string
	Facts             []fact
	Said              []paragraph
}

func newPage(s *timeline) *page {
	p := &page{
		Title: term.Line(cmp.Or(s.Spec.Name, s.Spec.Room)), Objective: term.Strip(s.Spec.Objective), Ending: term.Line(s.Stats.Ending),
		Level: s.Level, Hidden: s.Hidden, Messages: s.Stats.Messages,
		Style: template.CSS(pageCSS), StyleHash: pageStyle, //nolint:gosec // our own file
	}
	for _, c := range s.Spec.Constraints {
		p.Rules = append(p.Rules, term.Line(c))
	}
	for _, f := range s.summary() {
		if f.Name != "ended" { // shown at the end of the page
			p.Summary = append(p.Summary, pageFact{f.Name, term.Line(f.Value), len(f.Value) > 60})
		}
	}
	class := map[string]string{}
	for i, seat := range s.Stats.Participants {
		class[seat.ID] = fmt.Sprintf("k%d", i%8)
		p.Seats = append(p.Seats, pageSeat{
			Class: class[seat.ID], Label: term.Line(participantLabel(seat)), Kind: term.Line(seat.Kind), Role: term.Line(seat.Role),
			Reply: orDash(seat.Latency.Mean), Tokens: human.Rough(fmt.Sprint(seat.Tokens), seat.Estimated), Airtime: int(math.Round(100 * seat.Airtime)),
			Turns: seat.Turns, Messages: seat.Messages, Failures: seat.Failures,
		})
	}
	for i := range s.Items {
		p.add(newBlock(&s.Items[i], class))
	}
	return p
}

// add appends a block and groups consecutive declined rounds.
func (p *page) add(b block) {
	n := len(p.Blocks)
	if b.Kind != itemDecline || n == 0 {
		p.Blocks = append(p.Blocks, b)
		return
	}
	last := &p.Blocks[n-1]
	switch {
	case last.Declines != nil:
		last.Declines = append(last.Declines, b)
	case last.Kind == itemDecline:
		p.Blocks[n-1] = block{Declines: []block{*last, b}}
	default:
		p.Blocks = append(p.Blocks, b)
	}
}

var marks = map[string]string{itemDraft: "✎", itemDecline: "⌀", itemFailure: "✕", itemNote: "·", itemHidden: "▢"}

func newBlock(it *item, class map[string]string) block {
	b := block{
		Message: it.Kind == itemMessage, Kind: it.Kind, Class: cmp.Or(class[it.Actor], "k0"), Mark: marks[it.Kind], Seq: it.Seq, Turn: it.Turn,
		Who: term.Line(it.Actor), To: term.Line(it.To), Clock: clock(it.Clock), Note: term.Line(it.Note),
		Why: term.Line(it.reason()), Said: paragraphs(it.Text),
	}
	switch it.Kind {
	case itemNote:
		b.Who = ""
	case itemDecline:
		b.Note = "declined the round: " + b.Note
	case itemHidden:
		b.Note = "message hidden at this level"
	}
	b.chips(it)
	if it.Grant != nil {
		b.Facts = append(b.Facts, it.Grant.Scores...)
	}
	if b.Message {
		b.Facts = append(b.Facts, it.Facts...)
	}
	for i, f := range b.Facts {
		b.Facts[i] = fact{term.Line(f.Name), term.Line(f.Value)}
	}
	if len(b.Facts) > 0 && b.Why == "" {
		b.Why = "more"
	}
	return b
}

// chips sets the labels next to the name of the speaker.
func (b *block) chips(it *item) {
	if it.Level != room.UserVisible && it.Level != "" {
		b.Chips = append(b.Chips, strings.ReplaceAll(term.Line(string(it.Level)), "_", " "))
	}
	if it.SummaryOnly {
		b.Chips = append(b.Chips, "summary only")
	}
	if b.Message && it.Note != "" {
		b.Chips = append(b.Chips, term.Line(it.Note))
	}
	if it.Grant != nil {
		for _, a := range it.Grant.Approval {
			b.Chips = append(b.Chips, term.Line(a))
		}
	}
}
