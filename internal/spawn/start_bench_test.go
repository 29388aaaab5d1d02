//go:build unix

package spawn

import (
	"testing"
	"time"
)

// BenchmarkStart is the start and the end of an agent that ends by itself with
// its standard input.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		p, err := Start(Config{Command: []string{"cat"}})
		if err != nil {
			b.Fatal(err)
		}
		p.Close(time.Minute, time.Minute)
	}
}
