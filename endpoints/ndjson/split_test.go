package ndjson

import (
	"io"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
)

// TestSplitFrame writes a frame in two parts, cut at each byte.
func TestSplitFrame(t *testing.T) {
	frame := `{"type":"desktop.local_prompt.response","request_id":"q","status":"ok","draft_message":"ü 🙂 \n"}` + "\r\n"
	for i := range len(frame) + 1 {
		q := inflight.NewQueue(func() endpoint.Floor { return nil })
		w := newWire(io.Discard, 1000, 3, q)
		x, err := w.begin(t.Context(), withLimits(endpoint.Prompt{Request: "q"}))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Read(io.MultiReader(strings.NewReader(frame[:i]), strings.NewReader(frame[i:]))); err != io.EOF {
			t.Fatal(err)
		}
		w.End(endpoint.ErrExited)
		q.Close(true)
		if r := <-x.Result(); r.Err != nil || r.Reply.Text != "ü 🙂 \n" {
			t.Errorf("cut at %d: %q and %v", i, r.Reply.Text, r.Err)
		}
	}
}
