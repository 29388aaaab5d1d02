package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/folkmoot/moot/internal/inbox"
)

// Inbox returns what waits for a person in the rooms of the server, the oldest first.
func (c *Client) Inbox(ctx context.Context) ([]inbox.Item, error) {
	var out struct {
		Items []inbox.Item `json:"items"`
	}
	err := c.Call(ctx, http.MethodGet, "/api/inbox", nil, &out)
	return out.Items, err
}

// FollowInbox calls f with what waits, and then with each change, until the server
// ends or f returns an error.
func (c *Client) FollowInbox(ctx context.Context, f func(inbox.Change) error) error {
	return c.lines(ctx, "/api/inbox/changes", func(_ context.Context, line []byte) error {
		if len(line) == 0 {
			return nil // it only says that the server is there
		}
		var change inbox.Change
		if err := json.Unmarshal(line, &change); err != nil {
			return badAnswer("/api/inbox/changes", err)
		}
		return f(change)
	})
}
