package plugins

import (
	"bytes"
	"context"
	"sync"
	"testing"
)

// TestInstancesHandedOn: an instance goes from one decision to the next while
// the first is still returning. Whoever has it then has it alone; the race
// detector sees when not.
func TestInstancesHandedOn(t *testing.T) {
	p := loadGuest(t, newHost(t, Config{AuditEvery: -1}), guest{"scribbler", "scribbler", scribbler(10)}, nil)
	input := []byte{9, 0, 0, 0, 1}
	want, err := p.run(context.Background(), call{input: input})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 300 {
				r, err := p.run(context.Background(), call{input: input})
				if err != nil || !bytes.Equal(r.Output, want.Output) || r.Fuel != want.Fuel {
					t.Errorf("%v: %q with %d units of fuel; alone %q with %d", err, r.Output, r.Fuel, want.Output, want.Fuel)
					return
				}
			}
		})
	}
	wg.Wait()
}
