package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Call is what an agent is given that another agent has called: the task, and what
// it may know of the room of its caller. The ids are those of participants, which the
// room has checked. All texts are data: the caller's name is never a part of them.
type Call struct {
	Caller  string   // id of the participant that called
	Above   []string // ids of the callers above it, the first of the chain first
	Task    string
	Input   []byte // JSON, for the task; nil is none
	Context CallContext
}

// A CallContext is what a called agent may know of the room of its caller. The JSON
// form is part of the event format.
type CallContext struct {
	Workspace string        `json:"workspace,omitempty"` // what the caller's working folder contains
	Summary   string        `json:"summary,omitempty"`   // one line for each of some older messages
	Lines     []ContextLine `json:"lines,omitempty"`     // messages, oldest first
}

// A ContextLine is a message of the caller's room.
type ContextLine struct {
	Seq  int64  `json:"seq"`
	From string `json:"from"`
	Role string `json:"role"` // of its sender; one of the Role constants
	Kind string `json:"kind,omitempty"`
	Text string `json:"text"`
}

func (c *Call) cleaned() *Call {
	if c == nil {
		return nil
	}
	return &Call{oneLine(c.Caller), eachOf(c.Above, oneLine), Clean(c.Task), cleanJSON(c.Input), c.Context.cleaned()}
}

func (c CallContext) cleaned() CallContext {
	return CallContext{Clean(c.Workspace), Clean(c.Summary), eachOf(c.Lines, func(l ContextLine) ContextLine {
		return ContextLine{l.Seq, oneLine(l.From), oneLine(l.Role), oneLine(l.Kind), Clean(l.Text)}
	})}
}

// call writes the task of a called agent, and the context that its caller gives. Only
// the lines of this program name the caller.
func (r *renderer) call() {
	c := r.p.Call
	if c == nil {
		return
	}
	r.b.WriteString(c.Context.render(r.boundary))
	r.f("\nYOUR TASK\n%s has called you for the task in the next block. Do it as far as your permissions allow.\n", r.quoted(c.Caller))
	if len(c.Above) > 0 {
		above := make([]string, len(c.Above))
		for i, id := range c.Above {
			above[i] = r.quoted(id)
		}
		r.f("The calls before that, the first one first: %s.\n", strings.Join(above, ", "))
	}
	r.f("Your answer is the result, and goes to the caller alone.\n")
	r.block("task from "+r.quoted(c.Caller), c.Task)
	if len(c.Input) > 0 {
		r.block("input of the task from "+r.quoted(c.Caller)+", JSON", string(c.Input))
	}
}

// render returns the part of a prompt that says what the caller's room and folder
// contain, "" for nothing.
func (c CallContext) render(boundary string) string {
	r := newRenderer(boundary)
	if c.Workspace != "" {
		r.f("\nFOLDER OF YOUR CALLER\n")
		r.block("folder", c.Workspace)
	}
	if c.Summary != "" || len(c.Lines) > 0 {
		r.f("\nFROM THE ROOM OF YOUR CALLER\n")
	}
	if c.Summary != "" {
		r.block("messages, one line each", c.Summary)
	}
	for _, l := range c.Lines {
		head := "message " + strconv.FormatInt(l.Seq, 10) + " from " + r.quoted(l.From)
		if l.Role != "" {
			head += ", " + r.inline(l.Role, nameRunes)
		}
		if l.Kind != "" {
			head += ", " + r.inline(l.Kind, nameRunes)
		}
		r.block(head, l.Text)
	}
	return r.b.String()
}

// Bytes returns how much c adds to a prompt, in bytes. The boundary of the prompt has
// at most 32 characters.
func (c CallContext) Bytes() int { return len(c.cleaned().render(strings.Repeat("\x00", 32))) }

// Roles of messages by their senders, in a [ContextFilter].
const (
	RoleUser      = "user"      // people
	RoleAssistant = "assistant" // agents
	RoleTool      = "tool"      // messages of the kinds tool_intent and tool_result
	RoleSystem    = "system"    // events of the room
)

// A ContextFilter selects what a called agent is given of its caller's room. The zero
// filter selects the messages of people and agents. Tool messages and room events are
// given only if Roles names them.
type ContextFilter struct {
	LastMessages     *int     `json:"last_messages,omitempty"`   // the newest so many of those selected; nil is all
	Roles            []string `json:"roles,omitzero"`            // nil is user and assistant, an empty list is none
	Keywords         []string `json:"keywords,omitzero"`         // any of these, without regard to case; nil is no condition
	IncludeSummary   bool     `json:"include_summary,omitempty"` // one line for each of the other messages, as far as there is room
	IncludeWorkspace bool     `json:"include_workspace,omitempty"`
	WorkspaceFiles   []string `json:"workspace_files,omitempty"` // files to name instead of the top of the folder
	MaxAgeSeconds    *int64   `json:"max_age_seconds,omitempty"` // nil is any age
}

// Bounds of a filter, in items and bytes.
const (
	maxKeywords  = 32
	maxWorkFiles = 100
	maxWorkPath  = 4_096
)

// ParseContextFilter reads a filter in the form of the sub-agent note. It refuses
// unknown fields and values that no filter has. An empty text and null are the zero
// filter.
func ParseContextFilter(text []byte) (f ContextFilter, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return ContextFilter{}, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&f); err == nil && len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		err = errors.New("there is text behind it")
	}
	if err == nil {
		err = f.Check()
	}
	if err != nil {
		return ContextFilter{}, fmt.Errorf("the context filter cannot be used: %w", err)
	}
	return f, nil
}

// Check returns an error that says why f is no valid filter.
func (f ContextFilter) Check() error {
	switch {
	case f.LastMessages != nil && *f.LastMessages < 0:
		return errors.New("last_messages is negative")
	case f.MaxAgeSeconds != nil && *f.MaxAgeSeconds < 0:
		return errors.New("max_age_seconds is negative")
	case len(f.Keywords) > maxKeywords:
		return errors.New("there are more than " + strconv.Itoa(maxKeywords) + " keywords")
	case len(f.WorkspaceFiles) > maxWorkFiles:
		return errors.New("there are more than " + strconv.Itoa(maxWorkFiles) + " workspace_files")
	}
	for _, role := range f.Roles {
		if !slices.Contains([]string{RoleUser, RoleAssistant, RoleTool, RoleSystem}, role) {
			return errors.New("no role " + Quote(role) + ": the roles are user, assistant, tool and system")
		}
	}
	for _, word := range f.Keywords {
		if strings.TrimSpace(word) == "" || len(word) > maxTitle || !utf8.ValidString(word) {
			return errors.New("the keyword " + Quote(word) + " is empty, too long or no text")
		}
	}
	for _, file := range f.WorkspaceFiles {
		if file == "" || len(file) > maxWorkPath || !utf8.ValidString(file) {
			return errors.New("the file " + Quote(file) + " of workspace_files is empty, too long or no text")
		}
	}
	return nil
}
