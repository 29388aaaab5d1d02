package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/bus"
	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A Bus carries messages between the relays of a group. Package bus implements it.
type Bus interface {
	// Subscribe has messages for a device brought to this relay until cancel is
	// called. ready waits until that is so, for a bounded time.
	Subscribe(device frame.ID) (ready, cancel func())
	// Publish sends a message to the relay that has subscribed for its device. nil
	// does not mean that it arrives.
	Publish(m bus.Message) error
	// Run passes on what arrives until ctx ends.
	Run(ctx context.Context, r bus.Receiver)
}

// A group is this relay's part in several relays that are one. A relay subscribes
// for the devices that are connected to it, and sends frames for others over the
// bus. All limits of a device are applied where the device is connected.
//
// The methods of a nil group are those of a relay that is the only one.
type group struct {
	s       *Server
	bus     Bus
	out     chan bus.Message // waits for the bus
	up      atomic.Bool      // the bus is connected, for the metrics
	reasons []string         // why the bus is not connected, as logged; of the goroutine that runs it
	moves   sync.WaitGroup   // connections that end because their device has moved to another relay

	mu            sync.Mutex
	subscriptions map[frame.ID]subscription
}

// A subscription is that for one device.
type subscription struct{ ready, cancel func() }

// outboxSize is how many messages wait for the bus. Their bytes count in the
// relay's TotalBytes.
const outboxSize = 1024

func newGroup(s *Server, b Bus) *group {
	g := &group{s: s, bus: b, out: make(chan bus.Message, outboxSize), subscriptions: map[frame.ID]subscription{}}
	s.metrics.set.NewGauge("moot_relay_nats_connected", func() float64 {
		if g.up.Load() {
			return 1
		}
		return 0
	})
	return g
}

// start runs the group until end is called, which sends what waits.
func (g *group) start() (end func()) {
	if g == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { g.bus.Run(ctx, receiver{g}) })
	work.Go(func() { g.publish(ctx) })
	return func() { cancel(); work.Wait(); g.moves.Wait() }
}

// publish sends what waits, until ctx ends and nothing waits.
func (g *group) publish(ctx context.Context) {
	for {
		select {
		case m := <-g.out:
			g.publishOne(m)
		case <-ctx.Done():
			for {
				select {
				case m := <-g.out:
					g.publishOne(m)
				default:
					return
				}
			}
		}
	}
}

func (g *group) publishOne(m bus.Message) {
	g.s.queued.Add(-int64(len(m.Body)))
	if g.bus.Publish(m) == nil {
		g.s.metrics.groupOut.Inc()
		return
	}
	g.s.metrics.groupUnsent.Inc()
	if m.From != nil {
		g.undelivered(*m.From, m.To)
	}
}

// send queues a RECV for a device of another relay, or returns why not. It takes
// ownership of b if it returns true.
func (g *group) send(from, to frame.ID, b []byte) (reason frame.GoneReason, ok bool) {
	if g == nil {
		return frame.GoneNotHere, false
	}
	return frame.GoneQueueFull, g.enqueue(bus.Message{To: to, Body: b, From: &from})
}

// notifyGone tells a device of another relay that the device gone is not there or
// did not get its frame. This is a hint, which may be lost.
func (g *group) notifyGone(to, gone frame.ID, reason frame.GoneReason) {
	if g == nil {
		return
	}
	b, err := frame.Append(nil, frame.Gone{To: gone, Reason: reason})
	if err == nil { // frames of the relay are always valid
		g.enqueue(bus.Message{To: to, Body: b})
	}
}

// enqueue reports whether there was room for a message. It never waits, so that no
// device waits for the bus.
func (g *group) enqueue(m bus.Message) bool {
	size := int64(len(m.Body))
	if g.s.queued.Add(size) <= int64(g.s.limits.TotalBytes) {
		select {
		case g.out <- m:
			return true
		default:
		}
	}
	g.s.queued.Add(-size)
	g.s.metrics.groupUnsent.Inc()
	return false
}

// join subscribes for a device that has logged in, and has the other relays end
// older connections of it. It returns when the bus brings frames for the device,
// or when a bounded time is over.
func (g *group) join(id frame.ID) {
	if g == nil {
		return
	}
	ready := g.subscribe(id)
	g.claim(id, 0)
	ready()
}

// leave ends the subscription for a device that has disconnected.
func (g *group) leave(id frame.ID) {
	if g != nil {
		g.subscribe(id)
	}
}

// subscribe subscribes for a device exactly while it is connected here. ready waits until the
// bus has done that, for a bounded time.
func (g *group) subscribe(id frame.ID) (ready func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sub, subscribed := g.subscriptions[id]
	switch connected := g.s.device(id) != nil; {
	case connected && !subscribed:
		sub.ready, sub.cancel = g.bus.Subscribe(id)
		g.subscriptions[id] = sub
	case !connected && subscribed:
		delete(g.subscriptions, id)
		sub.cancel()
	case !connected:
		return func() {}
	}
	return sub.ready
}

// undelivered tells a device, if it is still connected here, that no relay has the
// device to.
func (g *group) undelivered(from, to frame.ID) {
	if c := g.s.device(from); c != nil {
		g.s.notifyGone(c, to, frame.GoneNotHere)
	}
}

// claim tells the other relays that a device is connected here, and for how long.
// Without a connection to the bus nothing is sent: Connected claims all devices.
func (g *group) claim(id frame.ID, age time.Duration) {
	_ = g.bus.Publish(bus.Message{To: id, Body: appendClaim(nil, age)})
}

// claimed decides between two connections of one device: the younger stays. age is
// that of a connection at another relay.
func (g *group) claimed(id frame.ID, age time.Duration) {
	c := g.s.device(id)
	if c == nil {
		return
	}
	if own := time.Since(c.registered); own < age {
		g.claim(id, own) // the other relay ends its connection
		return
	}
	if !g.s.remove(c) {
		return
	}
	left := g.subscribe(id)
	g.s.metrics.moved.Inc()
	// While the bus still brings frames for the device here, senders are not told if the
	// device leaves the other relay too.
	g.moves.Go(func() { left(); c.endReplaced() })
}
