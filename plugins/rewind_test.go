package plugins

import (
	"bytes"
	"context"
	"errors"
	"math/rand"
	"testing"

	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero"
)

// A plain makes decisions in instances that never saw an image: the metered
// module as a whole is set up anew for every one.
type plain struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	metered  *wasm.Metered
	settings []byte
}

func newPlain(t *testing.T, g guest, interpreter bool) *plain {
	t.Helper()
	ctx := context.Background()
	m, err := check(g.name, g.module)
	if err != nil {
		t.Fatal(err)
	}
	rc, _ := runtimeConfig(interpreter)
	cache, err := wazero.NewCompilationCacheWithDir(cacheDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cache.Close(ctx) })
	rc = rc.WithCompilationCache(cache)
	p := &plain{runtime: wazero.NewRuntimeWithConfig(ctx, rc), metered: m, settings: configureJSON(g.policy, nil)}
	t.Cleanup(func() { _ = p.runtime.Close(ctx) })
	if err := instantiateImports(ctx, p.runtime); err != nil {
		t.Fatal(err)
	}
	if p.compiled, err = p.runtime.CompileModule(ctx, m.Whole); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *plain) run(t *testing.T, digest string, c call, fuel uint64) (out []byte, used uint64, err error) {
	t.Helper()
	w := &world{environ: initEnviron}
	w.begin(0, digest)
	in, err := newInstance(p.runtime, p.compiled, p.metered, &memory{most: mostBytes(p.metered, DefMemoryPages)}, w)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	if err := in.initialize(); err != nil {
		t.Fatal(err)
	}
	w.environ = nil
	in.begin(context.Background(), configureFuel, 0)
	w.begin(0, digest)
	if err := in.configure(p.settings); err != nil {
		t.Fatal(err)
	}
	w.begin(c.nowMS, c.seed)
	in.begin(context.Background(), fuel, 0)
	out, err = in.run(c.input)
	return bytes.Clone(out), uint64(int64(fuel) - in.left()), err
}

// TestRewoundEqualsNew: over random inputs, small and large, with enough fuel
// and without, a rewound instance gives the bytes and uses the fuel of one
// that never saw an image.
func TestRewoundEqualsNew(t *testing.T) {
	for _, g := range guests(t) {
		t.Run(g.name, func(t *testing.T) {
			reference := newPlain(t, g, false)
			resets(t, func(t *testing.T) {
				h := newHost(t, Config{CacheDir: cacheDir(t), AuditEvery: -1})
				p, err := h.Load(context.Background(), Module{Name: g.policy, Wasm: g.module, Trusted: true})
				if err != nil {
					t.Fatal(err)
				}
				r := rand.New(rand.NewSource(1))
				failed := 0
				for i := range 24 {
					in := randomInput(r, []int{300, 1000, 5000, 60_000, 300_000}[r.Intn(5)], "MARK")
					c := call{room: in.Room, nowMS: in.NowMS, seed: in.Seed, input: in.AppendJSON(nil)}
					p.limits.Fuel = DefFuel
					if i%6 == 5 {
						p.limits.Fuel = uint64(500 + r.Intn(40_000)) // runs dry in the middle
					}
					got, err := p.run(context.Background(), c)
					want, fuel, e := reference.run(t, p.digest, c, p.limits.Fuel)
					if (err == nil) != (e == nil) || !bytes.Equal(got.Output, want) || got.Fuel != fuel {
						t.Fatalf("%d: %d bytes: %q, %d fuel, %v; never frozen: %q, %d fuel, %v",
							i, len(c.input), got.Output, got.Fuel, err, want, fuel, e)
					}
					if err != nil {
						failed++
					}
				}
				if failed == 0 || failed > 20 {
					t.Errorf("%d of 24 decisions failed: the test means to try both", failed)
				}
			})
		})
	}
}

// TestNoResidue: after a decision nothing of its input is left, neither in
// the memory nor beyond it, whether it went well, trapped, grew or ran dry.
func TestNoResidue(t *testing.T) {
	mark := []byte("ZQSECRETxyzzy")
	for _, g := range guests(t) {
		t.Run(g.name, func(t *testing.T) {
			resets(t, func(t *testing.T) {
				h := newHost(t, Config{CacheDir: cacheDir(t), AuditEvery: -1})
				p, err := h.Load(context.Background(), Module{Name: g.policy, Wasm: g.module, Trusted: true})
				if err != nil {
					t.Fatal(err)
				}
				r := rand.New(rand.NewSource(2))
				for _, size := range []int{1000, 3000, 300_000} {
					for _, fuel := range []uint64{DefFuel, 20_000} {
						in := randomInput(r, size, string(mark))
						p.limits.Fuel = fuel
						_, err := p.run(context.Background(), call{input: in.AppendJSON(nil)})
						var e *Error
						if err != nil && !errors.As(err, &e) {
							t.Fatal(err)
						}
						clean(t, h, p, mark)
					}
				}
			})
		})
	}
}

// clean looks at every idle instance.
func clean(t *testing.T, h *Host, p *Policy, mark []byte) {
	t.Helper()
	for _, s := range h.slots.idle {
		mem := s.in.memory
		if bytes.Contains(mem.buf, mark) || bytes.Contains(s.in.world.log[:cap(s.in.world.log)], mark) {
			t.Fatal("the input is left in an instance")
		}
		if !bytes.Equal(mem.buf[:len(mem.image)], mem.image) || len(bytes.Trim(mem.buf[len(mem.image):], "\x00")) > 0 {
			t.Fatal("the memory is not the image")
		}
		if int(s.in.module.Memory().Size()) != len(mem.image) {
			t.Fatalf("the memory has %d bytes, the image %d", s.in.module.Memory().Size(), len(mem.image))
		}
		for i, g := range s.in.globals {
			if g.Get() != p.template.image.globals[i] {
				t.Fatalf("global %s is %d, was %d", p.template.code.metered.Mutable[i], g.Get(), p.template.image.globals[i])
			}
		}
	}
}

// TestCannotRewind: what an image does not hold is set up anew.
func TestCannotRewind(t *testing.T) {
	m := tableSetter()
	p := load(t, newHost(t, Config{}), m)
	for range 5 {
		r, err := p.Run(context.Background(), []byte("{}"))
		if err != nil || string(r.Output) != "0" || r.Fuel == 0 {
			t.Fatalf("%q %v: the table remembers", r.Output, err)
		}
	}
	if n := len(p.host.slots.idle); n != 0 {
		t.Errorf("%d instances are kept", n)
	}
}

// TestAudit: a policy whose instances do not come back clean is refused from
// then on.
func TestAudit(t *testing.T) {
	h := newHost(t, Config{AuditEvery: 3})
	p := load(t, h, counting())
	for range 5 {
		if _, err := p.Run(context.Background(), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	answer := bytes.Index(h.slots.idle[0].in.memory.buf, []byte(`"0"`))
	h.slots.idle[0].in.memory.buf[answer+1]++ // as if a reset had missed it
	_, err := p.Run(context.Background(), []byte("{}"))
	wantCode(t, err, CodeAudit)
	_, _, err = p.Propose(context.Background(), roster)
	wantCode(t, err, CodeAudit)
}
