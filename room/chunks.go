package room

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
)

// chunkLen is how many elements a chunk holds.
const chunkLen = 512

// A packed element has a short form: what it differs in from the one before
// it. Snapshots hold hundreds of thousands of them.
type packed[T any] interface {
	pack(b []byte, before T) []byte
	// unpack is given the element before it, and what is left to read; it
	// returns what is left then, or nil and false when that is no element.
	unpack(b []byte, before T) (T, []byte, bool)
}

// chunks is a list that only grows. Growing never moves what it holds, so an
// append costs the same at the hundredth and the millionth element.
type chunks[T packed[T]] struct {
	C [][]T
	N int

	gone int // elements that were dropped, all of them older than those in C
}

func (c *chunks[T]) push(v T) {
	if c.N == c.gone+len(c.C)*chunkLen {
		c.C = append(c.C, make([]T, 0, min(chunkLen, 16+c.N)))
	}
	last := &c.C[len(c.C)-1]
	*last = append(*last, v)
	c.N++
}

func (c *chunks[T]) at(i int) T {
	i -= c.gone
	return c.C[i/chunkLen][i%chunkLen]
}

// drop drops the chunks in which all are old, but for the last.
func (c *chunks[T]) drop(old func(T) bool) {
	n := 0
	for n < len(c.C)-1 && old(c.C[n][chunkLen-1]) {
		n++
	}
	c.C, c.gone = slices.Delete(c.C, 0, n), c.gone+n*chunkLen
}

// MarshalJSON writes the elements packed, in base64.
func (c chunks[T]) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 4*c.N)
	var before T
	for _, chunk := range c.C {
		for _, v := range chunk {
			b = v.pack(b, before)
			before = v
		}
	}
	return json.Marshal(b)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *chunks[T]) UnmarshalJSON(data []byte) error {
	var b []byte
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	*c = chunks[T]{}
	var v T
	for ok := true; len(b) > 0; {
		if v, b, ok = v.unpack(b, v); !ok {
			return errors.New("room: a packed list is damaged")
		}
		c.push(v)
	}
	return nil
}

// place is where in Messages a message is.
type place int32

func (p place) pack(b []byte, before place) []byte {
	return binary.AppendVarint(b, int64(p)-int64(before))
}

func (place) unpack(b []byte, before place) (place, []byte, bool) {
	d, n := binary.Varint(b)
	return before + place(d), b[max(n, 0):], n > 0
}

func (m msg) pack(b []byte, before msg) []byte {
	b = binary.AppendVarint(b, m.Seq-before.Seq)
	b = binary.AppendVarint(b, int64(m.Tokens))
	return binary.AppendVarint(b, int64(m.From))
}

func (msg) unpack(b []byte, before msg) (m msg, rest []byte, ok bool) {
	var v [3]int64
	for i := range v {
		n := 0
		if v[i], n = binary.Varint(b); n <= 0 {
			return msg{}, nil, false
		}
		b = b[n:]
	}
	return msg{Seq: before.Seq + v[0], Tokens: int32(v[1]), From: int16(v[2])}, b, true
}
