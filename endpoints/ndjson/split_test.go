package ndjson

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// TestSplitEverywhere: how a frame is cut into writes changes nothing.
func TestSplitEverywhere(t *testing.T) {
	frame := `{"type":"desktop.local_prompt.response","request_id":"q","status":"ok","draft_message":"ü 🙂 \n"}` + "\r\n"
	for i := range len(frame) + 1 {
		n := newNotes(func() endpoint.Floor { return nil })
		w := newWire(io.Discard, 1000, 3, n)
		x := &exchange{prompt: bounded(endpoint.Prompt{Request: "q"}), result: make(chan result, 1), late: make(chan struct{})}
		if _, err := w.begin(x); err != nil {
			t.Fatal(err)
		}
		if err := w.read(io.MultiReader(strings.NewReader(frame[:i]), strings.NewReader(frame[i:]))); err != io.EOF {
			t.Fatal(err)
		}
		w.end(endpoint.ErrExited)
		n.close(true)
		if r := <-x.result; r.err != nil || r.reply.Text != "ü 🙂 \n" {
			t.Errorf("cut at %d: %q and %v", i, r.reply.Text, r.err)
		}
	}
}

// TestViolationsAreBounded: an agent that breaks rules faster than the room
// takes note fills neither memory nor the log, and the rest is counted.
func TestViolationsAreBounded(t *testing.T) {
	floor := &slow{gate: make(chan struct{}), heard: make(chan endpoint.Signal, 2*maxNotes)}
	n := newNotes(func() endpoint.Floor { return floor })
	for range 1000 {
		n.violation("noise", "again")
	}
	if len(n.queue) != maxNotes {
		t.Errorf("%d wait, want %d", len(n.queue), maxNotes)
	}
	close(floor.gate)
	n.close(true)
	close(floor.heard)
	var told []endpoint.Signal
	for s := range floor.heard {
		told = append(told, s)
	}
	if len(told) > maxNotes+2 || !strings.Contains(fmt.Sprint(told), "signals were lost") {
		t.Errorf("%d told: %v", len(told), told)
	}
}

// A slow floor answers once its gate is open.
type slow struct {
	gate  chan struct{}
	heard chan endpoint.Signal
}

// Raise waits for the gate.
func (f *slow) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	<-f.gate
	f.heard <- s
	return endpoint.Answer{}, nil
}

// Show drops live text.
func (*slow) Show(string) {}
