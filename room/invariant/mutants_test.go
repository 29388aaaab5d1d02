package invariant_test

import (
	"slices"
	"testing"

	"github.com/folkmoot/moot/room/invariant"
)

// A fault alters a history so that it breaks an invariant.
type fault struct {
	id     string
	game   func(*testing.T) history
	change func(*mutant)
}

// faults has a fault for each invariant, and several for some.
func faults() []fault {
	return slices.Concat(turnFaults, limitFaults, logFaults, mailFaults, callFaults, worldFaults)
}

// TestMutants alters a history in one respect for each invariant, which the checker
// must name.
func TestMutants(t *testing.T) {
	for _, f := range faults() {
		t.Run(f.id, func(t *testing.T) {
			m := &mutant{t, f.game(t)}
			f.change(m)
			broken := m.play()
			if !slices.ContainsFunc(broken, func(b invariant.Broken) bool { return b.ID == f.id }) {
				t.Errorf("not found; the checker names %v", broken)
			}
		})
	}
}

// TestEveryInvariantHasAMutant checks that there is a fault for each invariant, and that
// each invariant has an id of its own and a sentence.
func TestEveryInvariantHasAMutant(t *testing.T) {
	known := map[string]bool{}
	for _, f := range faults() {
		known[f.id] = true
	}
	seen := map[string]bool{}
	for _, i := range invariant.All() {
		if seen[i.ID] || i.Sentence == "" {
			t.Errorf("invariant %s is listed twice, or says nothing", i.ID)
		}
		if seen[i.ID] = true; !known[i.ID] {
			t.Errorf("no mutant breaks %s: %s", i.ID, i.Sentence)
		}
	}
	for id := range known {
		if !seen[id] {
			t.Errorf("there is a mutant of %s, which is no invariant", id)
		}
	}
}
