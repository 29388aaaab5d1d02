package pool

import (
	"testing"

	"github.com/folkmoot/moot/plugins/guest"
	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// TestNothingLeaks: a module that hashes all its memory and globals, answers with
// the hash and overwrites everything gives one answer to one input, in 16,000
// decisions: with each way to restore a memory, and after decisions that trapped,
// grew the memory or ran out of fuel.
func TestNothingLeaks(t *testing.T) {
	decisions := 16_000
	if testing.Short() {
		decisions = 200
	}
	for name, pages := range map[string]uint32{"small": 2, "large": 8} {
		t.Run(name, func(t *testing.T) {
			restoreWays(t, func(t *testing.T) {
				distinctAnswers(t, load(t, w.Guest{Name: "nasty", Policy: "nasty", Module: w.NastyOf(pages)}, nil, guest.DefMemoryPages), decisions/6)
			})
		})
	}
}

// distinctAnswers makes decisions and counts the answers to one input.
func distinctAnswers(t *testing.T, p *loaded, decisions int) {
	answers := map[string]int{}
	for i := range decisions {
		q := Query{Input: []byte("{\"room\":\"\"}")} // 11 bytes: it neither grows nor traps
		switch i % 16 {
		case 3:
			q.Input = append(q.Input, ' ') // 12: it grows
		case 7:
			q.Input = append(q.Input, "   "...) // 14: it traps
		case 11:
			q.Fuel = 10_000
		}
		r, err := p.run(q)
		switch {
		case len(q.Input) == 11 && q.Fuel == 0 && err == nil:
			answers[string(r.Output)]++
		case len(q.Input) == 11 && q.Fuel == 0, q.Fuel > 0 && err == nil:
			t.Fatalf("decision %d: %q, %v", i, r.Output, err)
		}
	}
	if len(answers) != 1 {
		t.Errorf("%d answers to one input", len(answers))
	}
}
