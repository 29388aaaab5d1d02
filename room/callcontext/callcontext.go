// Package callcontext selects what an agent that another agent has called is given
// of its caller's room.
//
// It is a pure function of the events of that room, the caller's filter and a budget
// in tokens, which is never exceeded: it includes the summary, the description of the
// working folder and the lines between which the prompt quotes each text.
//
// Visibility goes before every wish of the caller. A message is given only if the
// caller and the called agent may both read it, in the form in which both may: of a
// redacted message that is the summary.
package callcontext

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

const (
	// DefaultTokens is the budget of a caller that states none.
	DefaultTokens = 4_000
	// MaxTokens is the largest budget that a caller may state.
	MaxTokens = 1_000_000

	maxEvents = 10_000 // that are read, the newest
	lineBytes = 120    // of a message in a summary
)

// An Input is what a context is built from.
type Input struct {
	Filter    endpoint.ContextFilter
	MaxTokens int    // 0 is DefaultTokens
	Caller    string // id of the participant that calls
	Called    string // id of the called agent in the caller's room; "" if it has none
	Person    func(id string) bool
	Now       time.Time
	Workspace string // description of the caller's working folder; used if the filter includes it

	// Events are those of the caller's room, the newest first. At most 10,000 are
	// read.
	Events iter.Seq2[room.Event, error]
}

// LeftOut counts the messages that are not given whole, each by the first reason that
// applies. Messages that the caller or the called agent may not read are Private.
type LeftOut struct {
	Private  int  `json:"private,omitempty"`
	Age      int  `json:"age,omitempty"`
	Role     int  `json:"role,omitempty"`
	Keyword  int  `json:"keyword,omitempty"`
	Last     int  `json:"last,omitempty"`      // older than the newest so many
	Budget   int  `json:"budget,omitempty"`    // there was no room
	Lines    int  `json:"lines,omitempty"`     // of all these, those with a line in the summary
	Unread   bool `json:"unread,omitempty"`    // there are older events, which were not read
	Cut      bool `json:"cut,omitempty"`       // the text of the only message is cut
	CutFiles bool `json:"cut_files,omitempty"` // the description of the folder is cut
}

// A Result is a context with its size.
type Result struct {
	endpoint.CallContext
	Tokens  int // bytes of the rendered context divided by 4, rounded up
	LeftOut LeftOut
}

// Tokens estimates the tokens of so many bytes of text.
func Tokens(bytes int) int { return (bytes + 3) / 4 }

// Build selects the context. Its errors are those of the filter, of the budget and of
// the iterator.
func Build(in Input) (Result, error) {
	tokens := cmp.Or(in.MaxTokens, DefaultTokens)
	if tokens < 0 || tokens > MaxTokens {
		return Result{}, fmt.Errorf("max_context_tokens is %d, and has to be from 1 to %d", in.MaxTokens, MaxTokens)
	}
	if err := in.Filter.Check(); err != nil {
		return Result{}, err
	}
	b := builder{in: in, free: 4 * tokens, keywords: folded(in.Filter.Keywords), last: math.MaxInt}
	if n := in.Filter.LastMessages; n != nil {
		b.last = *n
	}
	b.workspace()
	if err := b.messages(); err != nil {
		return Result{}, err
	}
	b.summary()
	slices.Reverse(b.Lines)
	b.Tokens = Tokens(b.Bytes())
	return b.Result, nil
}

// A builder fills a result from the newest message to the oldest.
type builder struct {
	Result
	in       Input
	keywords []string
	last     int // messages that may still be given
	free     int // bytes
	reserved int // of these, for the summary
	full     bool
	lines    []string // of a summary, the newest first
	length   int      // of lines
}

// Lengths of the parts of a rendered context without their texts.
var (
	emptyFolder  = endpoint.CallContext{Workspace: " "}.Bytes() - 1
	emptySummary = endpoint.CallContext{Summary: " "}.Bytes() - 1
	heading      = 2*endpoint.CallContext{Lines: make([]endpoint.ContextLine, 1)}.Bytes() - endpoint.CallContext{Lines: make([]endpoint.ContextLine, 2)}.Bytes()
)

func (b *builder) workspace() {
	if !b.in.Filter.IncludeWorkspace {
		return
	}
	text := strings.Trim(endpoint.Clean(b.in.Workspace), "\n")
	b.Workspace = fit(text, b.free-emptyFolder)
	b.LeftOut.CutFiles = b.Workspace != text
	if b.Workspace != "" {
		b.free -= emptyFolder + cost(b.Workspace)
	}
}

