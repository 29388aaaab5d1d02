package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/room"
)

// roomPath returns the path of a room, or of what is below it.
func roomPath(id, below string) string { return "/api/rooms/" + url.PathEscape(id) + below }

// Create creates a room, or runs a stored one again, and returns its id.
func (c *Client) Create(ctx context.Context, q api.Create) (api.Created, error) {
	var out api.Created
	err := c.Call(ctx, http.MethodPost, "/api/rooms", q, &out)
	return out, err
}

// Rooms lists the rooms of the server.
func (c *Client) Rooms(ctx context.Context) ([]api.RoomBrief, error) {
	var out []api.RoomBrief
	err := c.Call(ctx, http.MethodGet, "/api/rooms", nil, &out)
	return out, err
}

// Launch makes an address that signs a browser in, once.
func (c *Client) Launch(ctx context.Context) (l api.Launch, err error) {
	err = c.Call(ctx, http.MethodPost, "/api/launches", api.NewLaunch{}, &l)
	return l, err
}

// Show returns a room as it is now.
func (c *Client) Show(ctx context.Context, id string) (api.Shown, error) {
	var out api.Shown
	err := c.Call(ctx, http.MethodGet, roomPath(id, ""), nil, &out)
	return out, err
}

// NewID returns an id for a command that no other command has.
func NewID() string { return "c_" + rand.Text() }

// Tries of a command whose answer was lost.
const (
	maxTries   = 6
	firstPause = 50 * time.Millisecond
	maxPause   = 2 * time.Second
)

// Do carries out a command in a room and returns the events that record it. If the
// connection is lost before the answer, it sends the command again, with the same
// id, so that nothing is done twice.
func (c *Client) Do(ctx context.Context, id string, q api.Command) ([]room.Event, error) {
	q.ID = cmp.Or(q.ID, NewID())
	pause := firstPause
	for try := 1; ; try++ {
		var done api.Done
		err := c.Call(ctx, http.MethodPost, roomPath(id, "/commands"), q, &done)
		if err == nil {
			return done.Decode()
		}
		if try == 1 && neverSent(err) || !isLost(err) || try == maxTries || ctx.Err() != nil {
			return nil, err
		}
		if !wait(ctx, pause) {
			return nil, ctx.Err()
		}
		pause = min(2*pause, maxPause)
	}
}

// isLost reports that another connection may reach the server. It may have carried
// out the request.
func isLost(err error) bool { return errors.Is(err, errUnreachable) }

// neverSent reports that no server got the request.
func neverSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return errors.Is(err, local.ErrNone) || ok && op.Op == "dial"
}

// wait waits for d and reports whether ctx has not ended.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
