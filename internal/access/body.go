package access

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/problem"
)

// bodyDepth is how deep the JSON of a request may be nested.
const bodyDepth = 16

// ReadBody reads the body of a request, checks that it is strict JSON of bounded
// size and depth, and lets handlers read it again. A client that sends it too slowly
// is disconnected. Keys are checked by the decoder of the route.
func ReadBody(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.ContentLength == 0 {
		return nil
	}
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(BodyTime)) // not all connections have deadlines
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, BodyBytes))
	_ = deadline.SetReadDeadline(time.Time{})
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return &problem.Error{Code: "API-LARGE", What: "the body is longer than 1 MiB", Fix: "send less in one request"}
	}
	if err == nil {
		err = strict.Check(b, bodyDepth, nil)
	}
	if err != nil {
		return &problem.Error{Code: "API-JSON", What: "the body is not valid JSON", Fix: "`moot schema openapi` describes the requests", Err: err}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	return nil
}
