package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/folkmoot/moot/internal/api"
)

// The tools for rooms.

var listRooms = tool{
	name: "list_rooms", title: "List rooms", readOnly: true, shownTo: caller.always,
	describe: func(string) string {
		return "List the rooms that you may use (ListAgents of other products). read_room lists the participants of one. The session id of an agent, which send_agent_message takes, is ROOM.SEAT."
	},
	add: handler(func(ctx context.Context, u use, _ struct{}) (any, error) {
		var rooms json.RawMessage
		err := u.api.Call(ctx, "GET", "/api/rooms", nil, &rooms)
		return map[string]any{"rooms": rooms}, err // a result is an object
	}),
}

// maxMessages is how many messages read_room returns at most.
const maxMessages = 50

var readRoom = tool{
	name: "read_room", title: "Read a room", readOnly: true, shownTo: caller.always,
	describe: func(string) string {
		return "State of a room: objective, phase, participants, and up to 50 messages after the sequence number `after`. Pass `next` of the result as `after` of the next call to get only what is new."
	},
	add: handler(func(ctx context.Context, u use, in struct {
		place
		After int64 `json:"after,omitempty" jsonschema:"sequence number; messages after it are returned, 0 is from the start"`
	},
	) (any, error) {
		path, err := u.roomPath(ctx, in.place)
		if err != nil {
			return nil, err
		}
		var state roomState
		if err := u.api.Call(ctx, "GET", path, nil, &state); err != nil {
			return nil, err
		}
		var m api.Messages
		err = u.api.Call(ctx, "GET", fmt.Sprintf("%s/messages?after=%d&limit=%d", path, in.After, maxMessages), nil, &m)
		return struct {
			roomState
			api.Messages
		}{state, m}, err
	}),
}

// roomState is what an agent needs to know of a room.
type roomState struct {
	Room         string          `json:"room"`
	Name         string          `json:"name,omitempty"`
	Objective    string          `json:"objective"`
	Phase        string          `json:"phase"`
	Ending       json.RawMessage `json:"ending,omitempty"`
	Turn         int             `json:"turn"`
	Participants []struct {
		ID       string `json:"id"`
		Name     string `json:"name,omitempty"`
		Kind     string `json:"kind"`
		Role     string `json:"role,omitempty"`
		Phase    string `json:"phase"`
		Why      string `json:"why,omitempty"`
		Presence string `json:"presence,omitempty"`
		MayCall  bool   `json:"may_call,omitempty"`
	} `json:"participants"`
}
