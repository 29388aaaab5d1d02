package relaytest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
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

// A world is an honest relay behind a hostile one, and devices before it. All
// of it runs in a bubble.
type world struct {
	t         *testing.T
	ctx       context.Context
	front     *relaytest.Net // between devices and the hostile relay
	back      *relaytest.Net // between it and the honest one
	hostile   *relaytest.Hostile
	work      sync.WaitGroup
	stopRelay func()
}

func newWorld(t *testing.T, bend relaytest.Bend) *world {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &world{t: t, ctx: ctx, front: relaytest.NewNet(), back: relaytest.NewNet()}
	w.hostile = relaytest.NewHostile(relaytest.HostileConfig{
		Bend:  bend,
		Relay: func(ctx context.Context) (net.Conn, error) { return w.back.Dial(ctx, "") },
	})
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

func (w *world) startRelay() {
	w.t.Helper()
	s, err := server.New(server.Config{Hosts: []string{relaytest.Host}, Open: true, Limits: server.Limits{LoginBurst: 1000}})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	l := w.back.Listen()
	go func() { done <- s.Serve(ctx, l) }()
	w.stopRelay = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
}

// A device of a world.
type device struct {
	*relaytest.Device
	w *world
}

func (w *world) device(name string) *device {
	w.t.Helper()
	cfg := client.Config{URL: "ws://" + relaytest.Host, Plain: true, Dial: w.front.Dial}
	return &device{relaytest.NewDevice(w.ctx, w.t, &w.work, name, cfg), w}
}

func (d *device) pair(host *device) {
	d.w.t.Helper()
	d.Pair(d.w.ctx, host.Device, "canary-capability")
}

// sends sends numbered messages, and returns how many were confirmed.
func (d *device) sends(to *device, n int) (confirmed int, err error) {
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

// message is long enough now and then to be cut into pieces.
func message(d *device, i int) string {
	return fmt.Sprintf("canary-message %d of %s %s", i, d.ID().Short(), strings.Repeat("x", i%7*9000))
}

// hears checks what arrives: what was sent, in order, once. It returns when
// n messages have.
func (d *device) hears(from *device, n int) error {
	for i := range n {
		who, m, err := d.Hear(d.w.ctx)
		if err != nil {
			return err
		}
		if who != from.ID() || m != message(from, i) {
			return fmt.Errorf("message %d of %s is %.60q", i, who.Short(), m)
		}
	}
	return nil
}

// talk has both send n messages at the same time, and wants them all heard.
func talk(t *testing.T, a, b *device, n int) {
	t.Helper()
	errs := make(chan error, 4)
	for _, p := range [][2]*device{{a, b}, {b, a}} {
		go func() { _, err := p[0].sends(p[1], n); errs <- err }()
		go func() { errs <- p[1].hears(p[0], n) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// nothing more may arrive.
func (d *device) silent() {
	d.w.t.Helper()
	ctx, cancel := context.WithTimeout(d.w.ctx, 5*time.Minute)
	defer cancel()
	if _, m, err := d.Hear(ctx); err == nil {
		d.w.t.Errorf("and then %.60q", m)
	}
}

// TestHostile: whatever a relay does, both sides hear what was sent, in order,
// once.
func TestHostile(t *testing.T) {
	for name, c := range map[string]relaytest.Chaos{
		"honest":     {},
		"drops":      {Drop: 30},
		"duplicates": {Duplicate: 50},
		"reorders":   {Delay: 30, Late: 3 * time.Second},
		"late":       {Delay: 10, Late: time.Minute},
		"flips":      {Flip: 30},
		"swaps":      {Swap: 50},
		"replays":    {Replay: 50},
		"truncates":  {Truncate: 30},
		"invents":    {Invent: 50},
		"everything": {Drop: 20, Duplicate: 20, Delay: 10, Late: 20 * time.Second, Flip: 5, Swap: 10, Replay: 20, Truncate: 5, Invent: 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.Rand = rand.New(rand.NewPCG(5, uint64(len(name))))
				var armed atomic.Bool // pairing first: its few messages are tested elsewhere
				w := newWorld(t, func(p relaytest.Parcel) []relaytest.Delivery {
					if !armed.Load() {
						return []relaytest.Delivery{{Parcel: p}}
					}
					return c.Bend(p)
				})
				a, b := w.device("host"), w.device("guest")
				b.pair(a)
				time.Sleep(10 * time.Second) // in the bubble: what pairing still has to say
				synctest.Wait()
				armed.Store(true)
				talk(t, a, b, 40)
				a.silent()
				b.silent()
			})
		})
	}
}

// TestNothingArrives: a relay that passes nothing on gets an error, in time,
// and no message.
func TestNothingArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		w := newWorld(t, func(p relaytest.Parcel) []relaytest.Delivery {
			if armed.Load() {
				return nil
			}
			return []relaytest.Delivery{{Parcel: p}}
		})
		a, b := w.device("host"), w.device("guest")
		b.pair(a)
		talk(t, a, b, 2)
		armed.Store(true)
		begin := time.Now()
		if n, err := a.sends(b, 1); n != 0 || !errors.Is(err, session.ErrUnreachable) {
			t.Errorf("%d confirmed, %v", n, err)
		}
		if took := time.Since(begin); took < 2*time.Minute || took > 3*time.Minute {
			t.Errorf("after %v", took)
		}
		b.silent()
	})
}

// TestCuts: the network goes away for as long as the notes name. What was
// sent before and during the cut arrives, once.
func TestCuts(t *testing.T) {
	for _, cut := range []time.Duration{59 * time.Second, 60 * time.Second, 61 * time.Second, 120 * time.Second} {
		t.Run(cut.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				a, b := w.device("host"), w.device("guest")
				b.pair(a)
				talk(t, a, b, 3)
				w.front.Cut()
				time.AfterFunc(cut, w.front.Heal)
				talk(t, a, b, 3)
				a.silent()
				b.silent()
			})
		})
	}
}

// TestRelayRestarts: the relay ends, gracefully and not, and comes back in the
// middle of a talk; connections are reset again and again.
func TestRelayRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
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
			talk(t, a, b, 4)
			time.Sleep(5 * time.Second) // in the bubble
		}
		close(stop)
		<-done
		a.silent()
		b.silent()
	})
}

// TestCanaries: of 32 texts that two devices tell each other, or are called
// by, the relay is handed none in any of eight encodings.
func TestCanaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
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
			t.Errorf("the relay was handed %q", found)
		}
		if len(received) < 10_000 {
			t.Errorf("only %d bytes were looked at", len(received))
		}
		// What is not encrypted is found, so the search sees what it looks for.
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
