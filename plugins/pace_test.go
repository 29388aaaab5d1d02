package plugins

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestOthersGoOn: on one processor, while a policy burns all of its fuel in
// compiled code, other goroutines run all the time.
func TestOthersGoOn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	h := newHost(t, Config{})
	p := load(t, h, decides("", nil, forever, zero64)())
	var deciding, done atomic.Bool
	var turns atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !done.Load() {
			if deciding.Load() {
				turns.Add(1)
			}
			runtime.Gosched()
		}
	}()
	deciding.Store(true)
	_, err := p.Run(context.Background(), []byte("{}"))
	deciding.Store(false)
	done.Store(true)
	<-ended
	wantCode(t, err, CodeFuel)
	if n := turns.Load(); n < DefFuel/slice/2 {
		t.Errorf("another goroutine ran %d times in %d slices", n, DefFuel/slice)
	}
}

// TestCallerGoes: a decision whose caller has gone ends with the next slice,
// as the caller's error and not as the policy's.
func TestCallerGoes(t *testing.T) {
	h := newHost(t, Config{})
	p, err := h.Load(context.Background(), Module{Name: "x", Wasm: decides("", nil, forever, zero64)(), Trusted: true, Limits: Limits{Fuel: MaxFuel}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	in, err := p.template.instance()
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	in.memory.pause = func() {
		if asked++; asked == 3 {
			cancel()
		}
		in.pause()
	}
	_, err = p.decide(ctx, in, call{input: []byte("{}")})
	var e *Error
	if !errors.Is(err, context.Canceled) || errors.As(err, &e) || asked != 3 {
		t.Errorf("%v after %d slices", err, asked)
	}
	if _, err := p.Run(ctx, []byte("{}")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestClosed: a host that is closed waits for decisions under way and refuses
// others; so does a policy.
func TestClosed(t *testing.T) {
	h := newHost(t, Config{})
	p, q := load(t, h, counting()), load(t, h, decides("", nil, forever, zero64)())
	p.Close()
	p.Close()
	_, err := p.Run(context.Background(), []byte("{}"))
	wantCode(t, err, CodeClosed)
	running := make(chan error)
	go func() {
		_, err := q.Run(context.Background(), []byte("{}"))
		running <- err
	}()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	var e *Error
	if err := <-running; !errors.As(err, &e) || e.Code != CodeFuel && e.Code != CodeClosed {
		t.Error(err)
	}
	_, err = q.Run(context.Background(), []byte("{}"))
	wantCode(t, err, CodeClosed)
	_, err = h.Load(context.Background(), Module{Name: "x", Wasm: counting(), Trusted: true})
	wantCode(t, err, CodeClosed)
}
