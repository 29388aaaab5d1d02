package plugins

import (
	"bytes"
	"context"
	"math/rand"
	"runtime"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// scribbler writes its input to the page that the input's first four bytes say.
func scribbler(pages uint32) []byte {
	m := &w.Module{}
	m.Memory(pages, -1)
	m.Export("memory", w.Memory, 0)
	m.Finish()
	m.Data(w.AnswerAt, []byte(spoken))
	m.Data(pages<<16-8, []byte("the end"))
	m.Decide(nil,
		w.LocalGet(0), w.Mem(0x28, 2, 0), w.I32Const(12), w.Op(w.I32Shl),
		w.LocalGet(0), w.LocalGet(1), w.Bulk(10, 0, 0), w.Answer(len(spoken)))
	return m.Bytes()
}

// TestNewPagesAreSeen: whichever page a decision writes to, one that an earlier
// one wrote to or another, nothing of it is left.
func TestNewPagesAreSeen(t *testing.T) {
	const pages = 10 // 640 KiB: more than what is copied
	mark := []byte("ZQSECRETxyzzy")
	resets(t, func(t *testing.T) {
		h := newHost(t, Config{AuditEvery: -1})
		p, err := h.Load(context.Background(), Module{Name: "scribbler", Wasm: scribbler(pages), Limits: Limits{MemoryPages: pages}, Trusted: true})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewSource(1))
		for range 400 {
			page := byte(2 + r.Intn(pages*16-4))
			input := append([]byte{page, 0, 0, 0}, bytes.Repeat(mark, 1+r.Intn(300))...)
			if _, err := p.run(context.Background(), call{input: input}); err != nil {
				t.Fatal(err)
			}
			clean(t, h, p, mark)
			if r.Intn(4) == 0 {
				runtime.Gosched() // another thread may have the next one
			}
		}
	})
}

// TestKnownPagesAreNotAskedFor: where faults are counted, the kernel is asked
// for pages only after a decision that faulted.
func TestKnownPagesAreNotAskedFor(t *testing.T) {
	find := findPages
	defer func() { findPages = find }()
	if find() == nil || !countsFaults() {
		t.Skip("this kernel does not say which pages are private, or does not count faults")
	}
	asked := 0
	findPages = func() pageFinder {
		return func(b []byte, each func(from, to int)) error { asked++; return find()(b, each) }
	}
	p := loadGuest(t, newHost(t, Config{AuditEvery: -1}), guest{"scribbler", "scribbler", scribbler(10)}, nil)
	for range 200 {
		if _, err := p.run(context.Background(), call{input: []byte{9, 0, 0, 0, 1}}); err != nil {
			t.Fatal(err)
		}
	}
	if asked == 0 || asked > 100 { // a thread faults for reasons of its own too
		t.Errorf("asked for the pages of 200 equal decisions %d times", asked)
	}
	before := asked
	if _, err := p.run(context.Background(), call{input: []byte{50, 0, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if asked == before {
		t.Error("a page became private, and nobody asked")
	}
}
