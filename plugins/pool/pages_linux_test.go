package pool

import (
	"bytes"
	"math/rand"
	"runtime"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// TestNewPagesAreRestored: after a decision nothing is left on any page, whether
// an earlier decision wrote to that page or not.
func TestNewPagesAreRestored(t *testing.T) {
	const pages = 10 // 640 KiB: more than maxCopiedSnapshot
	mark := []byte("ZQSECRETxyzzy")
	restoreWays(t, func(t *testing.T) {
		p := load(t, w.Guest{Name: "scribbler", Module: scribbler(pages)}, nil, pages)
		r := rand.New(rand.NewSource(1))
		for range 400 {
			page := byte(2 + r.Intn(pages*16-4))
			input := append([]byte{page, 0, 0, 0}, bytes.Repeat(mark, 1+r.Intn(300))...)
			if _, err := p.run(Query{Input: input}); err != nil {
				t.Fatal(err)
			}
			p.checkIdle(t, mark)
			if r.Intn(4) == 0 {
				runtime.Gosched() // another thread may have the next one
			}
		}
	})
}

// TestKernelIsAskedAfterFaults: where faults are counted, the kernel is asked for
// private pages only after a decision with a fault.
func TestKernelIsAskedAfterFaults(t *testing.T) {
	find := findPrivatePages
	defer func() { findPrivatePages = find }()
	if find() == nil || !countsFaults() {
		t.Skip("this kernel does not say which pages are private, or does not count faults")
	}
	asked := 0
	findPrivatePages = func() pageFinder {
		return func(b []byte, each func(from, to int)) error { asked++; return find()(b, each) }
	}
	p := load(t, w.Guest{Name: "scribbler", Module: scribbler(10)}, nil, 256)
	for range 200 {
		if _, err := p.run(Query{Input: []byte{9, 0, 0, 0, 1}}); err != nil {
			t.Fatal(err)
		}
	}
	if asked == 0 || asked > 100 { // a thread has other faults too
		t.Errorf("asked for the pages of 200 equal decisions %d times", asked)
	}
	before := asked
	if _, err := p.run(Query{Input: []byte{50, 0, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if asked == before {
		t.Error("a page became private, and the kernel was not asked")
	}
}
