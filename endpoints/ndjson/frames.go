package ndjson

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Types of frames. The first two are those of the one-to-one note.
const (
	typePrompt       = "desktop.local_prompt.request"
	typeReply        = "desktop.local_prompt.response"
	typeBid          = "desktop.bid.request"
	typeBidReply     = "desktop.bid.response"
	typeMessage      = "desktop.message"
	typeMessageReply = "desktop.message.response"
	typeCall         = "desktop.call"
	typeCallReply    = "desktop.call.response"
	typeAck          = "desktop.ack"
	typeAckReply     = "desktop.ack.response"
	typeClaim        = "desktop.claim"
	typeClaimReply   = "desktop.claim.response"
	typeReady        = "desktop.ready"

	typePermission      = "desktop.permission"
	typePermissionReply = "desktop.permission.response"
)

// A request asks for a turn or a bid. Its first fields are those of the note.
type request struct {
	Type          string    `json:"type"`
	RequestID     string    `json:"request_id"`
	ProfileID     string    `json:"profile_id"`
	SessionID     string    `json:"session_id"`
	TurnIndex     int       `json:"turn_index"`
	Mode          string    `json:"mode"`
	Objective     string    `json:"objective"`
	RemoteMessage string    `json:"remote_message"`
	History       []entry   `json:"history"`
	Constraints   allowance `json:"constraints"`

	// Prompt is the whole request as one text, which a model can be given as it is.
	// Texts of others in it are quoted. All other fields but Instructions are its
	// parts.
	Prompt          string          `json:"prompt"`
	Instructions    string          `json:"instructions,omitempty"` // of the agent's owner; no part of Prompt
	RemoteFrom      string          `json:"remote_from,omitempty"`
	You             *seat           `json:"you,omitempty"`
	Participants    []seat          `json:"participants,omitempty"`
	RoomConstraints []string        `json:"room_constraints,omitempty"`
	HistorySummary  string          `json:"history_summary,omitempty"`
	Omitted         string          `json:"omitted,omitempty"`
	Inbox           []endpoint.Mail `json:"inbox,omitempty"`
	Hints           json.RawMessage `json:"hints,omitempty"`
	Host            *origin         `json:"host,omitempty"`
	Trace           *trace          `json:"trace,omitempty"`
}

// An origin is the owner of the room, when that is not the agent's owner.
// YourOwner is always false: all of the request comes from there.
type origin struct {
	Name      string `json:"name"`
	Device    string `json:"device_id"`
	YourOwner bool   `json:"your_owner"`
}

// A trace has the orchestration metadata of the note, and the devices that the
// request has passed.
type trace struct {
	ID      string   `json:"trace_id"`
	Hops    int      `json:"hop_count"`
	Origin  string   `json:"origin_agent_device_id"`
	Profile string   `json:"orchestrator_profile_id"`
	Path    []string `json:"path"`
}

type entry struct {
	Role string `json:"role"`
	Text string `json:"text"`
	From string `json:"from,omitempty"`
	// Claimed marks a message that only the host of the room says is the agent's.
	Claimed bool `json:"claimed,omitempty"`
}

// Roles in a history.
const (
	roleOwn   = "local_agent"
	roleOther = "remote_agent"
)

type allowance struct {
	MaxOutputChars     int   `json:"max_output_chars"`
	AllowToolUse       bool  `json:"allow_tool_use"`
	MaxHistoryTurns    int   `json:"max_history_turns"`
	MaxHistoryChars    int   `json:"max_history_chars"`
	MaxToolRounds      int   `json:"max_tool_rounds"`
	LocalTurnTimeoutMS int64 `json:"local_turn_timeout_ms"`
}

// A seat is an [endpoint.Seat] as JSON.
type seat struct {
	ID        string   `json:"id"`
	Name      string   `json:"name,omitempty"`
	Kind      string   `json:"kind,omitempty"`
	Role      string   `json:"role,omitempty"`
	Domains   []string `json:"domains,omitempty"`
	SameOwner bool     `json:"same_owner"`
	Owner     string   `json:"owner,omitempty"`
	Device    string   `json:"device_id,omitempty"`
}

