package plugins

import (
	"bytes"
	"context"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// FuzzRun: for any bytes of an input a run ends with an answer or a coded error.
func FuzzRun(f *testing.F) {
	h := newHost(f, Config{CacheDir: cacheDir(f)})
	p := loadGuest(f, h, w.Guest{Name: "c", Policy: "kit", Module: w.Kit(f, root, "c")}, nil)
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

// FuzzLoad: no module that the rewriter accepts breaks the host.
func FuzzLoad(f *testing.F) {
	f.Add(w.Answering(spoken))
	f.Add(w.Nasty())
	f.Add(w.TableSetter())
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
