package a2a

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/folkmoot/moot/endpoints/webclient"
)

// maxLine bounds one event of a stream, in bytes. An event may have a file.
const maxLine = 8 << 20

// A transport adds the token, and turns a status that is no success into an error
// with the words of the server, which the library would drop.
type transport struct {
	base  http.RoundTripper
	token string
}

// RoundTrip fails with *webclient.StatusError for a status from 400 on.
func (t transport) RoundTrip(q *http.Request) (*http.Response, error) {
	if t.token != "" {
		q = q.Clone(q.Context())
		q.Header.Set("Authorization", "Bearer "+t.token)
	}
	r, err := t.base.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	if r.StatusCode < 400 {
		if failed, ok := q.Context().Value(readErrorKey{}).(*error); ok {
			r.Body = &recordedBody{r.Body, failed}
		}
		return r, nil
	}
	failed := &webclient.StatusError{Status: r.StatusCode, Message: messageOf(r.Body)}
	return nil, errors.Join(failed, r.Body.Close())
}

type readErrorKey struct{}

// recordReads returns a context for one call of the library, which fails with
// failed if reading the answer fails. The library reports the line that was not read
// to its end, and not why.
func recordReads(ctx context.Context) (_ context.Context, failed *error) {
	failed = new(error)
	return context.WithValue(ctx, readErrorKey{}, failed), failed
}

// unread returns the error of an answer that ended in the middle as errCut.
func unread(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}

// A recordedBody records the error that ends it.
type recordedBody struct {
	io.ReadCloser
	failed *error
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		*b.failed = err
	}
	return n, err
}