// requestOf maps a prompt for a room of many seats to the frame of the note,
// which has two sides.
func requestOf(p endpoint.Prompt) request {
	q := request{
		Type: typePrompt, RequestID: p.Request, ProfileID: p.Profile, SessionID: p.Session,
		TurnIndex: p.Turn, Mode: p.Mode, Objective: p.Objective, History: []entry{},
		Constraints: allowance{
			MaxOutputChars: p.MaxOutputChars, AllowToolUse: p.AllowToolUse, MaxToolRounds: p.MaxToolRounds,
			MaxHistoryTurns: p.MaxHistoryTurns, MaxHistoryChars: p.MaxHistoryChars,
			LocalTurnTimeoutMS: int64(p.Timeout / time.Millisecond),
		},
		Prompt: p.Text, Instructions: p.Instructions, RoomConstraints: p.Constraints, HistorySummary: p.Summary, Omitted: p.Omitted.Sentence(), Hints: p.Hints,
	}
	if p.Kind == endpoint.Bid {
		q.Type = typeBid
	}
	if p.You.ID != "" {
		you := seat(p.You)
		q.You = &you
	}
	q.Inbox = p.Mail
	for _, s := range p.Seats {
		q.Participants = append(q.Participants, seat(s))
	}
	if p.Host.Device != "" {
		q.Host = &origin{Name: p.Host.Name, Device: p.Host.Device}
	}
	if t := p.Trace; t.ID != "" {
		q.Trace = &trace{t.ID, t.Hops, t.Origin, t.Profile, t.Path}
	}
	q.setMessages(append(p.History[:len(p.History):len(p.History)], p.CatchUp...))
	return q
}

// setMessages sets the newest message of another seat as the remote message, and
// all others as the history.
func (q *request) setMessages(ls []endpoint.Line) {
	newest := -1
	for i, l := range ls {
		if !l.Own {
			newest = i
		}
	}
	for i, l := range ls {
		switch {
		case i == newest:
			q.RemoteMessage, q.RemoteFrom = l.Text, l.From
		case l.Own && !l.Claimed:
			q.History = append(q.History, entry{Role: roleOwn, Text: l.Text, From: l.From})
		default:
			q.History = append(q.History, entry{Role: roleOther, Text: l.Text, From: l.From, Claimed: l.Claimed})
		}
	}
}

// A response ends a request. Its first fields are those of the note.
type response struct {
	Type      string   `json:"type"`
	RequestID string   `json:"request_id"`
	Status    string   `json:"status"`
	Draft     string   `json:"draft_message"`
	Reason    string   `json:"reason"`
	Metrics   *metrics `json:"metrics,omitempty"`

	Outcome    string   `json:"outcome,omitempty"`
	Usage      *usage   `json:"usage,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	ToolRounds int      `json:"tool_rounds,omitempty"`
	Bid        *float64 `json:"bid,omitempty"`
	ToolCalls  []tool   `json:"tool_calls,omitempty"`
	Handoff    *handoff `json:"handoff,omitempty"`
}

// A handoff is an [endpoint.Handoff] as the agent states it.
type handoff struct {
	To     string `json:"to"`
	Reason string `json:"reason"`
}

// A tool is an [endpoint.ToolCall] as the agent states it.
type tool struct {
	Kind   string   `json:"kind,omitempty"`
	Title  string   `json:"title,omitempty"`
	Status string   `json:"status,omitempty"`
	Paths  []string `json:"paths,omitempty"`
}

type metrics struct {
	LatencyMS float64 `json:"latency_ms"`
}

// Usage has pointers to tell what is not stated from what is zero.
type usage struct {
	Input       *int64   `json:"input_tokens,omitempty"`
	Output      *int64   `json:"output_tokens,omitempty"`
	CachedInput int64    `json:"cached_input_tokens,omitempty"` // part of Input
	Reasoning   int64    `json:"reasoning_tokens,omitempty"`    // part of Output
	CostUSD     *float64 `json:"cost_usd,omitempty"`            // US dollars
}

// A sideMessage is a message or a call of an agent, apart from its answer. A message
// with a kind has an envelope. The id of another one only marks the response to it.
type sideMessage struct {
	Type   string `json:"type"`
	CallID string `json:"call_id,omitempty"`
	endpoint.Post
}

// A messageReply is the room's answer to a sideMessage with an id.
type messageReply struct {
	Type      string          `json:"type"`
	MessageID string          `json:"message_id,omitempty"`
	CallID    string          `json:"call_id,omitempty"`
	Allowed   bool            `json:"allowed"`
	Reason    string          `json:"reason,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"`
}

// encodeLine encodes v as one line. It does not escape HTML, so that scripts can
// read the text.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
