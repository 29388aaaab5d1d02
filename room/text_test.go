package room

import "testing"

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
