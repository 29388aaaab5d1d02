package acp

import "encoding/json"

// protocolVersion is the version that this package speaks.
const protocolVersion = 1

// Methods of the agent.
const (
	methodInitialize = "initialize"
	methodNew        = "session/new"
	methodResume     = "session/resume"
	methodLoad       = "session/load"
	methodClose      = "session/close"
	methodPrompt     = "session/prompt"
	methodCancel     = "session/cancel"
	methodSetMode    = "session/set_mode"
	methodSetOption  = "session/set_config_option"
)

// Methods of the client, and of both.
const (
	methodUpdate        = "session/update"
	methodPermission    = "session/request_permission"
	methodQuestion      = "elicitation/create"
	methodAuthStatus    = "_auth/status_update" // of Claude Code
	methodCancelRequest = "$/cancel_request"
)

type initializeParams struct {
	ProtocolVersion int                `json:"protocolVersion"`
	Capabilities    clientCapabilities `json:"clientCapabilities"`
	Client          implementation     `json:"clientInfo"`
}

// clientCapabilities states what the client does for the agent: it puts forms to the
// owner. An agent that wants to read a file or run a command uses its own tools and
// asks.
type clientCapabilities struct {
	Files struct {
		Read  bool `json:"readTextFile"`
		Write bool `json:"writeTextFile"`
	} `json:"fs"`
	Terminal  bool `json:"terminal"`
	Questions struct {
		Form struct{} `json:"form"`
	} `json:"elicitation"`
}

type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type initializeResult struct {
	ProtocolVersion int             `json:"protocolVersion"`
	Agent           *implementation `json:"agentInfo"`
	Capabilities    struct {
		Load bool `json:"loadSession"`
		MCP  struct {
			HTTP bool `json:"http"`
		} `json:"mcpCapabilities"`
		Sessions struct {
			Resume *struct{} `json:"resume"`
			Close  *struct{} `json:"close"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
}

// sessionParams are those of new, resume and load. New has no id.
type sessionParams struct {
	SessionID string       `json:"sessionId,omitempty"`
	Dir       string       `json:"cwd"`
	Tools     []toolServer `json:"mcpServers"`
}

type sessionResult struct {
	SessionID string `json:"sessionId"`
}

// sessionOnly are the params of close and cancel.
type sessionOnly struct {
	SessionID string `json:"sessionId"`
}

type modeParams struct {
	SessionID string `json:"sessionId"`
	Mode      string `json:"modeId"`
}

type optionParams struct {
	SessionID string `json:"sessionId"`
	Option    string `json:"configId"`
	Value     string `json:"value"`
}

// optionsResult is the result of session/set_config_option, and the field of
// config_option_update. Values of other types than select are no strings.
type optionsResult struct {
	Options []struct {
		ID    string          `json:"id"`
		Value json.RawMessage `json:"currentValue"`
	} `json:"configOptions"`
}

// value returns the value of an option of the type select, or "".
func (r optionsResult) value(id string) (value string) {
	for _, o := range r.Options {
		if o.ID == id {
			_ = json.Unmarshal(o.Value, &value) // another type has no such value
		}
	}
	return value
}

type promptParams struct {
	SessionID string    `json:"sessionId"`
	Prompt    []content `json:"prompt"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// promptResult is the end of a turn. The usage is not yet a part of the stable
// protocol, and _meta is the agent's own.
type promptResult struct {
	StopReason string          `json:"stopReason"`
	Usage      json.RawMessage `json:"usage"`
	Meta       json.RawMessage `json:"_meta"`
}

// Stop reasons.
const (
	stopEnd       = "end_turn"
	stopTokens    = "max_tokens"
	stopRequests  = "max_turn_requests"
	stopRefusal   = "refusal"
	stopCancelled = "cancelled"
)

type updateParams struct {
	SessionID string          `json:"sessionId"`
	Update    json.RawMessage `json:"update"`
}

// Kinds of updates.
const (
	updateMessage  = "agent_message_chunk"
	updateThought  = "agent_thought_chunk"
	updateToolCall = "tool_call"
	updateToolNews = "tool_call_update"
	updatePlan     = "plan"
	updateUsage    = "usage_update"
	updateInfo     = "session_info_update"
	updateMode     = "current_mode_update"
	updateOptions  = "config_option_update"
)

type chunk struct {
	Content   *content        `json:"content"`
	MessageID json.RawMessage `json:"messageId"`
	Meta      json.RawMessage `json:"_meta"`
}

// chunkMeta is the _meta of a chunk of Qwen Code: the usage of one model call.
type chunkMeta struct {
	Usage json.RawMessage `json:"usage"`
}

// sessionInfo is what Codex says of a model call that has failed and that it
// repeats.
type sessionInfo struct {
	Meta struct {
		Codex struct {
			Error *struct{} `json:"error"`
		} `json:"codex"`
	} `json:"_meta"`
}

// named reports whether the chunk has the id of a message.
func (c chunk) named() bool {
	return len(c.MessageID) > 0 && string(c.MessageID) != "null" && string(c.MessageID) != `""`
}

// A toolCall is an action of the agent. Updates and permission requests have some
// of the fields.
type toolCall struct {
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Kind      string          `json:"kind"`
	Status    string          `json:"status"`
	Input     json.RawMessage `json:"rawInput"`
	Content   json.RawMessage `json:"content"` // of a permission request; see diffsOf
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`

	input // what the client keeps of Input
}

type plan struct {
	Entries []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"entries"`
}

type modeUpdate struct {
	Mode string `json:"currentModeId"`
}

type permissionParams struct {
	SessionID string             `json:"sessionId"`
	ToolCall  toolCall           `json:"toolCall"`
	Options   []permissionOption `json:"options"`
}

type permissionOption struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// Kinds of options.
const (
	allowOnce   = "allow_once"
	allowAlways = "allow_always"
	rejectOnce  = "reject_once"
)

type permissionResult struct {
	Outcome outcome `json:"outcome"`
}

type outcome struct {
	Outcome string `json:"outcome"` // selected or cancelled
	Option  string `json:"optionId,omitempty"`
}

type cancelRequest struct {
	RequestID json.RawMessage `json:"requestId"`
}
