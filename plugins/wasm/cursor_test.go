package wasm

import "testing"

// TestCutNumbers checks that a number that is cut off is read as 0: loops over a list run
// to the length that was read.
func TestCutNumbers(t *testing.T) {
	for _, cut := range []string{"", "\xff", "\xff\xff\xff\xff", "\x80\x80\x80\x80"} {
		c := cursor{b: []byte(cut)}
		if n := c.u32(); n != 0 || !c.failed() {
			t.Errorf("%q is read as %d: %v", cut, n, c.failure())
		}
		c = cursor{b: []byte(cut)}
		if n := c.count("tables", 1<<40, 1); n != 0 || !c.failed() {
			t.Errorf("%q is read as a length of %d: %v", cut, n, c.failure())
		}
	}
	for text, want := range map[string]uint32{"\x00": 0, "\x7f": 127, "\x80\x01": 128, "\xff\xff\xff\xff\x0f": 1<<32 - 1} {
		c := cursor{b: []byte(text)}
		if n := c.u32(); n != want || c.failed() {
			t.Errorf("%q is read as %d: %v", text, n, c.failure())
		}
	}
	c := cursor{b: []byte("\xff\xff\xff\xff\x1f")} // 33 bits
	if n := c.u32(); n != 0 || !c.failed() {
		t.Errorf("33 bits are read as %d: %v", n, c.failure())
	}
}
