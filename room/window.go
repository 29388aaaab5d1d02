package room

// A Span is a run of the log, both ends included. Of its events it means the
// messages that the window's participant may read.
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// An Omission is a span whose messages are left out and only counted.
type Omission struct {
	Span
	Messages int     `json:"messages"`
	By       []Count `json:"by,omitempty"` // in order of first appearance
}

// A Count is how many messages somebody sent.
type Count struct {
	From     string `json:"from"`
	Messages int    `json:"messages"`
}

// A Window is what a participant is handed at its turn: which messages, not
// their texts. What is delivered, summarised and omitted is together
// everything that the participant may read since After.
type Window struct {
	After    int64      `json:"after"`              // its catch-up cursor: it has been handed everything up to here
	Through  int64      `json:"through"`            // newest event taken into account
	Full     bool       `json:"full,omitempty"`     // it does not remember: nothing before is taken as known
	Verbatim []Span     `json:"verbatim,omitempty"` // handed over whole
	Lines    []Span     `json:"lines,omitempty"`    // handed over as one line a message
	Omitted  []Omission `json:"omitted,omitempty"`  // only counted, and said to be
	Tokens   int        `json:"tokens"`             // estimate
}

// lineOverhead is what a summary line costs beside its text, in tokens.
const lineOverhead = 6

// WindowFor returns what the participant with id would be handed now: its
// catch-up whole, or as much of it as fits; before that, within the bounds of
// history, whole messages; before those, one line a message; the rest counted.
//
// Of a participant that remembers, its own messages are no part of a span.
func (s *State) WindowFor(id string) Window {
	w, _ := s.TryWindowFor(id)
	return w
}

// TryWindowFor is WindowFor of a state that may have been shortened, and tells
// whether the window is what it would be without: it ends within what is kept.
func (s *State) TryWindowFor(id string) (w Window, ok bool) {
	x := s.seat(id)
	if x == nil {
		return Window{}, true
	}
	w = Window{After: x.Cursor, Through: s.Seq, Full: x.NeedsFullContext || !x.Remembers}
	f := windowBuilder{s: s, x: x, w: &w, tokens: s.Bounds.Tokens, lines: s.Bounds.SummaryTokens}
	f.kept = f.few[:0]
	s.backwards(x, f.add)
	f.finish()
	return w, s.Messages.gone == 0 || f.part == 2 || f.total == s.readableTotal(x)
}

// windowBuilder fills a window from the newest message to the oldest.
type windowBuilder struct {
	s      *State
	x      *Seat
	w      *Window
	tokens int // left for whole messages
	lines  int // left for lines
	turns  int // whole messages before the catch-up
	chars  int
	part   int // 0 whole, 1 lines, 2 only counted
	first  int64
	kept   []kept // messages of the window by sender; few senders, so no map
	few    [8]kept
	total  int
}

type kept struct {
	from int16
	n    int
}

// add adds the next older message and reports whether to go on.
func (f *windowBuilder) add(m indexEntry) bool {
	own := m.From == f.x.Index
	if f.part == 0 && !f.addVerbatim(m, own) {
		f.part = 1
	}
	if f.part == 1 && !f.addLine(m) {
		f.part = 2
		f.first = m.Seq
		return false
	}
	f.count(m.From)
	return true
}

func (f *windowBuilder) addVerbatim(m indexEntry, own bool) bool {
	catchUp := m.Seq > f.w.After
	switch {
	case own && !f.w.Full:
		if catchUp {
			extend(&f.w.Verbatim, m.Seq)
			return true
		}
		return false // what precedes is known to it; lines refresh it
	case int(m.Tokens) > f.tokens && f.w.Tokens > 0:
		return false
	case !catchUp && (!f.w.Full || f.turns >= f.s.Bounds.HistoryTurns || f.chars+4*int(m.Tokens) > f.s.Bounds.HistoryChars):
		return false
	}
	if !catchUp {
		f.turns++
		f.chars += 4 * int(m.Tokens)
	}
	f.tokens -= int(m.Tokens)
	f.w.Tokens += int(m.Tokens)
	extend(&f.w.Verbatim, m.Seq)
	return true
}

func (f *windowBuilder) addLine(m indexEntry) bool {
	cost := min(int(m.Tokens), (f.s.Bounds.LineChars+3)/4) + lineOverhead
	if cost > f.lines {
		return false
	}
	f.lines -= cost
	f.w.Tokens += cost
	extend(&f.w.Lines, m.Seq)
	return true
}

func (f *windowBuilder) count(from int16) {
	f.total++
	for i := range f.kept {
		if f.kept[i].from == from {
			f.kept[i].n++
			return
		}
	}
	f.kept = append(f.kept, kept{from, 1})
}

// finish counts what the window leaves out.
func (f *windowBuilder) finish() {
	if f.part != 2 {
		return
	}
	o := Omission{Span: Span{1, f.first}, By: make([]Count, 0, min(len(f.s.Seats), maxCounts))}
	for i, y := range f.s.Seats {
		n := f.s.readable(f.x, int16(i)) - f.counted(int16(i))
		o.Messages += n
		if n > 0 && len(o.By) < maxCounts {
			o.By = append(o.By, Count{y.ID, n})
		}
	}
	o.Messages += f.s.readable(f.x, -1) - f.counted(-1)
	if len(o.By) == 0 {
		o.By = nil // as it is read back
	}
	f.w.Omitted = []Omission{o}
}

// maxCounts bounds the senders that an omission names.
const maxCounts = 16

func (f *windowBuilder) counted(from int16) int {
	for _, k := range f.kept {
		if k.from == from {
			return k.n
		}
	}
	return 0
}

// extend lets a list of one span reach back to seq.
func extend(spans *[]Span, seq int64) {
	if len(*spans) == 0 {
		*spans = []Span{{seq, seq}}
		return
	}
	(*spans)[0].From = seq
}
