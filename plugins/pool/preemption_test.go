package pool

import (
	"context"
	"errors"
	"testing"

	"github.com/folkmoot/moot/plugins/guest"
	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// TestCallerGone: a decision whose caller is gone ends at the next yield check,
// with the caller's error.
func TestCallerGone(t *testing.T) {
	m := w.Policy().Finish()
	m.Decide(nil, w.Loop(w.Br(0)), w.I64Const(0))
	p := load(t, w.Guest{Name: "endless", Module: m.Bytes()}, nil, guest.DefMemoryPages)
	ctx, cancel := context.WithCancel(context.Background())
	watch := startStopwatch()
	defer watch.stop()
	in, err := p.newInstance(ctx, &watch)
	if err != nil {
		t.Fatal(err)
	}
	checks := 0
	in.memory.yieldCheck = func() bool {
		if checks++; checks == 3 {
			cancel()
		}
		return in.yieldCheck()
	}
	p.pool.put(p.Configured, in)
	_, err = p.pool.Run(ctx, p.Configured, Query{Input: []byte("{}"), Fuel: guest.MaxFuel})
	if !errors.Is(err, context.Canceled) || errors.As(err, new(*guest.Error)) || checks != 3 {
		t.Errorf("%v after %d quanta", err, checks)
	}
}

// TestGrowthIsNoYield: a module that asks for more memory than there is, however
// much, does not reach the yield check, which comes once in a quantum.
func TestGrowthIsNoYield(t *testing.T) {
	const times, cost = 10_000, 200
	for _, pages := range []int32{1, 9999, 32_768, 40_000, 65_535} {
		m := w.Policy().Finish()
		m.Data(w.AnswerAt, []byte(w.Spoken))
		m.Decide([]byte{w.I32}, w.Loop(
			w.I32Const(pages), w.MemoryGrow(), w.Op(w.Drop),
			w.LocalGet(2), w.I32Const(1), w.Op(w.I32Add), w.LocalTee(2), w.I32Const(times), w.Op(w.I32LtU), w.BrIf(0)),
			w.Answer(len(w.Spoken)))
		p := load(t, w.Guest{Name: "growing", Module: m.Bytes()}, nil, 2)
		watch := startStopwatch()
		defer watch.stop()
		in, err := p.newInstance(context.Background(), &watch)
		if err != nil {
			t.Fatal(err)
		}
		yields, growths := 0, 0
		in.memory.yieldCheck = func() bool {
			if in.yieldCheck() {
				yields++
				return true
			}
			growths++
			return false
		}
		p.pool.put(p.Configured, in)
		r, err := p.run(Query{Input: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		if most := int(r.Fuel/quantum) + 1; yields > most || yields == 0 || growths < times && pages < 65_535 || r.Fuel < times*cost {
			t.Errorf("%d pages: %d yields and %d growths with %d units of fuel; want at most %d yields, and %d growths", pages, yields, growths, r.Fuel, most, times)
		}
	}
}
