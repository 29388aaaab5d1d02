package plugins

import "testing"

// TestHeaded: what a run takes from its input is the input's own, and nothing
// of what is no input.
func TestHeaded(t *testing.T) {
	for _, c := range []struct {
		input, room, seed string
		nowMS             int64
	}{
		{`{"abi":1,"room":"r","now_ms":5,"seed":"9f","agents":[{"room":"x","seed":"y"}]}`, "r", "9f", 5},
		{`{"seed":"9f"}`, "", "9f", 0},
		{`{"room":"r","now_ms":5`, "", "", 0},
		{`{"room":"r","now_ms":"5"}`, "", "", 0},
		{`[1]`, "", "", 0},
		{``, "", "", 0},
	} {
		got := parseHeader([]byte(c.input))
		if got.room != c.room || got.nowMS != c.nowMS || got.seed != c.seed || string(got.input) != c.input {
			t.Errorf("%s: %+v", c.input, got)
		}
	}
}
