// Package client calls a server of this device, or of another machine, that runs
// rooms.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
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

// maxBody is the largest body that is read as one value.
const maxBody = 64 << 20

// Call sends in, unless it is nil, to a path of the server and reads the answer into
// out, unless that is nil. A problem that the server reports is a [problem.Error].
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.send(ctx, method, path, in)
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
func (c *Client) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
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
	return p.Problem()
}

func unreachable(err error) error {
	return &problem.Error{Code: "API-UNREACHABLE", What: "the server does not answer", Fix: "check that `moot serve` runs there", Err: err}
}
