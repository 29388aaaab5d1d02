package plugins

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// TestOthersGoOn: on one processor, other goroutines run while a policy uses all
// of its fuel in compiled code.
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
	if n := turns.Load(); n < 3 { // once a millisecond
		t.Errorf("another goroutine ran %d times", n)
	}
}

// TestCallerGone: a policy is not asked when its caller is gone.
func TestCallerGone(t *testing.T) {
	p := load(t, newHost(t, Config{}), decides("", nil, forever, zero64)())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Run(ctx, []byte("{}")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAudit: a policy whose reused instance and new instance give different
// answers makes no more decisions.
func TestAudit(t *testing.T) {
	p := load(t, newHost(t, Config{AuditEvery: 3}), w.Counting())
	var last Result
	for range 7 {
		r, err := p.Run(context.Background(), []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		last = r
	}
	last.Fuel++ // as if the instance had not been restored
	wantCode(t, p.audit(context.Background(), request{input: []byte("{}")}, last), CodeAudit)
	_, err := p.Run(context.Background(), []byte("{}"))
	wantCode(t, err, CodeAudit)
	_, _, err = p.Propose(context.Background(), roster)
	wantCode(t, err, CodeAudit)
}

// TestClosed: a closed host waits for decisions under way and refuses others. A
// closed policy refuses decisions.
func TestClosed(t *testing.T) {
	h := newHost(t, Config{})
	p, q := load(t, h, w.Counting()), load(t, h, decides("", nil, forever, zero64)())
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
	_, err = h.Load(context.Background(), Module{Name: "x", Wasm: w.Counting(), Trusted: true})
	wantCode(t, err, CodeClosed)
}

// TestEndedByTime: the record of a decision that used its processor time says so,
// and its message too. Without a limit of time, fuel ends the decision.
func TestEndedByTime(t *testing.T) {
	h := newHost(t, Config{})
	m := Module{Name: "third-party", Wasm: decides("", nil, forever, zero64)()}
	p, err := h.Load(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	p.timeLimit = 1 // any run is longer
	hurried, err := h.configure(context.Background(), p, m)
	if err != nil {
		t.Fatal(err)
	}
	p.configured = hurried
	_, rec, err := p.Propose(context.Background(), roster)
	e := wantCode(t, err, CodeFuel)
	if !rec.EndedByTime || rec.Fuel != DefFuel || !strings.Contains(e.What, "100 ms of the processor") {
		t.Errorf("%+v: %v", rec, err)
	}
	m.FuelOnly = true
	if p, err = h.Load(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	_, rec, err = p.Propose(context.Background(), roster)
	if e = wantCode(t, err, CodeFuel); rec.EndedByTime || !strings.Contains(e.What, "units of fuel") {
		t.Errorf("%+v: %v", rec, err)
	}
}