// messages takes the newest messages that the filter selects, until the budget is
// used up.
func (b *builder) messages() error {
	if b.in.Filter.IncludeSummary {
		b.reserved = b.free / 4
	}
	read := 0
	for e, err := range b.in.Events {
		if err != nil {
			return err
		}
		if read++; read > maxEvents {
			b.LeftOut.Unread = true
			break
		}
		l, ok := b.line(e)
		if !ok {
			continue
		}
		if why := b.excluded(l, e.At); why != nil {
			*why++
			b.remember(l)
		}
	}
	return nil
}

// excluded takes l, or returns the count of the reason for which it does not.
func (b *builder) excluded(l endpoint.ContextLine, at time.Time) (why *int) {
	f := b.in.Filter
	switch {
	case f.MaxAgeSeconds != nil && !at.After(b.in.Now.Add(-seconds(*f.MaxAgeSeconds))):
		return &b.LeftOut.Age
	case !b.roles(l.Role):
		return &b.LeftOut.Role
	case f.Keywords != nil && !slices.ContainsFunc(b.keywords, func(word string) bool { return strings.Contains(fold(l.Text), word) }):
		return &b.LeftOut.Keyword
	case b.last == 0:
		return &b.LeftOut.Last
	case b.full || !b.take(l):
		b.full = true
		return &b.LeftOut.Budget
	}
	b.last--
	return nil
}

func (b *builder) roles(role string) bool {
	if b.in.Filter.Roles == nil {
		return role == endpoint.RoleUser || role == endpoint.RoleAssistant
	}
	return slices.Contains(b.in.Filter.Roles, role)
}

// take adds l if there is room for it. The newest message is cut if it has no room.
func (b *builder) take(l endpoint.ContextLine) bool {
	first := 0
	if len(b.Lines) == 0 {
		first = heading
	}
	empty := l
	empty.Text = ""
	frame := endpoint.CallContext{Lines: []endpoint.ContextLine{empty}}.Bytes() - heading + first
	room := b.free - b.reserved - frame
	if cost(l.Text) > room {
		cut := fit(l.Text, room)
		if len(b.Lines) > 0 || cut == "" {
			return false
		}
		l.Text, b.LeftOut.Cut, b.full = cut, true, true
	}
	b.free -= frame + cost(l.Text)
	b.Lines = append(b.Lines, l)
	return true
}

// remember keeps a line for the summary. Tool messages and events of the room are in
// no summary.
func (b *builder) remember(l endpoint.ContextLine) {
	if !b.in.Filter.IncludeSummary || b.length > b.free || l.Role != endpoint.RoleUser && l.Role != endpoint.RoleAssistant {
		return
	}
	line := fmt.Sprintf("#%d %s: %s", l.Seq, l.From, room.FirstSentence(l.Text, lineBytes))
	b.lines = append(b.lines, line)
	b.length += cost(line) + 3
}

// summary takes the newest of the lines that have room.
func (b *builder) summary() {
	left := b.free - emptySummary
	if len(b.Lines) > 0 {
		left += heading // it is there already
	}
	n := 0
	for ; n < len(b.lines); n++ {
		if left -= cost(b.lines[n]) + 3*min(n, 1); left < 0 {
			break
		}
	}
	if n == 0 && len(b.lines) > 0 {
		if b.lines[0] = fit(b.lines[0], left+cost(b.lines[0])); b.lines[0] != "" {
			n = 1
		}
	}
	lines := slices.Clone(b.lines[:n])
	slices.Reverse(lines)
	b.Summary, b.LeftOut.Lines = strings.Join(lines, "\n"), n
}

// cost returns the bytes that a text needs within its block: its lines are marked.
func cost(text string) int { return len(text) + 2*strings.Count(text, "\n") }

// fit returns text, or as much of it as costs at most so many bytes with an ellipsis.
// It cuts between characters.
func fit(text string, bytes int) string {
	if cost(text) <= bytes {
		return text
	}
	const ellipsis = "…"
	end := 0
	left := bytes - len(ellipsis)
	for i, r := range text {
		if r == '\n' {
			left -= 2
		}
		if left < i {
			break
		}
		end = i
	}
	if end == 0 {
		return ""
	}
	return text[:end] + ellipsis
}

// seconds returns a duration, the longest one for what has none.
func seconds(n int64) time.Duration {
	return time.Duration(min(n, int64(math.MaxInt64/time.Second))) * time.Second
}
