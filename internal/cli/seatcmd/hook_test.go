package seatcmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const hookLine = `/bin/moot hook run claude --room r_1 --as ann`

// TestWithHook checks that the hook joins the settings of a client, once, and that
// settings which are no JSON stay as they are.
func TestWithHook(t *testing.T) {
	const own = `{"hooks":[{"type":"command","command":"` + hookLine + `","timeout":600}]}`
	for before, want := range map[string]string{
		"":                          `{"hooks":{"Stop":[` + own + `]}}`,
		` {"model": "x<y"} `:        `{"hooks":{"Stop":[` + own + `]},"model":"x<y"}`,
		`{"hooks":{"Stop":[]}}`:     `{"hooks":{"Stop":[` + own + `]}}`,
		`{"hooks":{"Start":[{}]}}`:  `{"hooks":{"Start":[{}],"Stop":[` + own + `]}}`,
		`{"hooks":{"Stop":[{"a"`:    "",
		`[]`:                        "",
		`{"hooks":[]}`:              "",
		`{"hooks":{"Stop":{}}}`:     "",
		`{"hooks":{"Stop":["x"]}} `: "",
		`{"hooks":{"Stop":[{"hooks":[{"command":"a"}]},{"hooks":[{"command":"moot hook run codex --room r --as b"}]}]}}`: `{"hooks":{"Stop":[{"hooks":[{"command":"a"}]},` + own + `]}}`,
	} {
		after, err := withHook([]byte(before), hookLine)
		if (err != nil) != (want == "") {
			t.Errorf("%s: %v", before, err)
			continue
		}
		var got bytes.Buffer
		if want != "" && json.Compact(&got, after) != nil || got.String() != want {
			t.Errorf("%s:\ngot  %s\nwant %s", before, got.String(), want)
		}
	}
}

// FuzzWithHook checks that the result is JSON with one hook of moot, to which adding
// the hook again changes nothing.
func FuzzWithHook(f *testing.F) {
	f.Add(`{"hooks":{"Stop":[{"hooks":[{"command":"a"}]}]}}`)
	f.Add(`{"hooks":null,"a":[1,2]}`)
	f.Fuzz(func(t *testing.T, before string) {
		after, err := withHook([]byte(before), hookLine)
		if err != nil {
			return
		}
		again, err := withHook(after, hookLine)
		if err != nil || !bytes.Equal(after, again) || !json.Valid(after) || strings.Count(string(after), hookLine) != 1 && !strings.Contains(before, "hook run") {
			t.Errorf("%s\nthen %s\n%v", after, again, err)
		}
	})
}

// TestReadPasted checks where a pasted answer ends.
func TestReadPasted(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		".\n":                      "",
		"one":                      "one",
		"one\r\n two\r\n.\r\nnext": "one\r\n two",
		"one\n..\n. \nend\n.\nx":   "one\n..\n. \nend",
	} {
		if got, err := readPasted(strings.NewReader(in)); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}
