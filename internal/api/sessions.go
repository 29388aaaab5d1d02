package api

import "time"

// A NewSession asks for a session: an agent that works in a folder.
type NewSession struct {
	Folder  string `json:"cwd" minLength:"1" maxLength:"4096" doc:"Absolute path of the working folder, below one of server.roots"`
	Model   string `json:"model,omitempty" maxLength:"200" doc:"The model, if the agent can be told one"`
	Agent   string `json:"agent,omitempty" maxLength:"64" doc:"A known agent or a profile; without it the setting server.agent"`
	Message string `json:"initialMessage,omitempty" maxLength:"1048576" doc:"The first message"`
}

// A SessionCreated is the answer to a NewSession.
type SessionCreated struct {
	Session string `json:"sessionId"`
}

// A SessionMessage is a message to a session.
type SessionMessage struct {
	Message string `json:"message" minLength:"1" maxLength:"1048576" doc:"The text"`
	Source  string `json:"source,omitempty" enum:"user,applet,agent" doc:"Where it comes from; a message of an agent is always one of an agent"`
	From    string `json:"fromSession,omitempty" maxLength:"300" doc:"Ignored: the sender is known from the credential"`
}

// A SessionMessageSent is the answer to a SessionMessage. State is set if the request
// has waited.
type SessionMessageSent struct {
	Message string        `json:"messageId"`
	Status  string        `json:"status" enum:"dispatched"`
	State   *SessionState `json:"state,omitempty"`
}

// A SessionState is how a session stands.
type SessionState struct {
	Session string              `json:"sessionId"`
	Status  string              `json:"status" enum:"idle,streaming,error"`
	Folder  string              `json:"cwd"`
	Active  bool                `json:"isActive" doc:"Its room is loaded"`
	Ended   string              `json:"ended,omitempty" doc:"Why it has ended"`
	Last    *SessionLastMessage `json:"lastMessage,omitempty"`
}

// A SessionLastMessage is the newest message of a session.
type SessionLastMessage struct {
	Role    string    `json:"role" enum:"user,assistant"`
	Content string    `json:"content"`
	Time    time.Time `json:"timestamp"`
}
