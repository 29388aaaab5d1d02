package plugins

import (
	"context"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// fuelOf is the fuel of a decision that makes one call of the host.
func fuelOf(t *testing.T, call string, data []byte, args ...int64) uint64 {
	t.Helper()
	module := moduleHost
	if call != "log" {
		module = wasi
	}
	p := load(t, newHost(t, Config{}), callingOnce(module, call, data, args...))
	r, err := p.Run(context.Background(), []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	return r.Fuel
}

// TestHostCallsAreCharged: the fuel of a host call grows with the work that it
// makes: with its vectors, its subscriptions and its bytes.
func TestHostCallsAreCharged(t *testing.T) {
	write := func(n int64, size uint32) uint64 {
		return fuelOf(t, "fd_write", vectors(0, size), 1, floodVectors, n, floodOut)
	}
	poll := func(n int64) uint64 { return fuelOf(t, "poll_oneoff", nil, floodSubs, floodOut, n, 0) }
	log := func(n int64) uint64 { return fuelOf(t, "log", nil, 1, 0, n) }
	random := func(n int64) uint64 { return fuelOf(t, "random_get", nil, floodOut, n) }
	for _, tt := range []struct {
		name           string
		less, more     uint64
		units, allowed uint64
	}{
		{"vectors", write(1, 0), write(1001, 0), 16_000, 100},
		{"bytes written", write(1, 0), write(1, 40_000), 10_000, 0},
		{"subscriptions", poll(1), poll(64), 63 * 64, 10},
		{"bytes logged", log(0), log(40_000), 10_000, 10},
		{"random bytes", random(0), random(8000), 8000, 1010}, // and the first ones
	} {
		if grown := tt.more - tt.less; grown < tt.units || grown > tt.units+tt.allowed {
			t.Errorf("%s: %d units, then %d: want %d more", tt.name, tt.less, tt.more, tt.units)
		}
	}
}

// TestRefusedGrowthIsCharged: each memory.grow costs what leaving compiled code
// does, whether it asks for nothing, for too much, or for what once was the
// host's own sign.
func TestRefusedGrowthIsCharged(t *testing.T) {
	grow := func(times int, pages int32) uint64 {
		p := load(t, newHost(t, Config{}), decides(spoken, nil, w.Repeat(times, w.I32Const(pages), w.MemoryGrow(), drop), w.Answer(len(spoken)))())
		r, err := p.Run(context.Background(), []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		return r.Fuel
	}
	for _, pages := range []int32{0, 9999, 32_768, 40_000, -1} {
		if each := (grow(101, pages) - grow(1, pages)) / 100; each < 200 {
			t.Errorf("growing by %d pages costs %d units", pages, each)
		}
	}
}

// TestReferencesAreCharged: a reference to a function, which the engine allocates
// and keeps until the instance ends, is charged, and no other decision gets the
// instance.
func TestReferencesAreCharged(t *testing.T) {
	refer := func(times int) uint64 {
		p := load(t, newHost(t, Config{}), decides(spoken, nil, w.Repeat(times, w.Op(0xd2, 0), drop), w.Answer(len(spoken)))())
		for range 2 {
			if _, err := p.Run(context.Background(), []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		r, err := p.Run(context.Background(), []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		return r.Fuel
	}
	if each := (refer(101) - refer(1)) / 100; each < 500 {
		t.Errorf("a reference costs %d units", each)
	}
	if growth := peak(); growth != nil {
		p, err := loadUntrusted(t, newHost(t, Config{}), referring())
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			_, err := p.Run(context.Background(), []byte("{}"))
			wantCode(t, err, CodeFuel)
		}
		if mib := growth(); mib > 64 {
			t.Errorf("four decisions grew the host by %d MiB", mib)
		}
	}
}

// TestSetUpIsCharged: a module that cannot start from a snapshot pays for its
// set-up in each decision, so that both together have one limit.
func TestSetUpIsCharged(t *testing.T) {
	p := load(t, newHost(t, Config{}), settingUp(w.Answer(len(spoken))))
	r, err := p.Run(context.Background(), []byte("{}"))
	if err != nil || r.Fuel < 40_000_000 || r.Fuel > DefFuel {
		t.Errorf("%d units of fuel, %v", r.Fuel, err)
	}
	endless := load(t, newHost(t, Config{}), settingUp(forever, zero64))
	r, err = endless.Run(context.Background(), []byte("{}"))
	wantCode(t, err, CodeFuel)
	if r.Fuel > DefFuel+1000 {
		t.Errorf("%d units of fuel", r.Fuel)
	}
}
