package timeline

import (
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

func TestDecodeKeys(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []key
	}{
		{"a", []key{'a'}},
		{"é漢", []key{'é', '漢'}},
		{"\x1b", []key{keyEscape}},
		{"\x1b\x1b", []key{keyEscape, keyEscape}},
		{"\x1b[A", []key{keyOther}},
		{"\x1b[D\x1b[C", []key{keyLeft, keyRight}},
		{"\x1b[1;5D", []key{keyOther}},
		{"\x1b[3~x", []key{keyOther, 'x'}},
		{"\x1bOPx", []key{keyOther, 'x'}},
		{"\x1bx", []key{keyOther}},
		{"\r\n", []key{keyEnter, keyEnter}},
		{"\x7f\x08\x17\x15\x03\x04", []key{keyErase, keyErase, keyEraseWord, keyEraseLine, keyInterrupt, keyEnd}},
		{"\x00\xff", []key{keyOther, keyOther}},
	} {
		if got := decodeKeys([]byte(c.in)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q is %v, want %v", c.in, got, c.want)
		}
	}
}

func TestEditor(t *testing.T) {
	e := &editor{}
	for _, c := range []struct {
		keys string
		want string
	}{
		{"hello wrld", "hello wrld"},
		{"\x1b[D\x1b[D\x1b[Do", "hello world"},
		{"\x17", "hello rld"},
		{"\x1b[C\x1b[C\x1b[C\x1b[C!", "hello rld!"},
		{"\x7f\x7f", "hello rl"},
		{"\x15", ""},
		{"\x7f\x1b[D\x17ok", "ok"},
	} {
		for _, k := range decodeKeys([]byte(c.keys)) {
			e.press(k)
		}
		if e.String() != c.want {
			t.Errorf("after %q the line is %q, want %q", c.keys, e, c.want)
		}
	}
	e.set("a draft\nof two lines \x1b[2J")
	if line, col := e.line(40); line != "a draft⏎of two lines " || col != uniseg.StringWidth(line) {
		t.Errorf("shown as %q, cursor at %d", line, col)
	}
}

// FuzzKeys checks that the line fits and contains the cursor for any input.
func FuzzKeys(f *testing.F) {
	for _, s := range []string{"hello", "\x1b[D\x7f漢字", "\x1b[1;1;1;1", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb\x1b[D\x7f", "\x1b]0;x\a", "a\x17\x15\x1bOP"} {
		f.Add([]byte(s), 20)
	}
	f.Fuzz(func(t *testing.T, b []byte, width int) {
		width = 4 + max(0, width)%200
		e := &editor{}
		for _, k := range decodeKeys(b) {
			e.press(k)
			if e.at < 0 || e.at > len(e.text) {
				t.Fatalf("cursor at %d of %d", e.at, len(e.text))
			}
		}
		line, col := e.line(width)
		if !utf8.ValidString(line) || col > width || uniseg.StringWidth(line) > width+1 {
			t.Fatalf("%q is %d columns wide of %d, cursor at %d", line, uniseg.StringWidth(line), width, col)
		}
	})
}
