package room

import (
	"math"
	"strings"
	"testing"
)

func TestFingerprint(t *testing.T) {
	same := [][]string{
		{"Done. See #4!", "done see 4", "DONE, SEE 4."},
		{"Ça va très bien", "ça, va TRÈS bien"},
		{"", "...", " \n"},
	}
	seen := map[uint64]string{}
	for _, texts := range same {
		h := fingerprint(texts[0])
		for _, text := range texts {
			if fingerprint(text) != h {
				t.Errorf("%q and %q differ", text, texts[0])
			}
		}
		if other, ok := seen[h]; ok {
			t.Errorf("%q is taken for %q", texts[0], other)
		}
		seen[h] = texts[0]
	}
	for _, text := range []string{"a", "aa", "ab", "ba", "aé", "éa", "aéb", "éab", "abé", "12345678", "123456789", "23456781", "1234567812345678"} {
		if other, ok := seen[fingerprint(text)]; ok {
			t.Errorf("%q is taken for %q", text, other)
		}
		seen[fingerprint(text)] = text
	}
}

func TestChunksInASnapshot(t *testing.T) {
	var c, back chunkedList[indexEntry]
	for i := range 3*chunkLen + 7 {
		c.push(indexEntry{Seq: int64(3 * i), Tokens: int32(i % 700), From: int16(i%5) - 1})
	}
	data, err := c.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := back.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	if back.N != c.N || len(back.C) != len(c.C) {
		t.Fatalf("%d elements in %d chunks came back as %d in %d", c.N, len(c.C), back.N, len(back.C))
	}
	for i := range c.N {
		if back.at(i) != c.at(i) {
			t.Fatalf("element %d is %v, was %v", i, back.at(i), c.at(i))
		}
	}
	for _, bad := range []string{`"/w=="`, `"AgI="`, `"!"`} {
		if err := back.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{
		{"  One. Two.", 20, "One. …"},
		{"Really! Yes.", 20, "Really! …"},
		{"Why? Because.", 20, "Why? …"},
		{"version 1.2 is out", 40, "version 1.2 is out"},
		{"a line\nanother", 20, "a line …"},
		{"a line \nanother", 20, "a line …"},
		{"abc", 2, "…"},
		{"a line\ranother", 20, "a line …"},
		{"\nsecond", 20, "second"},
		{"ends with a stop.", 20, "ends with a stop."},
		{"exactly ten", 11, "exactly ten"},
		{"exactly ten", 10, "exactly…"},
		{"ééééééé", 9, "ééé…"},
		{". x", 20, ". …"},
		{"word , x\n y", 6, "wor…"},
		{strings.Repeat("y", 60), 10, "yyyyyyy…"},
	} {
		if got := FirstSentence(c.text, c.max); got != c.want {
			t.Errorf("FirstSentence(%q, %d) = %q, want %q", c.text, c.max, got, c.want)
		}
	}
}

// TestBoundaries checks values at the edge of what is accepted.
func TestBoundaries(t *testing.T) {
	zero, one, below, over := 0.0, 1.0, -0.01, 1.01
	for _, c := range []struct {
		name string
		got  any
		want any
	}{
		{"share 0", validShare(&zero) != nil, true},
		{"share 1", validShare(&one) != nil, true},
		{"share below 0", validShare(&below) != nil, false},
		{"share over 1", validShare(&over) != nil, false},
		{"infinite", finite(math.Inf(1)) || finite(math.Inf(-1)) || finite(math.NaN()), false},
		{"finite", finite(-3.5), true},
		{"longest id", validID(strings.Repeat("x", maxID)), true},
		{"id too long", validID(strings.Repeat("x", maxID+1)), false},
		{"id of a space and a tilde", validID("a ~"), true},
		{"id with DEL", validID("a\x7f"), false},
		{"id with a quote", validID(`a"`), false},
		{"id with a backslash", validID(`a\`), false},
		{"longest text", checkLength(strings.Repeat("x", maxText)) == nil, true},
		{"text too long", checkLength(strings.Repeat("x", maxText+1)) == nil, false},
		{"cut to its length", cut("abc", 3), "abc"},
		{"cut inside a character", cut("aé", 2), "a"},
		{"cut to nothing", cut("é", 1), ""},
		{"cut of continuation bytes", cut("\xa9\xa9\xa9", 2), ""},
		{"cost of nothing", Price{Input: 5, Output: 5}.of(Usage{}), int64(0)},
		{"cost without a price", Price{}.of(Usage{Input: 5, Output: 5}), int64(0)},
		{"cost at a negative price", Price{Input: -5}.of(Usage{Input: 5}), int64(0)},
		{"cost of negative tokens", Price{Input: 5}.of(Usage{Input: -5}), int64(0)},
		{"cost at the largest quotient", Price{Input: 1 << 32}.of(Usage{Input: 1_000_000 << 32}), int64(maxSum)},
		{"cost of one token", Price{Input: 1_000_000}.of(Usage{Input: 1}), int64(1)},
		{"cost over all bounds", Price{Input: 1 << 62}.of(Usage{Input: 1 << 62}), int64(maxSum)},
		{"cost at the bound of the division", Price{Input: 1 << 62}.of(Usage{Input: 4_000_000}), int64(maxSum)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	s := State{Spec: Spec{Room: "r1"}}
	for id, own := range map[string]bool{"r1.5": true, "r1": false, "r12": false, "x.5": false, ".5": false} {
		if s.ownID(id) != own {
			t.Errorf("ownID(%q) is %t", id, !own)
		}
	}
}

// TestEventSizes checks that the largest event is stored and read, and that a
// larger one is refused.
func TestEventSizes(t *testing.T) {
	e := Event{V: 1, Seq: 1, Body: Resumed{}}
	b, err := MarshalEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	e.Actor = strings.Repeat("<", MaxEventBytes-len(b))
	if b, err = MarshalEvent(e); err != nil || len(b) != MaxEventBytes {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if back, err := UnmarshalEvent(b); err != nil || back.Actor != e.Actor {
		t.Fatal(err)
	}
	e.Actor += "<"
	if _, err := MarshalEvent(e); err == nil {
		t.Error("an event over the limit was encoded")
	}
	if _, err := UnmarshalEvent(append(b, ' ')); err == nil {
		t.Error("an event over the limit was decoded")
	}
}
