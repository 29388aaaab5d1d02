package room

// chunkLen is how many elements a chunk holds.
const chunkLen = 512

// chunks is a list that only grows. Growing never moves what it holds, so an
// append costs the same at the hundredth and the millionth element.
type chunks[T any] struct {
	C [][]T
	N int
}

func (c *chunks[T]) push(v T) {
	if c.N == len(c.C)*chunkLen {
		c.C = append(c.C, make([]T, 0, min(chunkLen, 16+c.N)))
	}
	last := &c.C[len(c.C)-1]
	*last = append(*last, v)
	c.N++
}

func (c *chunks[T]) at(i int) T { return c.C[i/chunkLen][i%chunkLen] }
