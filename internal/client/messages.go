package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room/delivery"
)

// seatPath returns the path below a seat of a room.
func seatPath(id, seat, below string) string {
	return roomPath(id, "/seats/"+url.PathEscape(seat)+below)
}

// Post posts a message of a seat apart from its answers, and returns what has become of
// it. With the same id in p again it posts nothing, and returns the same.
func (c *Client) Post(ctx context.Context, id, seat string, p api.Post) (r api.Receipt, err error) {
	err = c.Call(ctx, http.MethodPost, seatPath(id, seat, "/post"), p, &r)
	return r, err
}

// Pull returns the messages to a seat that are not settled, at most that many. It
// changes nothing.
func (c *Client) Pull(ctx context.Context, id, seat string, most int) (in api.Inbox, err error) {
	err = c.Call(ctx, http.MethodGet, seatPath(id, seat, "/pull?max_items="+strconv.Itoa(most)), nil, &in)
	return in, err
}

// Ack acknowledges a message to a seat. A second time changes nothing.
func (c *Client) Ack(ctx context.Context, id, seat, message string) (r api.Receipt, err error) {
	err = c.Call(ctx, http.MethodPost, seatPath(id, seat, "/ack"), api.Ack{ID: message}, &r)
	return r, err
}

// MaxDeliveries is the largest number of deliveries of one answer.
const MaxDeliveries = 1000

// DeliveryFilter chooses deliveries. An empty field chooses all.
type DeliveryFilter struct {
	To, From, Kind string
	State          delivery.State
}

// Deliveries returns what has become of messages to single participants: the newest
// MaxDeliveries.
func (c *Client) Deliveries(ctx context.Context, id string, f DeliveryFilter) (d api.Deliveries, err error) {
	q := url.Values{"limit": {strconv.Itoa(MaxDeliveries)}}
	for name, v := range map[string]string{"to": f.To, "from": f.From, "kind": f.Kind, "state": string(f.State)} {
		if v != "" {
			q.Set(name, v)
		}
	}
	err = c.Call(ctx, http.MethodGet, roomPath(id, "/deliveries?"+q.Encode()), nil, &d)
	return d, err
}

// DeadLetters returns the newest messages that the room has refused, or that were
// never acknowledged.
func (c *Client) DeadLetters(ctx context.Context, id string) (d api.DeadLetters, err error) {
	err = c.Call(ctx, http.MethodGet, roomPath(id, "/dead-letters"), nil, &d)
	return d, err
}
