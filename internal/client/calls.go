package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/calls"
)

// Calls lists the calls of agents by agents in a room: the open ones and the newest
// ended ones, oldest first.
func (c *Client) Calls(ctx context.Context, id string) ([]calls.Call, error) {
	var out api.Calls
	err := c.Call(ctx, http.MethodGet, roomPath(id, "/calls"), nil, &out)
	return out.Calls, err
}

// CallAgents makes the calls of a seat, and waits for their results as long as the
// arguments say, at most [api.MaxWait].
func (c *Client) CallAgents(ctx context.Context, id, seat string, q api.CallRequest) ([]calls.Answer, error) {
	var out api.CallAnswers
	err := c.Call(ctx, http.MethodPost, seatPath(id, seat, "/calls"), q, &out)
	return out.Calls, err
}

// GetCall returns how a call of a seat stands, after at most that wait for its result.
func (c *Client) GetCall(ctx context.Context, id, seat, call string, wait time.Duration) (calls.Answer, error) {
	var out api.CallAnswers
	path := callPath(id, seat, call, "?wait="+url.QueryEscape(wait.String()))
	if err := c.Call(ctx, http.MethodGet, path, nil, &out); err != nil {
		return calls.Answer{}, err
	}
	if len(out.Calls) != 1 {
		return calls.Answer{}, &problem.Error{Code: "API-ANSWER", What: "the server's answer has no call", Where: path, Fix: "use a moot of the server's release"}
	}
	return out.Calls[0], nil
}

// ReplyCall answers the question of the agent that a seat has called.
func (c *Client) ReplyCall(ctx context.Context, id, seat, call, text string) error {
	return c.Call(ctx, http.MethodPost, callPath(id, seat, call, "/reply"), api.CallReply{Text: text}, nil)
}

// CancelCall ends a call of a seat, and all below it.
func (c *Client) CancelCall(ctx context.Context, id, seat, call, reason string) error {
	return c.Call(ctx, http.MethodPost, callPath(id, seat, call, "/cancel"), api.CallCancel{Reason: reason}, nil)
}

// callPath returns the path below a call of a seat.
func callPath(id, seat, call, below string) string {
	return seatPath(id, seat, "/calls/"+url.PathEscape(call)+below)
}
