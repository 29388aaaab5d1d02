package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/folkmoot/moot/internal/api"
)

// An httpWriter sends frames as JSON lines or as server-sent events.
type httpWriter struct {
	w    http.ResponseWriter
	conn *http.ResponseController
	sse  bool
}

func newHTTPWriter(w http.ResponseWriter, form string) *httpWriter {
	h := &httpWriter{w: w, conn: http.NewResponseController(w), sse: form == typeSSE}
	w.Header().Set("Content-Type", form+"; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy that buffers would hold events
	w.WriteHeader(http.StatusOK)
	_ = h.conn.Flush() // a reader that has gone shows at the first frame
	return h
}

// newChosenWriter is newHTTPWriter in the form that the reader accepts.
func newChosenWriter(w http.ResponseWriter, r *http.Request) *httpWriter {
	if accepts(r.Header.Get("Accept"), typeSSE) {
		return newHTTPWriter(w, typeSSE)
	}
	return newHTTPWriter(w, typeLines)
}

// sendJSON sends v as a frame.
func sendJSON(w frameWriter, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.frame(frame{line: line}, false)
}

// write sends text and, unless more follows, everything that waits.
func (h *httpWriter) write(more bool, format string, args ...any) error {
	_ = h.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // not all connections have deadlines
	if _, err := fmt.Fprintf(h.w, format, args...); err != nil || more {
		return err
	}
	return h.conn.Flush()
}

// frame implements [frameWriter], like the other methods.
func (h *httpWriter) frame(f frame, more bool) error {
	if !h.sse {
		return h.write(more, "%s\n", f.line)
	}
	head := ""
	if f.name != "" {
		head = "event: " + f.name + "\n"
	}
	if f.seq > 0 {
		head += fmt.Sprintf("id: %d\n", f.seq)
	}
	return h.write(more, "%sdata: %s\n\n", head, f.line)
}

func (h *httpWriter) end(_ api.End, line []byte) { _ = h.frame(frame{line: line}, false) }

func (h *httpWriter) alive() error {
	if h.sse {
		return h.write(false, ":\n\n")
	}
	return h.write(false, "\n")
}
