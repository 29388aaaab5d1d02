package relaytest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ session.Transport = (*client.Client)(nil)

// relaysOfTestbed is how many relays the honest one of a testbed consists of.
var relaysOfTestbed = 1

// A testbed is an honest relay behind a hostile one, with devices. It runs
// under synctest.
type testbed struct {
	t         *testing.T
	ctx       context.Context
	front     *relaytest.Network // between devices and the hostile relay
	back      *relaytest.Network // between the hostile and the honest relay
	hostile   *HostileRelay
	work      sync.WaitGroup
	stopRelay func()
}

func newTestbed(t *testing.T, mangle Mangle) *testbed {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &testbed{t: t, ctx: ctx, front: relaytest.NewNetwork(), back: relaytest.NewNetwork()}
	w.hostile = NewHostileRelay(w.back, mangle)
	w.startRelay()
	l := w.front.Listen()
	w.work.Go(func() {
		if err := w.hostile.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); w.stopRelay(); w.work.Wait() })
	return w
}

// startRelay starts the honest relay. Of several that are one, each connection
// comes to any.
func (w *testbed) startRelay() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, relaysOfTestbed)
	hub := relaytest.NewBusHub()
	for range relaysOfTestbed {
		cfg := server.Config{Hosts: []string{relaytest.Host}, Open: true, Limits: server.Limits{LoginBurst: 1000}}
		if relaysOfTestbed > 1 {
			cfg.Bus = hub.Join()
		}
		s, err := server.New(cfg)
		if err != nil {
			w.t.Fatal(err)
		}
		l := w.back.Listen()
		go func() { done <- s.Serve(ctx, l) }()
	}
	w.stopRelay = sync.OnceFunc(func() {
		cancel()
		for range cap(done) {
			if err := <-done; err != nil {
				w.t.Error(err)
			}
		}
	})
}

// A device of a testbed.
type device struct {
	*relaytest.Device
	w *testbed
}

func (w *testbed) device(name string) *device {
	w.t.Helper()
	cfg := client.Config{URL: "ws://" + relaytest.Host, Plain: true, Dial: w.front.Dial}
	return &device{relaytest.NewDevice(w.ctx, w.t, &w.work, name, cfg), w}
}

func (d *device) pair(host *device) {
	d.w.t.Helper()
	d.Pair(d.w.ctx, host.Device, "canary-capability")
}

// sendMessages sends numbered messages and returns how many were confirmed.
func (d *device) sendMessages(to *device, n int) (confirmed int, err error) {
	for i := range n {
		ctx, cancel := context.WithTimeout(d.w.ctx, 10*time.Minute)
		err := d.Send(ctx, to.ID(), []byte(message(d, i)))
		cancel()
		if err != nil {
			return confirmed, err
		}
		confirmed++
	}
	return confirmed, nil
}

// message returns message i. Some messages are long enough to be fragmented.
func message(d *device, i int) string {
	return fmt.Sprintf("canary-message %d of %s %s", i, d.ID().Short(), strings.Repeat("x", i%7*9000))
}

// expectMessages requires n messages, in the order of sending and once each.
func (d *device) expectMessages(from *device, n int) error {
	for i := range n {
		who, m, err := d.NextMessage(d.w.ctx)
		if err != nil {
			return err
		}
		if who != from.ID() || m != message(from, i) {
			return fmt.Errorf("message %d of %s is %.60q", i, who.Short(), m)
		}
	}
	return nil
}

