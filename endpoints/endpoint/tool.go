package endpoint

import (
	"slices"
	"unicode/utf8"
)

// States of a [ToolCall] (Agent Client Protocol, ToolCallStatus). An unknown state is
// "".
const (
	ToolPending   = "pending"
	ToolRunning   = "in_progress"
	ToolCompleted = "completed"
	ToolFailed    = "failed"
)

var toolStates = []string{ToolPending, ToolRunning, ToolCompleted, ToolFailed}

// A ToolCall is an action of an agent in its turn. The agent says all of it, so its
// texts are data. Only people with control of the room read them. The JSON form is
// part of the event format.
type ToolCall struct {
	ID     string   `json:"id,omitempty"` // unique within the turn
	Kind   string   `json:"kind"`         // one of the Action constants
	Title  string   `json:"title,omitempty"`
	Status string   `json:"status,omitempty"` // one of the Tool constants, as last stated
	Paths  []string `json:"paths,omitempty"`  // files that it concerns, as the agent writes them
}

// Bounds of tool calls, in items and runes.
const (
	maxToolCalls = 100 // of a turn
	maxToolText  = 200 // of each text
	maxToolPaths = 4   // of a call
)

// Bounded returns c in a form that can be stored and shown on one line.
func (c ToolCall) Bounded() ToolCall {
	if !slices.Contains(actions, c.Kind) {
		c.Kind = ActionOther
	}
	if !slices.Contains(toolStates, c.Status) {
		c.Status = ""
	}
	c.ID, c.Title = toolText(c.ID), toolText(c.Title)
	var paths []string
	for _, p := range c.Paths[:min(len(c.Paths), maxToolPaths)] {
		paths = append(paths, toolText(p))
	}
	c.Paths = paths
	return c
}

// toolText cuts before it cleans: the texts of an agent may be long.
func toolText(s string) string {
	return CleanLine(cut(s, 2*utf8.UTFMax*maxToolText), maxToolText)
}

// String returns the call on one line: its title, or its kind and files without one.
func (c ToolCall) String() string {
	if c.Title != "" {
		return c.Title
	}
	s := c.Kind
	for _, p := range c.Paths {
		s += " " + p
	}
	return s
}

// BoundedTools returns the first tool calls of a turn in a form that can be stored,
// and the number of the others.
func BoundedTools(calls []ToolCall) (kept []ToolCall, more int) {
	for _, c := range calls[:min(len(calls), maxToolCalls)] {
		kept = append(kept, c.Bounded())
	}
	return kept, len(calls) - len(kept)
}
