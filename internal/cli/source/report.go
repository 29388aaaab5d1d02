package source

import (
	"cmp"
	"fmt"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/transcripts"
	"github.com/folkmoot/moot/transcripts/foreign"
)

// Accounted says in one line what was taken of a source.
func Accounted(r foreign.Report) string {
	text := fmt.Sprintf("%s of %s", app.Count(r.Turns, "turn"), app.Count(r.Pieces, "piece"))
	if r.Joined > 0 {
		text += fmt.Sprintf(", %d joined to the turn before", r.Joined)
	}
	if r.Silences > 0 {
		text += ", " + app.Count(r.Silences, "silence")
	}
	if n := r.LeftOut(); n > 0 {
		text += fmt.Sprintf(", %d left out", n)
	}
	return text
}

// told tells the user what was left out of a conversation, and the first piece of it
// that breaks its form.
func (s *Sources) told(id string, r foreign.Report) {
	if s.Note == nil || r.LeftOut() == 0 && len(r.Faults) == 0 {
		return
	}
	text := Accounted(r)
	if len(r.Faults) > 0 {
		f := r.Faults[0]
		text += fmt.Sprintf("; the first fault at %s: %s", term.Line(f.Where), term.Line(f.What))
	}
	s.Note("%s, read as %s: %s", id, r.Format, text)
}

// readLenient visits the conversations of the neutral format, without the parts that
// break it.
func (s *Sources) readLenient(t *transcripts.Reader, name string, visit func(Origin) error) error {
	visited := false
	var first *problem.Error
	for x, err := range t.Lenient() {
		if err != nil {
			return err
		}
		where := fmt.Sprintf("%s:%d", name, x.Line)
		if x.Conversation == nil {
			lost := x.Faults[len(x.Faults)-1]
			first = cmp.Or(first, &problem.Error{Code: "TRANSCRIPT-READ", What: lost.Error(), Where: where, Fix: "check that the file is in the neutral format of docs/transcripts.md"})
			if s.warn != nil {
				s.warn("%s is left out: %v", where, lost)
			}
			continue
		}
		visited = true
		o := neutral(name, "neutral", x.Conversation)
		if len(x.Faults) > 0 {
			o.Report = reportOf(x, where)
			s.told(x.ID, *o.Report)
		}
		if err := visit(o); err != nil {
			return err
		}
	}
	if !visited && first != nil {
		return first
	}
	return nil
}

// reportOf returns the report of a conversation in the neutral format that breaks it.
func reportOf(x transcripts.Lenient, where string) *foreign.Report {
	r := &foreign.Report{Format: foreign.Moot, Pieces: len(x.Turns) + x.Skipped, Turns: len(x.Turns)}
	if x.Skipped > 0 {
		r.Left = []foreign.Count{{Why: "breaks its format", N: x.Skipped}}
	}
	if x.Changed > 0 {
		r.Changed = []foreign.Count{{Why: "a part breaks the format, and is left out", N: x.Changed}}
	}
	for _, err := range x.Faults {
		r.Faults = append(r.Faults, foreign.Fault{Where: where, What: err.Error()})
	}
	return r
}
