package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
)

// Peers lists the devices that the server's device is paired with.
func (c *Client) Peers(ctx context.Context) ([]api.Peer, error) {
	var out api.Peers
	err := c.Call(ctx, http.MethodGet, "/api/peers", nil, &out)
	return out.Peers, err
}

// RemovePeer removes a device by its name or id.
func (c *Client) RemovePeer(ctx context.Context, peer string) (p api.Peer, err error) {
	return p, c.Call(ctx, http.MethodDelete, "/api/peers/"+url.PathEscape(peer), nil, &p)
}

// Device describes the server's device toward other owners.
func (c *Client) Device(ctx context.Context) (d api.Device, err error) {
	return d, c.Call(ctx, http.MethodGet, "/api/device", nil, &d)
}

// Share shares agents of the server's device until ctx ends. It calls begun once
// they are shared.
func (c *Client) Share(ctx context.Context, q api.ShareRequest, begun func(api.Share) error) error {
	ended := &problem.Error{Code: "SHARE-ENDED", What: "the process that shared the agents has ended", Fix: "share them again"}
	err := c.stream(ctx, http.MethodPost, "/api/shares/held", q, func(_ context.Context, line []byte) error {
		var u api.ShareUpdate
		if len(line) == 0 {
			return nil // the server is there
		}
		switch err := json.Unmarshal(line, &u); {
		case err != nil:
			return badAnswer("/api/shares/held", err)
		case u.Problem != nil:
			return u.Problem.Problem()
		case u.Share != nil:
			return begun(*u.Share)
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil || errors.Is(err, errUnreachable):
		ended.Err = err
		return ended
	}
	return err
}

// A Pairing is an invite of the server's device, or the use of an invite of
// another one.
type Pairing struct {
	client *Client
	path   string
	State  api.Pairing // the latest that is known
}

// Invite makes an invite.
func (c *Client) Invite(ctx context.Context, q api.InviteRequest) (*Pairing, error) {
	return c.pairing(ctx, "/api/invites", q)
}

// Join uses an invite of another device.
func (c *Client) Join(ctx context.Context, q api.JoinRequest) (*Pairing, error) {
	return c.pairing(ctx, "/api/joins", q)
}

func (c *Client) pairing(ctx context.Context, path string, in any) (*Pairing, error) {
	p := &Pairing{client: c}
	if err := c.Call(ctx, http.MethodPost, path, in, &p.State); err != nil {
		return nil, err
	}
	p.path = path + "/" + url.PathEscape(p.State.ID)
	return p, nil
}

// pollTime is how long the server waits for a change.
const pollTime = "25s"

// Next waits for a change.
func (p *Pairing) Next(ctx context.Context) error {
	for version := p.State.Version; p.State.Version == version; {
		var next api.Pairing
		path := p.path + "?wait=" + pollTime + "&after=" + strconv.Itoa(version)
		if err := p.client.Call(ctx, http.MethodGet, path, nil, &next); err != nil {
			return err
		}
		p.State = next
	}
	return nil
}

// Answer answers the question with these digits.
func (p *Pairing) Answer(ctx context.Context, digits string, accept bool) error {
	return p.client.Call(ctx, http.MethodPost, p.path+"/answer", api.PairingAnswer{Digits: digits, Accept: accept}, nil)
}

// Withdraw ends the pairing unless it is over.
func (p *Pairing) Withdraw(ctx context.Context) error {
	return p.client.Call(ctx, http.MethodDelete, p.path, nil, nil)
}

// WatchPeer shows a room of another owner's device until it ends or ctx does. The
// query says which room and from where; see the API.
func (c *Client) WatchPeer(ctx context.Context, peer string, query url.Values, show func(api.PeerUpdate) error) error {
	path := "/api/watches/" + url.PathEscape(peer) + "?" + query.Encode()
	over := false
	err := c.lines(ctx, path, func(_ context.Context, line []byte) error {
		var u api.PeerUpdate
		if len(line) == 0 {
			return nil // the server is there
		}
		if err := json.Unmarshal(line, &u); err != nil {
			return badAnswer(path, err)
		}
		if u.Problem != nil {
			return u.Problem.Problem()
		}
		over = over || u.State == "over"
		return show(u)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && !over {
		return unreachable(errors.New("the process that watched the room has ended"))
	}
	return err
}

// SayThere posts a message in a room of another owner's device.
func (c *Client) SayThere(ctx context.Context, peer string, m api.PeerSay) error {
	return c.Call(ctx, http.MethodPost, "/api/watches/"+url.PathEscape(peer)+"/say", m, nil)
}
