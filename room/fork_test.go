package room

import "testing"

// TestForkedInputs builds inputs of a room that was forked twice. Up to each fork
// they equal the inputs of the room before, whose digests are recorded.
func TestForkedInputs(t *testing.T) {
	s := &State{Spec: Spec{Room: "c", ForkedFrom: &Fork{Room: "b", Seq: 20}, Ancestors: []Fork{{Room: "a", Seq: 10}}}}
	for seq, want := range map[int64]string{1: "a", 9: "a", 10: "b", 19: "b", 20: "c", 99: "c"} {
		s.Seq = seq
		in, err := s.Input(PolicyCursor{}, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if in.Room != want || in.Seed != Seed(want, 1) {
			t.Errorf("at event %d the policy is asked for room %q with seed %s, want %q", seq, in.Room, in.Seed, want)
		}
	}
	s.Spec.ForkedFrom, s.Spec.Ancestors = &Fork{Room: "b", Seq: 5}, []Fork{{Room: "a", Seq: 10}} // b was forked at 10, and this at 5 of it
	if s.Seq = 4; s.originalID() != "a" {
		t.Errorf("called %q", s.originalID())
	}
}
