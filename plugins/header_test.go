package plugins

import "testing"

// TestParseHeader: a run reads its fields from the top level of the input, and
// reads none from bytes that are not an input.
func TestParseHeader(t *testing.T) {
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
