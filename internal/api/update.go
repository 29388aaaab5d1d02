package api

import (
	"encoding/json"
	"fmt"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/delivery"
)

// An Update is one line of a stream of events: an event of the room's log, Live, or
// the End of the stream.
type Update struct {
	Event json.RawMessage `json:"event,omitempty" doc:"An event, as moot schema event describes it"`
	Live  *Live           `json:"live,omitempty" doc:"What is not in the log and may be left out"`
	End   *End            `json:"end,omitempty" doc:"The last line of a stream that the server ends"`

	AgentMessage *AgentMessage `json:"agent_message,omitempty" doc:"In the form of messages: a message, instead of event"`

	HTML string `json:"html,omitempty" doc:"In the form of pages: the HTML of the text of event, which is Markdown"`
	View *Shown `json:"view,omitempty" doc:"In the form of pages: how the room stands now"`
	Mail *Mail  `json:"mail,omitempty" doc:"In the form of pages, for callers with control: what has become of messages between participants since the Mail before"`

	PayloadBytes int `json:"payload_bytes,omitempty" doc:"In the form of pages: the size of the message's payload, if it is left out because it is long"`
}

// Mail is what has become of messages between participants: what has changed since
// the Mail before in the same stream.
type Mail struct {
	Internal   int                 `json:"internal" doc:"Internal messages of the room"`
	Dead       int                 `json:"dead" doc:"Dead letters of the room"`
	Letters    []room.DeadLetter   `json:"letters,omitempty" doc:"New dead letters"`
	Deliveries []delivery.Delivery `json:"deliveries,omitempty" doc:"Deliveries that are new or have changed"`
}

// An AgentMessage is a message with its whole envelope, as the reader sees it.
type AgentMessage struct {
	Seq      int64 `json:"seq" doc:"Its number in the room's log"`
	Redacted bool  `json:"redacted,omitempty" doc:"Its text was removed from the room, after it was sent here or before"`
	room.Message
}

// Codes of an End.
const (
	EndRoom   = "ended"   // the room has ended, and all of it was sent
	EndStored = "stored"  // all that was stored when the stream began was sent
	EndSlow   = "slow"    // the reader is too slow
	EndServer = "stopped" // the server ends
	EndFailed = "failed"  // the log cannot be read
)

// End says why a server ends a stream of events.
type End struct {
	Code    string   `json:"code" enum:"ended,stored,slow,stopped,failed" doc:"After slow and stopped the stream can be resumed"`
	After   int64    `json:"after" doc:"The number of the last event that was sent: resume after it"`
	Problem *Problem `json:"problem,omitempty" doc:"Why the stream failed"`
}

// Live is what watchers see of a room that is not in its log.
type Live struct {
	Participant string `json:"participant,omitempty" doc:"The author of delta or tool"`
	Turn        int    `json:"turn,omitempty"`
	Delta       string `json:"delta,omitempty" doc:"Text of the turn that runs"`
	Tool        *Tool  `json:"tool,omitempty" doc:"A tool call of the turn that runs, which has begun or changed"`
	Pausing     bool   `json:"pausing,omitempty" doc:"The room sends nothing any more; the event follows"`
}

// A Tool is a tool call of an agent, in its own words.
type Tool struct {
	ID     string   `json:"id,omitempty" doc:"Unique within the turn"`
	Kind   string   `json:"kind" enum:"read,edit,delete,move,search,execute,fetch,think,other"`
	Title  string   `json:"title,omitempty"`
	Status string   `json:"status,omitempty" enum:"pending,in_progress,completed,failed" doc:"As last stated"`
	Paths  []string `json:"paths,omitempty" doc:"Files that it concerns"`
}

// UpdateOf returns the form of u, without secrets.
func UpdateOf(u coordinator.Update) (Update, error) {
	if u.Event == nil {
		return Update{Live: &Live{Participant: u.Participant, Turn: u.Turn, Delta: u.Delta, Tool: (*Tool)(u.Tool), Pausing: u.Pausing}}, nil
	}
	b, err := EventOf(*u.Event)
	return Update{Event: b}, err
}

// EventOf returns the form of e, without the room's secret.
func EventOf(e room.Event) (json.RawMessage, error) {
	if b, ok := e.Body.(room.Opened); ok {
		b.Spec.Secret = ""
		e.Body = b
	}
	return room.MarshalEvent(e)
}

// Update returns what u says. An End is no update of a room.
func (u Update) Update() (coordinator.Update, error) {
	switch {
	case u.Live != nil && u.Event == nil:
		return coordinator.Update{Participant: u.Live.Participant, Turn: u.Live.Turn, Delta: u.Live.Delta, Tool: (*room.ToolCall)(u.Live.Tool), Pausing: u.Live.Pausing}, nil
	case u.Event == nil || u.Live != nil:
		return coordinator.Update{}, fmt.Errorf("a line of a stream has an event or live text")
	}
	e, err := room.UnmarshalEvent(u.Event)
	return coordinator.Update{Event: &e}, err
}
