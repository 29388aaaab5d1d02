package room

import (
	"slices"

	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/kinds"
)

// A Span is a range of the log, both ends included. It stands for those messages
// in the range that the window's participant may read.
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// An Omission is a span whose messages are only counted.
type Omission struct {
	Span
	Messages int     `json:"messages"`
	By       []Count `json:"by,omitempty"` // in order of first appearance
}

// A Count is the number of messages of one sender.
type Count struct {
	From     string `json:"from"`
	Messages int    `json:"messages"`
}

// A Window lists the messages that a participant is given for one turn, without
// their texts. Verbatim, Lines and Omitted together cover all messages after After
// that the participant may read.
type Window struct {
	After    int64      `json:"after"`              // its catch-up cursor: it has been given all messages up to here
	Through  int64      `json:"through"`            // newest event taken into account
	Full     bool       `json:"full,omitempty"`     // it remembers no earlier message
	Verbatim []Span     `json:"verbatim,omitempty"` // given whole
	Lines    []Span     `json:"lines,omitempty"`    // given as one line each
	Omitted  []Omission `json:"omitted,omitempty"`  // only counted; the prompt says so
	Tokens   int        `json:"tokens"`             // estimate

	// First are messages to the participant that are handed over apart from the spans
	// and before them: urgent ones, and those that the spans do not hold whole. Kept are
	// messages to it for which there was no space; they wait for its next turn.
	First []int64 `json:"first,omitempty"`
	Kept  []int64 `json:"kept,omitempty"`

	// Duty says that the prompt tells the participant what its role sends; one
	// of endpoint.DutyManager and endpoint.DutyWorker. Windows of earlier versions have none.
	Duty string `json:"duty,omitempty"`
}

// Holds reports whether the window gives the message at seq whole.
func (w Window) Holds(seq int64) bool {
	return slices.Contains(w.First, seq) || slices.ContainsFunc(w.Verbatim, func(s Span) bool { return s.From <= seq && seq <= s.To })
}

// lineOverhead is the number of tokens of a summary line without its text.
const lineOverhead = 6

// WindowFor returns the window that the participant with id would get now: its
// catch-up whole, as far as it fits; before that, whole messages within the limits
// of history; before those, one line for each message; the rest counted. The
// window of a participant that remembers leaves out its own messages.
func (s *State) WindowFor(id string) Window {
	w, _ := s.TryWindowFor(id)
	return w
}

// TryWindowFor is like WindowFor for a state that may have been shortened. ok is
// false when the window would need an entry that [State.Shorten] has dropped.
func (s *State) TryWindowFor(id string) (w Window, ok bool) {
	x := s.seat(id)
	if x == nil {
		return Window{}, true
	}
	w = Window{After: x.Cursor, Through: s.Seq, Full: x.NeedsFullContext || !x.Remembers, Duty: s.duty(x)}
	f := windowBuilder{s: s, x: x, w: &w, tokens: s.Bounds.Tokens, lines: s.Bounds.SummaryTokens, kept: make([]int, len(s.Seats)+1)}
	s.backwards(x, f.add)
	f.finish()
	f.addInbox()
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
	kept   []int // messages of the window by sender: the host, then every seat
	total  int
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
	f.total++
	f.kept[m.From+1]++
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
		return false // it knows older messages; lines remind it
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

// addInbox adds the messages to the participant that wait for it and that must come
// first, or that are not in the window yet. The first one is always added.
func (f *windowBuilder) addInbox() {
	waiting := f.s.Mail.Deliveries.Queued(f.x.ID)
	delivery.ByPriority(waiting, kinds.Urgent)
	for _, d := range waiting {
		whole := f.w.Holds(d.Seq)
		tokens := 0
		if !whole {
			tokens = f.s.tokensOf(d.Seq)
		}
		switch {
		case whole && !kinds.Urgent(d.Priority):
		case !whole && tokens > f.tokens && len(f.w.First) > 0:
			f.w.Kept = append(f.w.Kept, d.Seq)
		default:
			f.w.First = append(f.w.First, d.Seq)
			f.tokens -= tokens
			f.w.Tokens += tokens
		}
	}
}

// tokensOf returns the size of the message at seq, or 0 if the state does not list it.
func (s *State) tokensOf(seq int64) int {
	for i := s.Messages.N - 1; i >= s.Messages.gone; i-- {
		if m := s.Messages.at(i); m.Seq <= seq {
			if m.Seq == seq {
				return int(m.Tokens)
			}
			return 0
		}
	}
	return 0
}

// finish counts what the window leaves out.
func (f *windowBuilder) finish() {
	if f.part != 2 {
		return
	}
	o := Omission{Span: Span{1, f.first}, By: make([]Count, 0, min(len(f.s.Seats), maxCounts))}
	for i, y := range f.s.Seats {
		n := f.s.readable(f.x, int16(i)) - f.kept[i+1]
		o.Messages += n
		if n > 0 && len(o.By) < maxCounts {
			o.By = append(o.By, Count{y.ID, n})
		}
	}
	o.Messages += f.s.readable(f.x, -1) - f.kept[0]
	if len(o.By) == 0 {
		o.By = nil // equal to the decoded form
	}
	f.w.Omitted = []Omission{o}
}

// maxCounts is the largest number of senders that an omission names.
const maxCounts = 16

// extend extends a list of one span back to seq.
func extend(spans *[]Span, seq int64) {
	if len(*spans) == 0 {
		*spans = []Span{{seq, seq}}
		return
	}
	(*spans)[0].From = seq
}
