package foreign

import (
	"errors"
	"slices"

	"github.com/folkmoot/moot/problem"
)

// A Fault is a piece that breaks its format. A lenient import leaves it out.
type Fault struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

const (
	// maxFaults is how many faults a report names; all are counted.
	maxFaults = 20
	// faulty is why they are left out.
	faulty = "breaks its format"
)

// faults are faults that were found before the conversation was known.
type faults struct {
	n     int
	named []Fault
}

// add adds the fault that err describes.
func (f *faults) add(err error) {
	if f.n++; len(f.named) < maxFaults {
		f.named = append(f.named, faultOf(err))
	}
}

// take adds those of a conversation without turns. The next one counts them.
func (f *faults) take(r Report) {
	for _, l := range r.Left {
		if l.Why == faulty {
			f.n += l.N
		}
	}
	f.named = append(f.named, r.Faults[:min(len(r.Faults), maxFaults-len(f.named))]...)
}

func faultOf(err error) Fault {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return Fault{p.Where, truncate(p.What, 300)}
	}
	return Fault{What: truncate(err.Error(), 300)}
}

// breaksFormat reports whether err is about content that breaks its format. Sizes and
// hostile archives end every import.
func breaksFormat(err error) bool {
	p, ok := errors.AsType[*problem.Error](err)
	return ok && p.Code == "TRANSCRIPT-SHAPE"
}

// skip leaves out a piece that breaks its format. A strict import returns the error
// instead.
func (t *builder) skip(err error) error {
	if err == nil || t.strict || !breaksFormat(err) {
		return err
	}
	t.leaveOut(faulty)
	if len(t.report.Faults) < maxFaults {
		t.report.Faults = append(t.report.Faults, faultOf(err))
	}
	return nil
}

// each reads the items of a list. In a lenient import an item with an error is left
// out; in a strict one the error is that of the document.
func (t *builder) each(list value, read func(value)) {
	for item := range list.items() {
		if t.one(item, read); list.failed() != nil {
			return
		}
	}
}

// one reads one item; see each.
func (t *builder) one(item value, read func(value)) {
	if t.strict {
		read(item)
		return
	}
	own, before := item.apart(), t.mark()
	read(own)
	if own.failed() != nil {
		t.restore(before)
		_ = t.skip(own.failed()) // every error of a value is skipped
	}
}

// A mark is what a piece changes.
type mark struct {
	report Report
	turns  int
	lastID string
}

func (t *builder) mark() mark {
	m := mark{t.report, len(t.c.Turns), t.lastID}
	m.report.Left, m.report.Changed = slices.Clone(m.report.Left), slices.Clone(m.report.Changed)
	return m
}

// restore takes back what was added since the mark. A part that was joined to the turn
// before stays.
func (t *builder) restore(m mark) {
	if t.report.Joined == m.report.Joined {
		t.report, t.lastID, t.c.Turns = m.report, m.lastID, t.c.Turns[:m.turns]
		for i, s := range t.stated {
			t.stated[i].turns = slices.DeleteFunc(s.turns, func(turn int) bool { return turn >= m.turns })
		}
	}
}

// apart returns v as a document of its own. An error in it is no error of the document
// that v is in.
func (v value) apart() value {
	d := v.at.document()
	return value{v.raw, &place{doc: &document{file: d.file, line: d.line, within: d.within + v.at.path()}}}
}
