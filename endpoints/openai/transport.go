package openai

import (
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
	maxLine   = 1 << 20 // of a stream
	maxStream = 64 << 20
	maxList   = 8 << 20  // of models
	maxError  = 64 << 10 // of an error; the rest is not read
)

// Bounds of the retries.
const (
	maxRetries = 4
	minDelay   = 500 * time.Millisecond
	maxDelay   = 8 * time.Second
	maxWait    = time.Minute // for a Retry-After without a deadline
)

// A transport retries requests that a busy server refuses, and bounds what the
// server sends. See the package comment.
type transport struct{ base http.RoundTripper }

// RoundTrip sends a request until it is answered, or refused for good.
func (t transport) RoundTrip(q *http.Request) (*http.Response, error) {
	for retries := 0; ; retries++ {
		r, err := t.base.RoundTrip(q)
		if err != nil {
			return nil, err
		}
		delay, again := retryDelay(q.Context(), r, retries)
		if !again {
			return bounded(q, r)
		}
		_ = discard(r.Body)
		if err := sleep(q.Context(), delay); err != nil {
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

func sleep(ctx context.Context, d time.Duration) error {
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

// bounded returns r with a bounded body. An answer to a turn has to be a stream.
func bounded(q *http.Request, r *http.Response) (*http.Response, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	stated := err == nil && kind != ""
	switch {
	case r.StatusCode >= 300 && r.StatusCode < 400:
		return nil, errors.Join(moved(r), r.Body.Close())
	case r.StatusCode >= 400:
		r.Body = partOf{io.LimitReader(r.Body, maxError), r.Body}
	case q.Method != http.MethodPost:
		r.Body = &boundedBody{ReadCloser: r.Body, left: maxList, line: maxList}
	case stated && kind != "text/event-stream":
		err := notStream(kind, r.Body)
		return nil, errors.Join(err, r.Body.Close())
	default:
		r.Body = &boundedBody{ReadCloser: r.Body, left: maxStream, line: maxLine}
	}
	return r, nil
}

// notStream describes an answer to a turn that is no stream.
func notStream(kind string, body io.Reader) error {
	begin, _ := io.ReadAll(io.LimitReader(body, 4*maxReason)) // what could be read says enough
	return fmt.Errorf("%w: it answers with %s and not with a stream of events: %s", endpoint.ErrProtocol, kind, strings.ToValidUTF8(string(begin), "?"))
}

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

// A redirectError says where a server wants to send a request.
type redirectError struct{ to string }

func (r *redirectError) Error() string { return "redirect to " + r.to }

// moved describes a response that is neither an answer nor an error.
func moved(r *http.Response) error {
	to, err := r.Location()
	if err != nil {
		return &statusError{r.StatusCode, ""}
	}
	return &redirectError{to.Scheme + "://" + to.Host} // the rest may have secrets
}
