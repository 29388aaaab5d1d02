package plugins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// FuzzReadImage: what follows the sum is read within its bounds, and an image
// that is taken has a form that reads back as itself.
func FuzzReadImage(f *testing.F) {
	const head = len(imageMagic) + sha256.Size
	im := image{memory: make([]byte, 2<<16), globals: []uint64{1, 2, 3}, log: "x"}
	copy(im.memory[9000:], "something")
	f.Add(im.append(nil)[head:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		sum := sha256.Sum256(body)
		form := slices.Concat([]byte(imageMagic), sum[:], body)
		got, err := readImage(form, 3)
		if err != nil {
			return
		}
		again, err := readImage(got.append(nil), 3)
		if err != nil || !bytes.Equal(again.memory, got.memory) || !slices.Equal(again.globals, got.globals) || again.log != got.log {
			t.Errorf("%v", err)
		}
		form[head-1]++
		if _, err := readImage(form, 3); err == nil {
			t.Error("took an image with another sum")
		}
	})
}

// FuzzReadFrame: what a child sends, and what it is sent.
func FuzzReadFrame(f *testing.F) {
	f.Add(frame(report{Image: 3}, []byte("abc")))
	f.Add(frame(report{Code: CodeTrap, What: "x"}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r report
		body, err := readFrame(bytes.NewReader(b), &r, func() int { return r.Image }, 1<<10)
		if err == nil && (len(body) != r.Image || len(body) > 1<<10) {
			t.Errorf("%d bytes for %d", len(body), r.Image)
		}
	})
}

// FuzzRun: whatever bytes a policy is handed and answers with, a run ends
// with an answer or a coded error.
func FuzzRun(f *testing.F) {
	h := newHost(f, Config{CacheDir: cacheDir(f)})
	p := loadGuest(f, h, guest{"c", "kit", guestFile(f, "c")}, nil)
	f.Add(roster.AppendJSON(nil))
	f.Add([]byte(`{"agents":[{"id":"a","eligible":true}],"events":[`))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := p.Run(context.Background(), b)
		if e, ok := err.(*Error); err != nil && (!ok || e.Code == CodeAudit) {
			t.Errorf("%v", err)
		}
	})
}

// FuzzLoad: no module that the rewriter lets pass breaks the host.
func FuzzLoad(f *testing.F) {
	f.Add(w.Answering(spoken))
	f.Add(nasty())
	f.Add(tableSetter())
	h, err := NewHost(Config{Interpreter: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = h.Close() })
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := h.Load(context.Background(), Module{Name: "fuzzed", Wasm: b, Trusted: true, Limits: Limits{Fuel: 100_000, MemoryPages: 16}})
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Errorf("%v", err)
			}
			return
		}
		defer p.Close()
		r1, err1 := p.Run(context.Background(), []byte("{}"))
		r2, err2 := p.Run(context.Background(), []byte("{}"))
		if !bytes.Equal(r1.Output, r2.Output) || r1.Fuel != r2.Fuel || (err1 == nil) != (err2 == nil) {
			t.Errorf("%q %d %v, then %q %d %v", r1.Output, r1.Fuel, err1, r2.Output, r2.Fuel, err2)
		}
	})
}
