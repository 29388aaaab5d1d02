package room_test

import (
	"fmt"
	"testing"
)

// TestAnyPresent checks when a session holds a lease, and whether other agents than a
// are there.
func TestAnyPresent(t *testing.T) {
	s := &script{}
	for _, step := range []struct {
		line                string
		present, others, me bool
	}{
		{"open a/session b/session me/human", false, false, false},
		{"idle a", true, false, true},
		{"live a", true, false, true},
		{"pause", true, false, true},
		{"live b", true, true, true},
		{"away a", true, true, true},
		{"standing b muted", true, false, false},
		{"resume", true, false, false},
		{"away b", false, false, false},
		{"standing b active", false, false, false},
		{"takeover b", false, true, true},
		{"idle a", true, true, true},
		{"stop", false, true, true},
	} {
		s.do(t, discard(), step.line)
		got := fmt.Sprint(s.state.AnyPresent(), s.state.AnyoneHere("a"), s.state.AnyoneHere("me"))
		if want := fmt.Sprint(step.present, step.others, step.me); got != want {
			t.Errorf("%s: %s, want %s", step.line, got, want)
		}
	}
}
