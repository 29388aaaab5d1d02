package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/folkmoot/moot/problem"
)

// A tool is one tool for all callers.
type tool struct {
	name, title string
	readOnly    bool                        // it changes nothing
	shownTo     func(caller) bool           // the callers who may use it
	describe    func(session string) string // session is the id of the caller's own session, "" if it has none
	add         func(*Server, *sdk.Tool)    // its handler
}

// tools are all tools, in the order of their names, in which the library lists them.
// A client should get 17 at most.
var tools = []tool{
	ackMessage, answerTurn, awaitTurn, callAgent, cancelCall, claimTask, createSession, getCall, sessionState, handOff, listRooms, passTurn, postMessage, pullMessages,
	readRoom, replyCall, sendMessage,
}

// register adds the tool to a server.
func (t tool) register(s *Server) {
	t.add(s, &sdk.Tool{Name: t.name, Title: t.title, Description: t.describe(""), Annotations: &sdk.ToolAnnotations{
		ReadOnlyHint: t.readOnly, DestructiveHint: new(false), OpenWorldHint: new(false),
	}})
}

// A use is one call of a tool.
type use struct {
	*Server
	api API
	req *sdk.CallToolRequest
}

// handler makes the handler of a tool from a function that returns what the client
// gets: a value with a JSON form, or a result.
func handler[In any](run func(context.Context, use, In) (any, error)) func(*Server, *sdk.Tool) {
	return func(s *Server, def *sdk.Tool) {
		def.InputSchema = schemaOf[In]()
		sdk.AddTool(s.sdk, def, func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
			out, err := run(ctx, use{Server: s, api: s.api(req), req: req}, in)
			if err != nil {
				return nil, nil, explained(err)
			}
			if r, ok := out.(*sdk.CallToolResult); ok {
				return r, nil, nil
			}
			return nil, out, nil
		})
	}
}

// explained returns err with what to do about it, which a model reads.
func explained(err error) error {
	var p *problem.Error
	if errors.As(err, &p) && p.Fix != "" {
		return errors.New(p.Error() + "\nfix: " + p.Fix)
	}
	return err
}

// A place is the room that an argument names, or that of the credential.
type place struct {
	Room string `json:"room,omitempty" jsonschema:"id of the room; without it the room of your credential"`
}

// A chair is a seat of a room in the same way.
type chair struct {
	place
	Seat string `json:"seat,omitempty" jsonschema:"id of the seat; without it the seat of your credential"`
}

// roomPath returns the path of a room.
func (u use) roomPath(ctx context.Context, p place) (string, error) {
	if p.Room == "" {
		c, err := callerOf(ctx, u.api)
		if err != nil {
			return "", err
		}
		p.Room = c.Room
	}
	if p.Room == "" {
		return "", &problem.Error{Code: "MCP-ROOM", What: "the call names no room, and the credential is for all rooms", Fix: "pass room: list_rooms lists the ids"}
	}
	return join("/api/rooms/", p.Room)
}

// seatPath returns the path of a seat.
func (u use) seatPath(ctx context.Context, c chair) (string, error) {
	path, err := u.roomPath(ctx, c.place)
	if err != nil {
		return "", err
	}
	seat, err := u.seat(ctx, c)
	if err != nil {
		return "", err
	}
	return join(path+"/seats/", seat)
}

// seat returns the id of a seat.
func (u use) seat(ctx context.Context, c chair) (string, error) {
	if c.Seat != "" {
		return c.Seat, nil
	}
	who, err := callerOf(ctx, u.api)
	if err == nil && who.Seat == "" {
		err = &problem.Error{Code: "MCP-SEAT", What: "the call names no seat, and the credential has none", Fix: "pass seat: read_room lists the seats"}
	}
	return who.Seat, err
}

// join returns a path with an id as its last segment.
func join(path, id string) (string, error) {
	if id == "" || id == "." || id == ".." {
		return "", &problem.Error{Code: "MCP-ID", What: fmt.Sprintf("%q is no id of a room, a seat or a session", id), Fix: "list_rooms and read_room list them"}
	}
	return path + url.PathEscape(id), nil
}

// call calls the API and returns its answer as it is.
func (u use) call(ctx context.Context, method, path string, in any) (any, error) {
	var out json.RawMessage
	if err := u.api.Call(ctx, method, path, in, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// reportProgress tells the client of a call that it still waits, if it wants to know,
// until stop is called.
func (u use) reportProgress(ctx context.Context, what string) (stop func()) {
	token := u.req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(u.cfg.Progress)
		defer tick.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = u.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: what, Progress: n}) // the client may have gone
			}
		}
	}()
	return func() { cancel(); <-done }
}
