package pool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"sync"
	"testing"

	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/wasm"
	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"github.com/tetratelabs/wazero"
	"go.uber.org/goleak"
)

// cacheDir is shared by the tests of one run, so that each module is compiled
// once.
var cacheDir = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "moot-pool-test-") })

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if dir, err := cacheDir(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// A loaded is a configured module with a pool.
type loaded struct {
	*Configured
	pool *Pool
}

// openRuntime returns a runtime of the machine's engine.
func openRuntime(tb testing.TB) wazero.Runtime {
	tb.Helper()
	ctx := context.Background()
	dir, err := cacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := guest.OpenRuntime(ctx, guest.Engine(false), cache)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = errors.Join(r.Close(ctx), cache.Close(ctx)) })
	return r
}

// settingsOf is the argument of configure.
func settingsOf(g w.Guest) []byte { return []byte(`{"policy":"` + g.Policy + `","settings":{}}`) }

// load compiles and configures a guest. Without code it compiles it.
func load(tb testing.TB, g w.Guest, code func(*wasm.Metered) *Code, pages uint32) *loaded {
	tb.Helper()
	m, err := guest.Validate(g.Name, g.Module)
	if err != nil {
		tb.Fatal(err)
	}
	digest := guest.Digest(g.Module)
	initial, err := InitialSnapshot(g.Name, digest, m)
	if err != nil {
		tb.Fatal(err)
	}
	if code == nil {
		code = func(m *wasm.Metered) *Code {
			c, err := Compile(context.Background(), openRuntime(tb), guest.Engine(false), g.Name, m, Workers())
			if err != nil {
				tb.Fatal(err)
			}
			return c
		}
	}
	module := NewModule(digest, m, initial, code(m))
	c, err := Configure(module, Spec{Name: g.Name, Settings: settingsOf(g), Pages: pages, Fuel: guest.MaxFuel})
	if err != nil {
		tb.Fatal(err)
	}
	p := &loaded{c, New(16)}
	tb.Cleanup(func() {
		p.pool.Drop(nil)
		c.Close()
		_ = module.Close()
	})
	return p
}

func (p *loaded) run(q Query) (Result, error) {
	if q.Fuel == 0 {
		q.Fuel = guest.DefFuel
	}
	return p.pool.Run(context.Background(), p.Configured, q)
}

// checkIdle checks that every idle instance equals the snapshot, and that mark
// is nowhere in it.
func (p *loaded) checkIdle(t *testing.T, mark []byte) {
	t.Helper()
	for _, s := range p.pool.idle {
		mem := s.in.memory
		if bytes.Contains(mem.buf, mark) {
			t.Fatal("the input is left in an instance")
		}
		if log := s.in.env.Logged(); log != "" {
			t.Fatalf("the log is left: %q", log)
		}
		if !bytes.Equal(mem.buf[:len(mem.initial)], mem.initial) || len(bytes.Trim(mem.buf[len(mem.initial):], "\x00")) > 0 {
			t.Fatal("the memory is not the snapshot")
		}
		if int(s.in.module.Memory().Size()) != len(mem.initial) {
			t.Fatalf("the memory has %d bytes, the snapshot %d", s.in.module.Memory().Size(), len(mem.initial))
		}
		for i, g := range s.in.globals {
			if g.Get() != p.snapshot.globals[i] {
				t.Fatalf("global %s is %d, was %d", p.module.metered.Mutable[i], g.Get(), p.snapshot.globals[i])
			}
		}
	}
}

// A reference makes each decision in an instance that never had a snapshot: it
// sets up the whole module again.
type reference struct {
	code    *Code
	metered *wasm.Metered
	guest   w.Guest
}

func newReference(t *testing.T, g w.Guest) *reference {
	t.Helper()
	m, err := guest.Validate(g.Name, g.Module)
	if err != nil {
		t.Fatal(err)
	}
	r := openRuntime(t)
	c, err := r.CompileModule(context.Background(), m.Whole)
	if err != nil {
		t.Fatal(err)
	}
	return &reference{&Code{runtime: r, compiled: c, whole: true}, m, g}
}

func (r *reference) run(t *testing.T, q Query) (out []byte, used uint64, err error) {
	t.Helper()
	digest := guest.Digest(r.guest.Module)
	env := &guest.Env{Initializing: true}
	env.Begin(0, digest)
	in, err := newInstance(r.code, r.metered, &memory{maxBytes: MaxBytes(r.metered, guest.DefMemoryPages)}, env)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	in.begin(context.Background(), guest.SetupFuel, 0, startStopwatch())
	defer in.preemption.watch.stop()
	if err := in.initialize(); err != nil {
		t.Fatal(err)
	}
	env.Initializing = false
	in.begin(context.Background(), guest.MaxFuel, 0, in.preemption.watch)
	env.Begin(0, digest)
	if err := in.configure(settingsOf(r.guest)); err != nil {
		t.Fatal(err)
	}
	env.Begin(q.NowMS, q.Seed)
	in.begin(context.Background(), q.Fuel, 0, in.preemption.watch)
	out, err = in.run(q.Input)
	return bytes.Clone(out), uint64(int64(q.Fuel) - in.left()), err
}

