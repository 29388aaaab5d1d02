package api

import (
	"slices"

	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/secrets"
)

// A CallRequest has the arguments of one call, or of several in Calls.
type CallRequest struct {
	CallArgs
	Calls []CallArgs `json:"calls,omitempty" doc:"Several calls at once, instead of the other fields"`
}

// CallArgs are the arguments of a call of an agent by another.
type CallArgs struct {
	Agent            string         `json:"agent_name,omitempty" doc:"The agent that is called"`
	Task             string         `json:"task,omitempty"`
	Context          map[string]any `json:"context,omitempty" doc:"What it is given of the room; without it nothing"`
	Input            any            `json:"input,omitempty" doc:"Any JSON for the task, up to 64 KiB"`
	MaxContextTokens int            `json:"max_context_tokens,omitempty"`
	AllowedTools     *[]string      `json:"allowed_tools,omitempty" doc:"Its rights in this call, at most its own"`
	AllowNested      bool           `json:"allow_nested_calls,omitempty"`
	MaxTokens        int64          `json:"max_tokens,omitempty"`
	TimeoutMS        int64          `json:"timeout_ms,omitempty"`
	WaitMS           *int64         `json:"wait_ms,omitempty" doc:"How long the answer waits for the result; 0 not at all"`
}

// A CallReply answers the question of a called agent.
type CallReply struct {
	Text string `json:"text" minLength:"1"`
}

// A CallCancel ends a call.
type CallCancel struct {
	Reason string `json:"reason,omitempty" maxLength:"2000"`
}

// Calls are the calls of a room, oldest first: the open ones and the newest ended ones.
type Calls struct {
	Calls []calls.Call `json:"calls"`
}

// CallsOf returns the list of calls as readers see it: previews of all texts.
func CallsOf(list []calls.Call) Calls {
	out := Calls{Calls: make([]calls.Call, len(list))}
	for i, c := range list {
		out.Calls[i] = PreviewCall(c)
	}
	return out
}

// PreviewCall returns c without its request, with the beginnings of its texts and
// without secrets.
func PreviewCall(c calls.Call) calls.Call {
	c = c.Public()
	c.Task, c.Text, c.Canceling = secrets.Preview(c.Task), secrets.Preview(c.Text), secrets.Preview(c.Canceling)
	if c.Result == nil {
		return c
	}
	r := *c.Result
	r.Output, r.Tools, r.Errors = secrets.Preview(r.Output), slices.Clone(r.Tools), slices.Clone(r.Errors)
	for _, list := range [][]string{r.Tools, r.Errors} {
		for i := range list {
			list[i] = secrets.Preview(list[i])
		}
	}
	c.Result = &r
	return c
}

// CallAnswers say how calls stand, in their order.
type CallAnswers = calls.Answers
