// Package calls describes calls from agent to agent: an agent gives another one a
// task, the other works on it in a room of its own, the child room, and its caller
// gets the result.
//
// The package has the parts that need no room: the arguments and their decoder, the
// states, the shares of a budget, and the checks of a call path. It is pure. Package
// room decides with it, and package coordinator runs the child rooms.
//
// The arguments, the result and their names in JSON are those of the note about
// sub-agent calls; the states are those of tasks in A2A 1.0.
package calls

import (
	"encoding/json"
	"time"
)

// A State says how a call stands.
type State string

// States. The first four are open.
const (
	Submitted     State = "submitted"      // its room is not open yet
	Working       State = "working"        // its agent works on it
	InputRequired State = "input_required" // it waits for an answer; see Call.Asked
	AuthRequired  State = "auth_required"  // its agent must sign in
	Completed     State = "completed"
	Failed        State = "failed"
	Canceled      State = "canceled"
	Rejected      State = "rejected" // its agent did not take the task
)

// Open reports whether a call in that state has no result yet.
func (s State) Open() bool {
	switch s {
	case Submitted, Working, InputRequired, AuthRequired:
		return true
	}
	return false
}

// Owner stands in Call.Asked for the owner of the agents.
const Owner = "owner"

// A Call is a call of one agent by another, as its room knows it.
type Call struct {
	ID      string        `json:"call_id"` // unique in its room
	Caller  string        `json:"caller"`
	Agent   string        `json:"agent_name"`
	Turn    int           `json:"turn,omitempty"` // of the caller; 0 outside its turns
	Room    string        `json:"room"`           // the child room
	Chain   []Link        `json:"chain"`          // who called whom, from the first caller to Caller
	Depth   int           `json:"depth"`          // of the child room; 1 below a room that no call has made
	Task    string        `json:"task"`           // at most 200 characters, secrets redacted
	Rights  []string      `json:"rights"`         // of the agent in the child room
	Nested  bool          `json:"nested,omitempty"`
	Permit  string        `json:"permission,omitempty"` // id of the permission request that allowed it
	At      time.Time     `json:"at,omitzero"`
	Started time.Duration `json:"started_ns"` // clock of the caller's room, as all durations
	Timeout time.Duration `json:"timeout_ns"`

	// Reserved is what the child room may use up. The caller's room keeps it free until
	// the call has ended.
	Reserved Budget `json:"reserved"`

	State State  `json:"state"`
	Asked string `json:"asked,omitempty"` // who has to answer: the caller's id, or Owner
	Text  string `json:"text,omitempty"`  // the question, at most 200 characters

	// Canceling says why the call is being cancelled. Its room is ended first.
	Canceling string `json:"canceling,omitempty"`
	// WaitUntil is the clock until which the caller waits for the result. At 0 it does
	// not wait, and gets the result as a message.
	WaitUntil time.Duration `json:"wait_until_ns,omitempty"`

	// Request is the whole request. An ended call has none.
	Request *Args `json:"request,omitempty"`
	// Result is that of an ended call.
	Result *Result `json:"result,omitempty"`
	// Posted says that the result was posted as a message; Ended is the seq of the
	// event that ended the call.
	Posted bool  `json:"posted,omitempty"`
	Ended  int64 `json:"ended_seq,omitempty"`
}

// Deadline returns the clock at which the call has failed for want of time.
func (c Call) Deadline() time.Duration { return c.Started + c.Timeout }

// Public returns c without its request, for lists.
func (c Call) Public() Call {
	c.Request = nil
	return c
}

// A Link is an agent on a call path: the agent that calls, and where it does.
type Link struct {
	Agent   string `json:"agent"`
	Profile string `json:"profile,omitempty"`
	Room    string `json:"room"`
}

// A Result is the result of a call. Its first fields are those of the note.
type Result struct {
	Agent    string   `json:"agent_name"`
	Success  bool     `json:"success"`
	Output   string   `json:"output"`
	Tools    []string `json:"tool_calls"`
	Tokens   int64    `json:"tokens_used"`
	Duration float64  `json:"duration_seconds"`
	Errors   []string `json:"errors"`

	Cost          int64 `json:"cost,omitempty"`           // in millionths
	Estimated     bool  `json:"estimated,omitempty"`      // part of Tokens is an estimate
	CostEstimated bool  `json:"cost_estimated,omitempty"` // part of Cost is an estimate
	Calls         int   `json:"calls,omitempty"`          // that were made below it
	Seq           int64 `json:"child_seq,omitempty"`      // newest event of the child room
}

// Bounds of results. A list is cut, and a text too.
const (
	maxTools  = 64
	maxErrors = 8
	maxError  = 500
	// KeptOutput is how much of an output a list of ended calls has, in characters.
	KeptOutput = 200
)

// Bounded returns r as a log holds it. Output is at most max characters long.
func (r Result) Bounded(max int) Result {
	r.Output = cutRunes(r.Output, max)
	r.Tools, r.Errors = bounded(r.Tools, maxTools), bounded(r.Errors, maxErrors)
	r.Tokens, r.Cost, r.Calls = clamp(r.Tokens), clamp(r.Cost), int(clamp(int64(r.Calls)))
	if !(r.Duration >= 0 && r.Duration < maxSum) {
		r.Duration = 0
	}
	return r
}

// maxSum is the largest count of tokens and the largest cost, as in package room.
const maxSum = 1 << 52

func clamp(n int64) int64 { return min(max(n, 0), maxSum) }

// bounded returns a list that is never null in JSON.
func bounded(list []string, most int) []string {
	out := []string{}
	for _, s := range list[:min(len(list), most)] {
		out = append(out, cutRunes(s, maxError))
	}
	return out
}

// cutRunes returns at most n characters of s, which becomes valid UTF-8.
func cutRunes(s string, n int) string {
	k := 0
	for i := range s {
		if k == n {
			return string([]rune(s[:i]))
		}
		k++
	}
	return string([]rune(s))
}

// An Answer is what a caller is told of a call: its result as the note has it, and how
// the call stands.
type Answer struct {
	ID    string `json:"call_id"`
	State State  `json:"state"`
	Asked string `json:"asked,omitempty"`
	Text  string `json:"text,omitempty"`
	Room  string `json:"room,omitempty"`
	Result
}

// AnswerOf returns the answer about a call.
func AnswerOf(c Call) Answer {
	a := Answer{ID: c.ID, State: c.State, Asked: c.Asked, Text: c.Text, Room: c.Room, Result: Result{Agent: c.Agent, Tools: []string{}, Errors: []string{}}}
	if c.Result != nil {
		a.Result = *c.Result
	}
	return a
}

// Answers is the answer to several calls at once.
type Answers struct {
	Calls []Answer `json:"calls"`
}

// Encode returns the answer to a request: an Answer for one call, else Answers.
func Encode(list []Answer) []byte {
	var v any = Answers{list}
	if len(list) == 1 {
		v = list[0]
	}
	b, err := json.Marshal(v)
	if err != nil { // no field can fail
		return []byte("{}")
	}
	return b
}
