package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/folkmoot/moot/internal/api"
)

// The tools with which an agent calls other agents.

// mayCall reports whether the caller is an agent that may call others. The descriptions
// of these tools are long, and a model pays for them.
func (c caller) mayCall() bool { return c.mayTalk() && c.calls }

// ownSeat says which seat the caller has.
func ownSeat(session string) string {
	if session == "" {
		return ""
	}
	return " You are the session " + session + "."
}

var callAgent = tool{
	name: "call_agent", title: "Call another agent", shownTo: caller.mayCall,
	describe: func(session string) string {
		return "Give another agent a task and get its result. It sees the task and what `context` selects of your room. You wait `wait` seconds; after that, the result comes by get_call or as a message of the kind call_result. You cannot call yourself or one of your callers." + ownSeat(session)
	},
	add: handler(func(ctx context.Context, u use, in struct {
		chair
		callArgs
		Wait *int `json:"wait,omitempty" jsonschema:"seconds to wait for the result; without it 55"`
	},
	) (any, error) {
		path, err := u.seatPath(ctx, in.chair)
		if err != nil {
			return nil, err
		}
		wait := maxWait
		if in.Wait != nil {
			wait = min(max(*in.Wait, 0), maxWait)
		}
		defer u.reportProgress(ctx, "waiting for "+in.Agent)()
		return u.callResult(ctx, "POST", path+"/calls", struct {
			callArgs
			WaitMS int `json:"wait_ms"`
		}{in.callArgs, wait * 1000})
	}),
}

// callArgs are the arguments of a call.
type callArgs struct {
	Agent            string         `json:"agent_name" jsonschema:"id of the agent to call"`
	Task             string         `json:"task" jsonschema:"what it is to do, with all that it needs to know"`
	Context          *contextFilter `json:"context,omitempty" jsonschema:"what it is given of your room; without it nothing"`
	Input            map[string]any `json:"input,omitempty" jsonschema:"data for the task"`
	MaxContextTokens int            `json:"max_context_tokens,omitempty" jsonschema:"bound of the context; without it 4000"`
	AllowedTools     []string       `json:"allowed_tools,omitzero" jsonschema:"its rights: read, edit, delete, move, search, execute, think, fetch, other"`
	AllowNested      bool           `json:"allow_nested_calls,omitempty" jsonschema:"it may call other agents too"`
	MaxTokens        int64          `json:"max_tokens,omitempty" jsonschema:"its budget of tokens"`
}

// A contextFilter selects what a called agent is given of its caller's room. The room
// reads it, see the filter of package endpoint.
type contextFilter struct {
	LastMessages     *int     `json:"last_messages,omitempty" jsonschema:"how many of the newest messages; without it all"`
	Roles            []string `json:"roles,omitzero" jsonschema:"whose messages: user, assistant, tool, system; without it user and assistant"`
	Keywords         []string `json:"keywords,omitzero" jsonschema:"only messages with one of these words"`
	IncludeSummary   bool     `json:"include_summary,omitempty" jsonschema:"one line for each of the other messages"`
	IncludeWorkspace bool     `json:"include_workspace,omitempty" jsonschema:"a description of the working folder"`
	WorkspaceFiles   []string `json:"workspace_files,omitzero" jsonschema:"files to name instead of the top of the folder"`
	MaxAgeSeconds    *int64   `json:"max_age_seconds,omitempty" jsonschema:"only messages that are not older"`
}

// callResult calls the API and returns its answer about one call.
func (u use) callResult(ctx context.Context, method, path string, in any) (any, error) {
	var out struct {
		Calls []json.RawMessage `json:"calls"`
	}
	if err := u.api.Call(ctx, method, path, in, &out); err != nil {
		return nil, err
	}
	if len(out.Calls) != 1 {
		return out, nil
	}
	return out.Calls[0], nil
}

// A callRef names a call.
type callRef struct {
	chair
	Call string `json:"call_id" jsonschema:"the call_id that call_agent gave you"`
}

func (u use) callPath(ctx context.Context, in callRef) (string, error) {
	path, err := u.seatPath(ctx, in.chair)
	if err != nil {
		return "", err
	}
	return join(path+"/calls/", in.Call)
}

var getCall = tool{
	name: "get_call", title: "See how a call stands", readOnly: true, shownTo: caller.mayCall,
	describe: func(session string) string {
		return "See how a call that you made stands, after at most `wait` seconds for its result. In the state input_required with asked equal to your id, answer its question with reply_call." + ownSeat(session)
	},
	add: handler(func(ctx context.Context, u use, in struct {
		callRef
		Wait int `json:"wait,omitempty" jsonschema:"seconds from 0 to 55; without it 0"`
	},
	) (any, error) {
		path, err := u.callPath(ctx, in.callRef)
		if err != nil {
			return nil, err
		}
		defer u.reportProgress(ctx, "waiting for the call")()
		return u.callResult(ctx, "GET", path+"?wait="+url.QueryEscape(fmt.Sprint(min(max(in.Wait, 0), maxWait), "s")), nil)
	}),
}

var replyCall = tool{
	name: "reply_call", title: "Answer the agent that you called", shownTo: caller.mayCall,
	describe: func(session string) string {
		return "Answer the question of an agent that you called, when get_call says input_required and you are asked. The agent then goes on." + ownSeat(session)
	},
	add: handler(func(ctx context.Context, u use, in struct {
		callRef
		Text string `json:"text" jsonschema:"your answer"`
	},
	) (any, error) {
		path, err := u.callPath(ctx, in.callRef)
		if err != nil {
			return nil, err
		}
		return map[string]any{"call_id": in.Call, "replied": true}, u.api.Call(ctx, "POST", path+"/reply", api.CallReply{Text: in.Text}, nil)
	}),
}

var cancelCall = tool{
	name: "cancel_call", title: "Cancel a call", shownTo: caller.mayCall,
	describe: func(session string) string {
		return "Cancel a call that you made, and all calls below it. The tokens that it has used so far are charged." + ownSeat(session)
	},
	add: handler(func(ctx context.Context, u use, in struct {
		callRef
		Reason string `json:"reason,omitempty" jsonschema:"why, in one sentence"`
	},
	) (any, error) {
		path, err := u.callPath(ctx, in.callRef)
		if err != nil {
			return nil, err
		}
		return map[string]any{"call_id": in.Call, "canceling": true}, u.api.Call(ctx, "POST", path+"/cancel", api.CallCancel{Reason: in.Reason}, nil)
	}),
}
