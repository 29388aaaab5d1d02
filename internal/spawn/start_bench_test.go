//go:build unix

package spawn

import (
	"testing"
	"time"
)

// BenchmarkStart measures start and end of an agent that ends when its standard
// input is closed.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		p, err := Start(Config{Command: []string{"cat"}})
		if err != nil {
			b.Fatal(err)
		}
		p.Close(time.Minute, time.Minute)
	}
}