// exchangeMessages lets both sides send n messages concurrently and checks
// them.
func exchangeMessages(t *testing.T, a, b *device, n int) {
	t.Helper()
	errs := make(chan error, 4)
	for _, p := range [][2]*device{{a, b}, {b, a}} {
		go func() { _, err := p[0].sendMessages(p[1], n); errs <- err }()
		go func() { errs <- p[1].expectMessages(p[0], n) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// expectSilence requires that nothing more arrives.
func (d *device) expectSilence() {
	d.w.t.Helper()
	ctx, cancel := context.WithTimeout(d.w.ctx, 5*time.Minute)
	defer cancel()
	if _, m, err := d.NextMessage(ctx); err == nil {
		d.w.t.Errorf("and then %.60q", m)
	}
}

// TestHostile: whatever the relay does, both sides receive the sent messages,
// in order and once.
func TestHostile(t *testing.T) {
	for name, c := range map[string]FaultInjector{
		"honest":     {},
		"drops":      {Drop: 30},
		"duplicates": {Duplicate: 50},
		"reorders":   {Delay: 30, MaxDelay: 3 * time.Second},
		"late":       {Delay: 10, MaxDelay: time.Minute},
		"flips":      {Flip: 30},
		"swaps":      {Reflect: 50},
		"replays":    {Replay: 50},
		"truncates":  {Truncate: 30},
		"invents":    {Forge: 50},
		"everything": {Drop: 20, Duplicate: 20, Delay: 10, MaxDelay: 20 * time.Second, Flip: 5, Reflect: 10, Replay: 20, Truncate: 5, Forge: 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.Rand = rand.New(rand.NewPCG(5, uint64(len(name))))
				var armed atomic.Bool // faults start after pairing, which has its own tests
				w := newTestbed(t, func(p Packet) []Delivery {
					if !armed.Load() {
						return []Delivery{{Packet: p}}
					}
					return c.Mangle(p)
				})
				a, b := w.device("host"), w.device("guest")
				b.pair(a)
				time.Sleep(10 * time.Second) // synctest time: the end of the pairing
				synctest.Wait()
				armed.Store(true)
				exchangeMessages(t, a, b, 40)
				a.expectSilence()
				b.expectSilence()
			})
		})
	}
}

// TestNothingArrives: if the relay drops everything, Send returns an error in
// time.
func TestNothingArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		w := newTestbed(t, func(p Packet) []Delivery {
			if armed.Load() {
				return nil
			}
			return []Delivery{{Packet: p}}
		})
		a, b := w.device("host"), w.device("guest")
		b.pair(a)
		exchangeMessages(t, a, b, 2)
		armed.Store(true)
		begin := time.Now()
		if n, err := a.sendMessages(b, 1); n != 0 || !errors.Is(err, session.ErrUnreachable) {
			t.Errorf("%d confirmed, %v", n, err)
		}
		if took := time.Since(begin); took < 2*time.Minute || took > 3*time.Minute {
			t.Errorf("after %v", took)
		}
		b.expectSilence()
	})
}

// TestCuts: messages before and during an outage arrive once.
func TestCuts(t *testing.T) {
	for _, cut := range []time.Duration{59 * time.Second, 60 * time.Second, 61 * time.Second, 120 * time.Second} {
		t.Run(cut.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestbed(t, nil)
				a, b := w.device("host"), w.device("guest")
				b.pair(a)
				exchangeMessages(t, a, b, 3)
				w.front.Cut()
				time.AfterFunc(cut, w.front.Heal)
				exchangeMessages(t, a, b, 3)
				a.expectSilence()
				b.expectSilence()
			})
		})
	}
}

// TestRelayRestarts: messages arrive while the relay restarts, gracefully or
// not, and connections are reset.
func TestRelayRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, nil)
		a, b := w.device("host"), w.device("guest")
		b.pair(a)
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(7 * time.Second):
				}
				switch i % 3 {
				case 0:
					w.hostile.Cut()
				case 1:
					w.front.Reset()
				case 2:
					w.stopRelay()
					w.startRelay()
				}
			}
		}()
		for range 6 {
			exchangeMessages(t, a, b, 4)
			time.Sleep(5 * time.Second) // in synctest time
		}
		close(stop)
		<-done
		a.expectSilence()
		b.expectSilence()
	})
}

// TestCanaries: the relay receives none of 32 texts, which are messages and
// names of two devices, in any encoding.
func TestCanaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, nil)
		var canaries []string
		for i := range 32 {
			canaries = append(canaries, fmt.Sprintf("canary-%02d-%016x", i, rand.Uint64()))
		}
		a, b := w.device(canaries[0]), w.device(canaries[1])
		b.pair(a)
		for _, c := range canaries[2:] {
			if err := a.Send(w.ctx, b.ID(), []byte(c)); err != nil {
				t.Fatal(err)
			}
		}
		received := w.hostile.Received()
		if found := relaytest.FindCanaries(received, append(canaries, "canary-capability", "canary-message")...); found != nil {
			t.Errorf("the relay received %q", found)
		}
		if len(received) < 10_000 {
			t.Errorf("only %d bytes were searched", len(received))
		}
		// The search finds a text that is not encrypted, so it works.
		const control = "canary-in-the-clear"
		for range 3 {
			if err := a.Client.Send(w.ctx, frame.ID(b.ID()), []byte(control)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if found := relaytest.FindCanaries(w.hostile.Received(), control); found == nil {
			t.Error("a canary in the clear was not found")
		}
	})
}