// TestRestoredEqualsNew: over random inputs, small and large, with enough fuel
// and without, a restored instance gives the bytes and uses the fuel of one that
// never had a snapshot. So does one that starts on the interpreter and goes on
// with compiled code.
func TestRestoredEqualsNew(t *testing.T) {
	for _, g := range w.Guests(t, "../..") {
		t.Run(g.Name, func(t *testing.T) {
			reference := newReference(t, g)
			restoreWays(t, func(t *testing.T) { equalsReference(t, load(t, g, nil, guest.DefMemoryPages), reference, nil) })
			t.Run("tiered", func(t *testing.T) {
				var metered *wasm.Metered
				p := load(t, g, func(m *wasm.Metered) *Code {
					metered = m
					c, err := Interpret(context.Background(), g.Name, m)
					if err != nil {
						t.Fatal(err)
					}
					return c
				}, guest.DefMemoryPages)
				equalsReference(t, p, reference, func() {
					c, err := Compile(context.Background(), openRuntime(t), guest.Engine(false), g.Name, metered, Workers())
					if err != nil {
						t.Fatal(err)
					}
					if err := p.module.Replace(c); err != nil {
						t.Fatal(err)
					}
				})
			})
		})
	}
}

// equalsReference compares 24 decisions; halfway is called after half of them.
func equalsReference(t *testing.T, p *loaded, reference *reference, halfway func()) {
	t.Helper()
	r := rand.New(rand.NewSource(1))
	failed := 0
	for i := range 24 {
		if i == 12 && halfway != nil {
			halfway()
		}
		in := w.RandomInput(r, []int{300, 1000, 5000, 60_000, 300_000}[r.Intn(5)], "MARK")
		q := Query{NowMS: in.NowMS, Seed: in.Seed, Input: in.AppendJSON(nil), Fuel: guest.DefFuel}
		if i%6 == 5 {
			q.Fuel = uint64(500 + r.Intn(40_000)) // it runs out in the middle
		}
		got, err := p.run(q)
		want, fuel, e := reference.run(t, q)
		if (err == nil) != (e == nil) || !bytes.Equal(got.Output, want) || got.Fuel != fuel {
			t.Fatalf("%d: %d bytes: %q, %d fuel, %v; without a snapshot: %q, %d fuel, %v",
				i, len(q.Input), got.Output, got.Fuel, err, want, fuel, e)
		}
		if err != nil {
			failed++
		}
	}
	if failed == 0 || failed > 20 {
		t.Errorf("%d of 24 decisions failed: the test means to try both", failed)
	}
}

// TestNoResidue: after a decision no part of its input is left in the instance,
// whether the decision succeeded, trapped, grew or ran out of fuel.
func TestNoResidue(t *testing.T) {
	mark := []byte("ZQSECRETxyzzy")
	for _, g := range w.Guests(t, "../..") {
		t.Run(g.Name, func(t *testing.T) {
			restoreWays(t, func(t *testing.T) {
				p := load(t, g, nil, guest.DefMemoryPages)
				r := rand.New(rand.NewSource(2))
				for _, size := range []int{1000, 3000, 300_000} {
					for _, fuel := range []uint64{guest.DefFuel, 20_000} {
						in := w.RandomInput(r, size, string(mark))
						_, err := p.run(Query{Input: in.AppendJSON(nil), Fuel: fuel})
						if err != nil && !errors.As(err, new(*guest.Error)) {
							t.Fatal(err)
						}
						p.checkIdle(t, mark)
					}
				}
			})
		})
	}
}

// TestNoSnapshot: a module with state outside its memory and globals is set up
// again for each decision.
func TestNoSnapshot(t *testing.T) {
	p := load(t, w.Guest{Name: "table", Module: w.TableSetter()}, nil, guest.DefMemoryPages)
	for range 5 {
		r, err := p.run(Query{Input: []byte("{}")})
		if err != nil || string(r.Output) != "0" || r.Fuel == 0 {
			t.Fatalf("%q %v: the table keeps its change", r.Output, err)
		}
	}
	if n := len(p.pool.idle); n != 0 {
		t.Errorf("%d instances are kept", n)
	}
}

// TestDamagedInstance: when an instance is not restored completely, its answer
// differs from that of a new one. The audit relies on it.
func TestDamagedInstance(t *testing.T) {
	p := load(t, w.Guest{Name: "counting", Module: w.Counting()}, nil, guest.DefMemoryPages)
	q := Query{Input: []byte("{}"), Fuel: guest.DefFuel}
	want, err := p.run(q)
	if err != nil {
		t.Fatal(err)
	}
	mem := p.pool.idle[0].in.memory
	mem.buf[bytes.Index(mem.buf, []byte(`"0"`))+1]++
	damaged, err1 := p.run(q)
	clean, err2 := p.RunNew(context.Background(), q)
	if err1 != nil || err2 != nil || bytes.Equal(damaged.Output, want.Output) || !bytes.Equal(clean.Output, want.Output) {
		t.Errorf("%q %v, in a new instance %q %v", damaged.Output, err1, clean.Output, err2)
	}
}

// scribbler writes its input to the page that the first four bytes of the input
// name.
func scribbler(pages uint32) []byte {
	m := &w.Module{}
	m.Memory(pages, -1)
	m.Export("memory", w.Memory, 0)
	m.Finish()
	m.Data(w.AnswerAt, []byte(w.Spoken))
	m.Data(pages<<16-8, []byte("the end"))
	m.Decide(nil,
		w.LocalGet(0), w.Mem(0x28, 2, 0), w.I32Const(12), w.Op(w.I32Shl),
		w.LocalGet(0), w.LocalGet(1), w.Bulk(10, 0, 0), w.Answer(len(w.Spoken)))
	return m.Bytes()
}
