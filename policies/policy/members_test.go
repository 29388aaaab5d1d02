package policy

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// TestMembersComparesWholeKeys: a key that differs from a field's in one byte is
// another key.
func TestMembersComparesWholeKeys(t *testing.T) {
	t.Parallel()
	for _, fields := range [][]field{
		inputFields, limitsFields, agentFields, taskFields, handoffFields, followedFields, eventFields,
	} {
		for i, f := range fields {
			if len(f.key) > 24 {
				t.Errorf("%s has more than three words", f.key)
			}
			for changed := -1; changed < len(f.key); changed++ {
				key := []byte(f.key)
				want := i
				if changed >= 0 {
					key[changed]++
					want = len(fields)
				}
				d := inputDecoder{Reader{b: append(key, strings.Repeat("null,", window)...)}}
				got, ended := d.members(fields, 0, unsafe.Pointer(&Input{}))
				if got != want || ended {
					t.Errorf("%s: field %d, %v; want %d", key, got, ended, want)
				}
			}
		}
	}
}

// TestMembersReadsLikeReader decodes values with a space before them, which only
// Reader accepts, and without one.
func TestMembersReadsLikeReader(t *testing.T) {
	t.Parallel()
	values := []string{
		`0`, `7`, `-1`, `-0`, `--1`, `-`, `01`, `-01`, `1.5`, `1e3`, `12`, `999999`, `1234567`, `12345678`, `123456789`,
		`9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `/`, `:`, `1:`, `1]`,
		`""`, `"a"`, `"abcdef"`, `"abcdefg"`, `"abcdefgh"`, `"a`, `"a\n"`, `"\u0041"`, `"é"`, "\"\x01\"", "\"\xff\"", `"a"b`, `""""`,
		`true`, `false`, `tru`, `truex`, `falsey`, `null`, `[]`, `[ ]`, `["a"]`, `[1]`, `[`, `[]]`, `{}`, ``, ` `,
	}
	for _, key := range []string{"abi", "decision", "now_ms", "init", "room", "constraints"} {
		for _, v := range values {
			for _, end := range []string{`,"turn":3,"future":"` + strings.Repeat("x", window) + `"}`, `}` + strings.Repeat(" ", window), `}`} {
				direct, err := DecodeInput([]byte(`{"` + key + `":` + v + end))
				spaced, want := DecodeInput([]byte(`{"` + key + `": ` + v + end))
				if (err == nil) != (want == nil) || err == nil && !reflect.DeepEqual(direct, spaced) {
					t.Errorf("%s %s%s: %+v, %v; with a space %+v, %v", key, v, end, direct, err, spaced, want)
				} else if err != nil && err.(*DecodeError).What != want.(*DecodeError).What {
					t.Errorf("%s %s%s: %v; with a space %v", key, v, end, err, want)
				}
			}
		}
	}
}
