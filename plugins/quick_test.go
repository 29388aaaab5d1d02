package plugins

import (
	"context"
	"testing"
	"time"

	"github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// TestQuick checks when the next decision of a policy is expected to be quick: not before
// the first one, while no place is free, or soon after one that took long.
func TestQuick(t *testing.T) {
	h := newHost(t, Config{Parallel: 1})
	p := load(t, h, wasmtest.Answering(spoken))
	decide := func() {
		if _, err := p.Run(context.Background(), roster.AppendJSON(nil)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(quick bool, when string) {
		t.Helper()
		if p.Quick() != quick {
			t.Errorf("%s: quick is %t", when, !quick)
		}
	}
	want(false, "before the first decision")
	decide()
	p.longest.Store(int64(20 * time.Microsecond)) // the first one may have been slow
	want(true, "after a quick one")

	taken, err := h.queue.enter(context.Background(), "other", 0)
	if err != nil {
		t.Fatal(err)
	}
	want(false, "while another room has the only place")
	taken.leave(0)
	want(true, "when the place is free")

	p.longest.Store(int64(100 * time.Millisecond))
	want(false, "after a decision of 100 ms")
	for range 12 {
		decide()
	}
	want(false, "12 decisions later")
	for range 8 {
		decide()
	}
	want(true, "20 decisions later") // 100 ms by 0.75^20 is 0.3 ms
}
