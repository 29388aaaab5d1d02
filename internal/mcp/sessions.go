package mcp

import (
	"context"
	"fmt"

	"github.com/folkmoot/moot/internal/api"
)

// The three tools of the note on messages between sessions.

// callback is how an agent asks another one to call it back.
func callback(session string) string {
	if session == "" {
		return "You have no session id here, so answers cannot be sent to you: poll get_session_state."
	}
	return fmt.Sprintf("Your session id is %s. To be called back, write in the message: when finished, call send_agent_message(%q, RESULTS).", session, session)
}

var sendMessage = tool{
	name: "send_agent_message", title: "Send a message to an agent session", shownTo: caller.mayTalk,
	describe: func(session string) string {
		return "Send a message to another agent session (SendMessage of other products). It does not wait for an answer. " + callback(session)
	},
	add: handler(func(ctx context.Context, u use, in struct {
		Session string `json:"sessionId" jsonschema:"id of the receiving session: ROOM.SEAT, or what create_agent_session returned"`
		Message string `json:"message" jsonschema:"the text"`
	},
	) (any, error) {
		path, err := join("/api/sessions/", in.Session)
		if err != nil {
			return nil, err
		}
		return u.call(ctx, "POST", path+"/messages", api.SessionMessage{Message: in.Message, Source: "agent"})
	}),
}

var sessionState = tool{
	name: "get_session_state", title: "State of an agent session", readOnly: true, shownTo: caller.always,
	describe: func(session string) string {
		own := ""
		if session != "" {
			own = " Your own session id is " + session + "."
		}
		return "State of an agent session: idle, streaming or error, with its working folder and its last message. Poll it to see whether a session has finished." + own
	},
	add: handler(func(ctx context.Context, u use, in struct {
		Session string `json:"sessionId" jsonschema:"id of the session: ROOM.SEAT, or what create_agent_session returned"`
	},
	) (any, error) {
		path, err := join("/api/sessions/", in.Session)
		if err != nil {
			return nil, err
		}
		return u.call(ctx, "GET", path+"/state", nil)
	}),
}

var createSession = tool{
	name: "create_agent_session", title: "Create an agent session", shownTo: caller.mayTalk,
	describe: func(session string) string {
		return "Create an agent session in a working folder, and get its id. With initialMessage it starts to work at once. " + callback(session)
	},
	add: handler(func(ctx context.Context, u use, in struct {
		Folder  string `json:"cwd" jsonschema:"absolute path of the working folder, in a folder that the host allows"`
		Message string `json:"initialMessage,omitempty" jsonschema:"first message"`
		Agent   string `json:"agent,omitempty" jsonschema:"which agent; without it that of the host's settings"`
		Model   string `json:"model,omitempty" jsonschema:"which model, if the agent takes one"`
	},
	) (any, error) {
		return u.call(ctx, "POST", "/api/sessions", api.NewSession{Folder: in.Folder, Model: in.Model, Agent: in.Agent, Message: in.Message})
	}),
}
