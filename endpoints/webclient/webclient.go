// Package webclient holds what endpoints share whose agents are servers: the one
// request in flight ([Turns]), the words of a server without its token ([Secret]),
// and the HTTP transport. The transport retries requests that a busy server refuses,
// refuses redirects, and bounds what a server sends.
//
// The statuses 429, 500, 502, 503 and 504 are retried up to four times within the
// time of the request's context, after the time in Retry-After or else with
// exponential backoff and jitter. A redirect is an error: a request has a token and
// the texts of a room.
package webclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Bounds of what a server sends, in bytes.
const (
	maxHeader = 64 << 10
	maxStream = 64 << 20
	maxAnswer = 8 << 20  // that is no stream
	maxError  = 64 << 10 // of an error; the rest is not read
	maxBegin  = 4 << 10  // of an answer that should have been a stream
)

// Bounds of the retries.
const (
	maxRetries = 4
	minDelay   = 500 * time.Millisecond
	maxDelay   = 8 * time.Second
	maxWait    = time.Minute // for a Retry-After without a deadline
)

const eventStream = "text/event-stream"

// A Transport is described in the package comment. It may be used concurrently.
type Transport struct {
	Base    http.RoundTripper
	MaxLine int // bytes of a line of a stream
}

// NewBase returns a transport with the proxy of the environment. It keeps no
// connections: turns are far apart, and a server has no business on an idle one.
func NewBase() http.RoundTripper {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
		DisableKeepAlives: true,
	}
}

// RoundTrip sends a request until it is answered, or refused for good. Its errors are
// those of Base, *RedirectError, *StatusError for a redirect to nowhere, and
// *NotStreamError if q accepts a stream of events and gets something else. Reading
// the body of an answer over its bound fails with an error that wraps
// endpoint.ErrTooLarge; that of a status from 400 on ends there.
func (t Transport) RoundTrip(q *http.Request) (*http.Response, error) {
	for retries := 0; ; retries++ {
		r, err := t.Base.RoundTrip(q)
		if err != nil {
			return nil, err
		}
		delay, again := retryDelay(q.Context(), r, retries)
		if !again {
			return t.bounded(q, r)
		}
		_ = discard(r.Body)
		if err := Sleep(q.Context(), delay); err != nil {
			return nil, err
		}
		if q, err = repeated(q); err != nil {
			return nil, err
		}
	}
}

// repeated returns q to be sent again.
func repeated(q *http.Request) (*http.Request, error) {
	next := q.Clone(q.Context())
	if q.GetBody == nil {
		return next, nil
	}
	var err error
	next.Body, err = q.GetBody()
	return next, err
}

// retryDelay says whether a request is sent again after the response r, and when.
func retryDelay(ctx context.Context, r *http.Response, retries int) (time.Duration, bool) {
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return 0, false
	}
	delay, stated := retryAfter(r.Header.Get("Retry-After"))
	if !stated {
		delay = min(minDelay<<retries, maxDelay)
		delay += rand.N(delay / 2) // jitter, so that the seats of a room do not ask together
	}
	left := maxWait
	if end, ok := ctx.Deadline(); ok {
		left = time.Until(end)
	}
	return delay, retries < maxRetries && delay < left
}

// retryAfter reads the header Retry-After (RFC 9110, 10.2.3).
func retryAfter(header string) (time.Duration, bool) {
	if n, err := strconv.Atoi(header); err == nil && n >= 0 {
		return time.Duration(min(n, 1<<30)) * time.Second, true
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// discard reads the rest of an error and closes the body, so that the connection
// can be used again.
func discard(body io.ReadCloser) error {
	_, err := io.Copy(io.Discard, io.LimitReader(body, maxError))
	return errors.Join(err, body.Close())
}

// bounded returns r with a bounded body.
func (t Transport) bounded(q *http.Request, r *http.Response) (*http.Response, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	stated := err == nil && kind != ""
	switch {
	case r.StatusCode >= 300 && r.StatusCode < 400:
		return nil, errors.Join(moved(r), r.Body.Close())
	case r.StatusCode >= 400:
		r.Body = partOf{io.LimitReader(r.Body, maxError), r.Body}
	case q.Header.Get("Accept") != eventStream:
		r.Body = &boundedBody{ReadCloser: r.Body, left: maxAnswer, line: maxAnswer}
	case stated && kind != eventStream:
		begin, _ := io.ReadAll(io.LimitReader(r.Body, maxBegin)) // what could be read says enough
		return nil, errors.Join(&NotStreamError{Type: kind, Begin: begin}, r.Body.Close())
	default:
		r.Body = &boundedBody{ReadCloser: r.Body, left: maxStream, line: t.MaxLine}
	}
	return r, nil
}

// A NotStreamError is an answer that should have been a stream of events. It wraps
// endpoint.ErrProtocol.
type NotStreamError struct {
	Type  string // of the answer
	Begin []byte // of the answer, a few KiB
}

// Error says what came in place of a stream, with the beginning of it.
func (n *NotStreamError) Error() string {
	return fmt.Sprintf("%v: it answers with %s and not with a stream of events: %s", endpoint.ErrProtocol, n.Type, strings.ToValidUTF8(string(n.Begin), "?"))
}

// Unwrap returns endpoint.ErrProtocol.
func (n *NotStreamError) Unwrap() error { return endpoint.ErrProtocol }

// partOf is the beginning of a body.
type partOf struct {
	io.Reader
	io.Closer
}

// A boundedBody fails when the body, or one of its lines, is too long.
type boundedBody struct {
	io.ReadCloser
	left   int // of the body
	line   int // bound of a line
	inLine int
}

// Read fails with an error that wraps endpoint.ErrTooLarge.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	for _, c := range p[:n] {
		if b.inLine++; b.inLine > b.line {
			return 0, fmt.Errorf("%w: a line of more than %d bytes", endpoint.ErrTooLarge, b.line)
		}
		if c == '\n' {
			b.inLine = 0
		}
	}
	if b.left < 0 {
		return 0, fmt.Errorf("%w: more than it may send in one answer", endpoint.ErrTooLarge)
	}
	return n, err
}

// A StatusError is a status that is no success, with the message of the server.
type StatusError struct {
	Status  int
	Message string // "" is none
}

// Error names the status and has the message.
func (s *StatusError) Error() string {
	return fmt.Sprintf("status %d: %s", s.Status, cmp.Or(s.Message, http.StatusText(s.Status)))
}

// A RedirectError is a redirect, which is not followed.
type RedirectError struct{ To string } // scheme and host; the rest may have secrets

// Error names the host.
func (r *RedirectError) Error() string { return "redirect to " + r.To }

// moved describes a response that is neither an answer nor an error.
func moved(r *http.Response) error {
	to, err := r.Location()
	if err != nil {
		return &StatusError{Status: r.StatusCode}
	}
	return &RedirectError{to.Scheme + "://" + to.Host}
}
