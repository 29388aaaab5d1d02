package endpoint

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

// Values of [Answer].By that are no person.
const (
	RuledBy  = "rule"    // an allow rule of the agent's owner
	NoAnswer = "timeout" // no person has answered in time
)

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
	Always  bool     `json:"always,omitempty"`  // the agent offers to remember the answer
}
