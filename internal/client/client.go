// Package client calls a server of this device, or of another machine, that runs
// rooms.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// Config says which server a Client calls.
type Config struct {
	URL       string            // such as http://127.0.0.1:8420
	Token     string            // sent as a bearer; "" for a socket of this user
	Transport http.RoundTripper // nil is that of net/http; a socket has its own
}

// A Client calls one server. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client
}

// New makes a Client.
func New(c Config) *Client {
	return &Client{cfg: c, http: &http.Client{
		Transport:     c.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // no token for others
	}}
}

// Local makes a Client of a process of this user to which dial connects. Each
// connection is dialed again, so that it finds the process that has taken over.
// The token may be "": the process then knows the user by the socket.
func Local(token string, dial func(context.Context) (net.Conn, error)) *Client {
	return New(Config{URL: "http://localhost", Token: token, Transport: &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableCompression: true,
	}})
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// maxBody is the largest body that is read as one value.
const maxBody = 64 << 20

// Call sends in, unless it is nil, to a path of the server and reads the answer into
// out, unless that is nil. A problem that the server reports is a [problem.Error].
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.send(ctx, method, path, "application/json", in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return unreachable(err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return &problem.Error{Code: "API-ANSWER", What: "the server's answer cannot be read", Where: method + " " + path, Fix: "use a moot of the server's release", Err: err}
	}
	return nil
}

// send sends a request and returns the response if it is no problem. The caller
// closes its body.
func (c *Client) send(ctx context.Context, method, path, accept string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encoding a request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.cfg.URL, "/")+path, body)
	if err != nil {
		return nil, &problem.Error{Code: "API-URL", What: "the server's address cannot be used", Where: c.cfg.URL, Fix: "write it as http://127.0.0.1:8420", Err: err}
	}
	req.Header.Set("Accept", accept)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, problemOf(resp)
	}
	return resp, nil
}

// problemOf reads the problem that a response reports.
func problemOf(resp *http.Response) error {
	var p api.Problem
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil || p.Code == "" {
		return &problem.Error{Code: "API-ANSWER", What: "the server answers " + resp.Status, Where: resp.Request.URL.Path, Fix: "check that the address is that of `moot serve`"}
	}
	p.Status = resp.StatusCode
	said := p.Problem()
	switch kind, known := kinds[p.Code]; {
	case known:
		said.Kind = kind
	case p.Status == http.StatusBadGateway || p.Status == http.StatusServiceUnavailable || p.Status == http.StatusGatewayTimeout:
		said.Kind = errUnreachable // the server ends, or the process behind it has ended
	}
	return said
}

// kinds are the sentinels of problems that callers branch on.
var kinds = map[string]error{
	"ROOM-OVER": room.ErrOver,
	"ROOM-IDLE": errors.Join(errUnreachable, local.ErrNone), // like a dial function that finds no process
}

// errUnreachable reports a server that does not answer now.
var errUnreachable = errors.New("client: the server does not answer")

// unreachable returns the error of a request without an answer. A dial function may
// say more exactly what is wrong.
func unreachable(err error) error {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		found := *p
		found.Kind = errors.Join(errUnreachable, p.Kind)
		return &found
	}
	return &problem.Error{Code: "API-UNREACHABLE", What: "the server does not answer", Fix: "check that `moot serve` runs there", Err: err, Kind: errUnreachable}
}
