package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
)

// A draftID names an answer that waits for a person: the turn, and the sequence
// number of the event that made it.
type draftID struct {
	Turn int
	Seq  int64
}

func (d draftID) String() string { return fmt.Sprintf("%d.%d", d.Turn, d.Seq) }

// parseDraftID is the opposite of String.
func parseDraftID(s string) (d draftID, err error) {
	turn, seq, _ := strings.Cut(s, ".")
	if d.Turn, err = strconv.Atoi(turn); err == nil {
		d.Seq, err = strconv.ParseInt(seq, 10, 64)
	}
	if err != nil || d.Turn < 1 || d.Seq < 1 || d.String() != s {
		return draftID{}, &problem.Error{Code: "MCP-WAITING", What: fmt.Sprintf("%.40q is not the id of an answer that waits", s), Fix: "pass the id that answer_turn gave you"}
	}
	return d, nil
}

// askPerson is the result for an answer that a person has to approve. A client of the
// newest revision asks its user to do so and calls again; others are given the id.
// The user's answer to the client decides nothing, because the agent could have given
// it. A person decides in the room.
func (u use) askPerson(d draftID) *sdk.CallToolResult {
	can := u.req.ClientCapabilities()
	if u.req.ProtocolVersion() < firstStateless || can == nil || can.Elicitation == nil {
		return waits(d)
	}
	return &sdk.CallToolResult{RequestState: d.String(), InputRequests: sdk.InputRequestMap{"approval": &sdk.ElicitParams{
		Mode:            "form",
		Message:         "The agent's answer waits until a person approves it in the room: `moot inbox` lists it. Continue when you have approved or rejected it there.",
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}}}
}

// waits is the result for a client that is to ask again.
func waits(d draftID) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		StructuredContent: map[string]any{"outcome": "drafted", "waiting": d.String()},
		Content:           []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("Waiting: a person has to approve the answer. To ask how it stands, call answer_turn with waiting %q and without text. You may call await_turn meanwhile.", d)}},
	}
}

// decided returns how an answer stands: posted, still waiting, or rejected.
func (u use) decided(ctx context.Context, c chair, id string) (any, error) {
	d, err := parseDraftID(id)
	if err != nil {
		return nil, err
	}
	path, err := u.roomPath(ctx, c.place)
	if err == nil {
		c.Seat, err = u.seat(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	var state roomState // read first: what is posted meanwhile is among the messages
	if err := u.api.Call(ctx, "GET", path, nil, &state); err != nil {
		return nil, err
	}
	for m := (api.Messages{More: true, Next: d.Seq}); m.More; {
		after := m.Next
		m = api.Messages{}
		if err := u.api.Call(ctx, "GET", fmt.Sprintf("%s/messages?after=%d", path, after), nil, &m); err != nil {
			return nil, err
		}
		for _, said := range m.Messages {
			if said.From == c.Seat && said.Turn == d.Turn {
				return map[string]any{"outcome": "posted", "seq": said.Seq, "text": said.Text}, nil
			}
		}
	}
	for _, p := range state.Participants {
		if p.ID == c.Seat && p.Phase == "waiting for approval" && state.Turn <= d.Turn {
			return waits(d), nil
		}
	}
	return map[string]any{"outcome": "rejected"}, nil
}
