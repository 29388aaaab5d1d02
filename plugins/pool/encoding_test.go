package pool

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"
)

// FuzzDecodeSnapshot: no bytes behind the sum are read out of bounds, and a
// decoded snapshot survives another round trip.
func FuzzDecodeSnapshot(f *testing.F) {
	const head = len(snapshotMagic) + sha256.Size
	im := snapshot{memory: make([]byte, 2<<16), globals: []uint64{1, 2, 3}, log: "x"}
	copy(im.memory[9000:], "something")
	f.Add(im.appendBinary(nil)[head:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		sum := sha256.Sum256(body)
		form := slices.Concat([]byte(snapshotMagic), sum[:], body)
		got, err := decodeSnapshot(form, 3)
		if err != nil {
			return
		}
		again, err := decodeSnapshot(got.appendBinary(nil), 3)
		if err != nil || !bytes.Equal(again.memory, got.memory) || !slices.Equal(again.globals, got.globals) || again.log != got.log {
			t.Errorf("%v", err)
		}
		form[head-1]++
		if _, err := decodeSnapshot(form, 3); err == nil {
			t.Error("decoded a snapshot with another sum")
		}
	})
}
