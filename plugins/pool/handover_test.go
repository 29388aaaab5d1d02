package pool

import (
	"bytes"
	"sync"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// TestInstancesHandedOver: an instance goes to the next decision while the one
// before still returns. Each decision has it alone; the race detector tells.
func TestInstancesHandedOver(t *testing.T) {
	p := load(t, w.Guest{Name: "scribbler", Module: scribbler(10)}, nil, 256)
	q := Query{Input: []byte{9, 0, 0, 0, 1}}
	want, err := p.run(q)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 300 {
				r, err := p.run(q)
				if err != nil || !bytes.Equal(r.Output, want.Output) || r.Fuel != want.Fuel {
					t.Errorf("%v: %q with %d units of fuel; alone %q with %d", err, r.Output, r.Fuel, want.Output, want.Fuel)
					return
				}
			}
		})
	}
	wg.Wait()
}
