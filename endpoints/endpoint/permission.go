package endpoint

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Kinds of actions for which an agent asks permission (Agent Client Protocol,
// ToolKind). An unknown kind is ActionOther.
const (
	ActionRead    = "read"
	ActionEdit    = "edit"
	ActionDelete  = "delete"
	ActionMove    = "move"
	ActionSearch  = "search"
	ActionExecute = "execute"
	ActionFetch   = "fetch"
	ActionThink   = "think"
	ActionOther   = "other"
)

var actions = []string{
	ActionRead, ActionEdit, ActionDelete, ActionMove, ActionSearch, ActionExecute, ActionFetch, ActionThink, ActionOther,
}

// Values of [Answer].By that are no person.
const (
	RuledBy   = "rule"      // an allow rule of the agent's owner
	NoAnswer  = "timeout"   // no person has answered in time
	Unasked   = "room"      // refused without asking a person
	Cancelled = "cancelled" // the turn has ended, or the agent waits no longer
)

// AbsentReason is the reason of the answer [Unasked] where no person can be asked.
func AbsentReason(question bool) string {
	if question {
		return "no owner is present to answer"
	}
	return "no owner is present; a rule under allow: in room.yaml can allow it"
}

// A Permission is what an agent asks of its owner before it acts. The agent says
// all of it, so its texts are data, and bounded by the endpoint.
type Permission struct {
	ID      string   `json:"id"`                // of the action, unique within the turn
	Kind    string   `json:"kind"`              // one of the Action constants
	Title   string   `json:"title,omitempty"`   // one line
	Command string   `json:"command,omitempty"` // execute: the command line, if the agent gives one
	Argv    []string `json:"argv,omitempty"`    // execute: the program and its arguments, if the agent gives them
	Paths   []string `json:"paths,omitempty"`   // files that it concerns, as the agent writes them
	Dir     string   `json:"-"`                 // working folder of the agent, from its configuration; "" is unknown
	Detail  string   `json:"detail,omitempty"`  // more about the action, such as its arguments as JSON
	Diffs   []Diff   `json:"diffs,omitempty"`   // what it writes, whole
	Long    bool     `json:"long,omitempty"`    // what it writes is too long to be shown, and Diffs is empty
	Always  bool     `json:"always,omitempty"`  // the agent offers to remember the answer

	// Question is a form to fill in, of the kind ActionQuestion: nothing is permitted.
	// The other fields but ID and Title are then empty.
	Question *Question `json:"question,omitempty"`
}

// A Diff is a file, or a part of one, before and after an action.
type Diff struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"` // "" of a new file
	New  string `json:"new"`
}

// Bounds of a permission request, in bytes and items.
const (
	maxTitle   = 400
	maxDetail  = 4_000
	maxCommand = 16_000 // also of argv in all
	maxFiles   = 100
	maxFile    = 4_096
	maxDiffs   = 64 << 10 // of all texts together
)

// Bounded returns p in a form that can be stored: valid UTF-8 of bounded length, with
// a known kind. Title and Detail are cleaned and cut. The command and the files keep
// their characters. It returns false, and p without them, if they are over a bound:
// a person could not see all that the answer is about.
func (p Permission) Bounded() (Permission, bool) {
	if p.Question != nil {
		return p.boundedQuestion()
	}
	if !slices.Contains(actions, p.Kind) {
		p.Kind = ActionOther
	}
	p.ID, p.Title = CleanLine(cut(p.ID, maxTitle), maxTitle), CleanLine(cut(p.Title, maxTitle), maxTitle)
	p.Detail = Clean(cut(p.Detail, maxDetail))
	given := len(p.Diffs) > 0
	whole := len(p.Command) <= maxCommand && len(p.Paths) <= maxFiles
	p.Command = strings.ToValidUTF8(p.Command, string(utf8.RuneError))
	length := 0
	for _, w := range p.Argv {
		length += len(w) + 1
	}
	whole = whole && length <= maxCommand
	for _, f := range p.Paths {
		whole = whole && len(f) <= maxFile
	}
	if !whole {
		p.Command, p.Argv, p.Paths, p.Diffs = "", nil, nil, nil
		return p, false
	}
	p.Argv, p.Paths = valid(p.Argv), valid(p.Paths)
	p.Diffs = validDiffs(p.Diffs)
	p.Long = p.Long || p.Diffs == nil && given
	return p, true
}

func (p Permission) boundedQuestion() (Permission, bool) {
	q, err := p.Question.Bounded()
	p = Permission{ID: CleanLine(cut(p.ID, maxTitle), maxTitle), Kind: ActionQuestion, Title: CleanLine(cut(p.Title, maxTitle), maxTitle)}
	if err == nil {
		p.Question = &q
	}
	return p, err == nil
}

// validDiffs returns diffs with invalid UTF-8 replaced, nil if they are over a bound.
func validDiffs(diffs []Diff) (all []Diff) {
	length := 0
	for _, d := range diffs {
		if length += len(d.Path) + len(d.Old) + len(d.New); length > maxDiffs || len(d.Path) > maxFile || len(all) == maxFiles {
			return nil
		}
		texts := valid([]string{d.Path, d.Old, d.New})
		all = append(all, Diff{Path: texts[0], Old: texts[1], New: texts[2]})
	}
	return all
}

// cut returns at most n bytes of s, and an ellipsis if that is not all.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// valid returns texts with invalid UTF-8 replaced, nil for none.
func valid(texts []string) (all []string) {
	for _, s := range texts {
		all = append(all, strings.ToValidUTF8(s, string(utf8.RuneError)))
	}
	return all
}
