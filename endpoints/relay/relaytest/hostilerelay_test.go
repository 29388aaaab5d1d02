package relaytest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
)

// A Packet is a payload on its way to a device.
type Packet struct {
	To, From frame.ID
	Payload  []byte
}

// A Delivery is a packet that is delivered after a delay.
type Delivery struct {
	Packet
	After time.Duration
}

// A Mangle returns the deliveries that replace a packet. It is called for one
// packet at a time.
type Mangle func(p Packet) []Delivery

// A HostileRelay is a proxy before an honest relay that mangles packets. It
// records every byte that devices send.
type HostileRelay struct {
	dial   func(ctx context.Context, _, _ string) (net.Conn, error)
	mangle Mangle

	mu       sync.Mutex
	ctx      context.Context
	tunnels  map[*proxiedConn]bool
	devices  map[frame.ID]*proxiedConn
	received []byte
	work     sync.WaitGroup

	mangling sync.Mutex
}

// NewHostileRelay returns a hostile relay before the honest relay of a network,
// whose Hosts must contain the name under which devices reach the hostile one.
// A nil mangle makes no faults.
func NewHostileRelay(honest *relaytest.Network, mangle Mangle) *HostileRelay {
	if mangle == nil {
		mangle = func(p Packet) []Delivery { return []Delivery{{Packet: p}} }
	}
	dial := func(ctx context.Context, _, addr string) (net.Conn, error) { return honest.Dial(ctx, addr) }
	return &HostileRelay{dial: dial, mangle: mangle, tunnels: map[*proxiedConn]bool{}, devices: map[frame.ID]*proxiedConn{}}
}

// Serve accepts devices until ctx ends. It returns when all goroutines have
// ended, and closes l.
func (h *HostileRelay) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h.mu.Lock()
	h.ctx = ctx
	h.mu.Unlock()
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	defer context.AfterFunc(ctx, func() { s.Close() })()
	err := s.Serve(l)
	cancel()
	h.Cut()
	h.work.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Cut closes every connection. Devices can connect again.
func (h *HostileRelay) Cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for t := range h.tunnels {
		t.close()
	}
}

// Received returns every byte that devices have sent: requests, logins and
// frames.
func (h *HostileRelay) Received() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.received)
}

func (h *HostileRelay) record(b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.received = append(append(h.received, b...), '\n')
}

// Inject delivers a packet of the relay itself.
func (h *HostileRelay) Inject(d Delivery) {
	h.work.Go(func() { h.deliver(d) })
}

func (h *HostileRelay) deliver(d Delivery) {
	if d.After > 0 {
		late := time.NewTimer(d.After)
		defer late.Stop()
		select {
		case <-late.C:
		case <-h.ctx.Done():
			return
		}
	}
	h.mu.Lock()
	t := h.devices[d.To]
	h.mu.Unlock()
	b, err := frame.Append(nil, frame.Recv{From: d.From, Payload: d.Payload})
	if t == nil || err != nil {
		return
	}
	select {
	case t.out <- b:
	case <-t.closed:
	}
}

// forward mangles a packet and delivers the result.
func (h *HostileRelay) forward(p Packet) {
	h.mangling.Lock()
	all := h.mangle(p)
	h.mangling.Unlock()
	for _, d := range all {
		if d.After == 0 {
			h.deliver(d)
			continue
		}
		h.Inject(d)
	}
}

// A proxiedConn is a device's connection and its continuation to the honest
// relay.
type proxiedConn struct {
	h             *HostileRelay
	device, relay *websocket.Conn
	out           chan []byte // to the device
	closed        chan struct{}
	id            frame.ID
}

var upgrader = websocket.Upgrader{Subprotocols: []string{frame.Subprotocol}}

// ServeHTTP accepts a device and connects it to the honest relay.
func (h *HostileRelay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.addWork() {
		return
	}
	defer h.work.Done()
	if request, err := httputil.DumpRequest(r, false); err == nil {
		h.record(request)
	}
	d := websocket.Dialer{Subprotocols: []string{frame.Subprotocol}, NetDialContext: h.dial}
	above, _, err := d.DialContext(h.ctx, "ws://relay.invalid/", nil)
	if err != nil {
		http.Error(w, "no relay", http.StatusBadGateway)
		return
	}
	defer above.Close()
	below, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer below.Close()
	t := &proxiedConn{h: h, device: below, relay: above, out: make(chan []byte, 256), closed: make(chan struct{})}
	h.register(t)
	defer h.unregister(t)
	t.run()
}

// addWork registers a connection that Serve waits for. It reports false if
// Serve is ending.
func (h *HostileRelay) addWork() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return false
	}
	h.work.Add(1)
	return true
}

func (h *HostileRelay) register(t *proxiedConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tunnels[t] = true
	if h.ctx.Err() != nil { // Cut may already have run
		t.close()
	}
}

func (h *HostileRelay) unregister(t *proxiedConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.tunnels, t)
	if h.devices[t.id] == t {
		delete(h.devices, t.id)
	}
}

func (t *proxiedConn) close() {
	t.device.Close()
	t.relay.Close()
}

// run copies messages until either side closes.
func (t *proxiedConn) run() {
	t.relay.SetPingHandler(func(text string) error {
		at := time.Now().Add(time.Second)
		_ = t.device.WriteControl(websocket.PingMessage, []byte(text), at) // copyFromDevice notices a closed device
		return t.relay.WriteControl(websocket.PongMessage, []byte(text), at)
	})
	var work sync.WaitGroup
	work.Go(t.copyFromDevice)
	work.Go(t.write)
	t.copyFromRelay()
	close(t.closed)
	t.device.Close()
	work.Wait()
}

// copyFromDevice forwards messages of the device and learns its id.
func (t *proxiedConn) copyFromDevice() {
	defer t.relay.Close()
	for {
		typ, b, err := t.device.ReadMessage()
		if err != nil {
			return
		}
		t.h.record(b)
		f, _ := frame.Decode(b) // nil after an error
		if l, ok := f.(frame.Login); ok {
			t.h.mu.Lock()
			t.id = l.Device
			t.h.devices[l.Device] = t
			t.h.mu.Unlock()
		}
		if t.relay.WriteMessage(typ, b) != nil {
			return
		}
	}
}

// copyFromRelay forwards messages of the relay, and mangles packets first.
func (t *proxiedConn) copyFromRelay() {
	for {
		_, b, err := t.relay.ReadMessage()
		var closed *websocket.CloseError
		if errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure {
			bye := websocket.FormatCloseMessage(closed.Code, "")
			_ = t.device.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second)) // it may be closed
		}
		if err != nil {
			return
		}
		f, _ := frame.Decode(b) // nil after an error
		if r, ok := f.(frame.Recv); ok {
			t.h.forward(Packet{To: t.id, From: r.From, Payload: r.Payload})
			continue
		}
		select {
		case t.out <- b:
		case <-t.closed:
		}
	}
}

func (t *proxiedConn) write() {
	for {
		select {
		case b := <-t.out:
			if t.device.WriteMessage(websocket.BinaryMessage, b) != nil {
				t.relay.Close()
				return
			}
		case <-t.closed:
			return
		}
	}
}

// A FaultInjector mangles packets as the threat model allows a relay to. Each
// number is a percentage of packets. It is not safe for concurrent use.
type FaultInjector struct {
	Rand      *rand.Rand
	Drop      int // dropped
	Duplicate int // delivered twice
	Delay     int // delayed by up to MaxDelay, so that later ones overtake it
	MaxDelay  time.Duration
	Flip      int // one bit flipped
	Reflect   int // also sent back, in the name of its receiver
	Replay    int // an earlier packet delivered again
	Truncate  int // end cut off
	Forge     int // a packet of random bytes added

	history []Packet
}

const historySize = 1000

// Mangle implements the type Mangle.
func (c *FaultInjector) Mangle(p Packet) []Delivery {
	p.Payload = bytes.Clone(p.Payload)
	if len(c.history) == historySize {
		c.history = slices.Delete(c.history, 0, 1)
	}
	c.history = append(c.history, p)
	if c.chance(c.Drop) {
		return nil
	}
	d := Delivery{Packet: p}
	if c.chance(c.Delay) && c.MaxDelay > 0 {
		d.After = time.Duration(c.Rand.Int64N(int64(c.MaxDelay)))
	}
	out := []Delivery{d}
	if c.chance(c.Duplicate) {
		out = append(out, d)
	}
	if c.chance(c.Flip) && len(p.Payload) > 0 {
		out[0].Payload = flip(p.Payload, c.Rand.IntN(8*len(p.Payload)))
	}
	if c.chance(c.Truncate) && len(p.Payload) > 0 {
		out[0].Payload = out[0].Payload[:c.Rand.IntN(len(p.Payload))]
	}
	if c.chance(c.Reflect) {
		out = append(out, Delivery{Packet: Packet{To: p.From, From: p.To, Payload: p.Payload}})
	}
	if c.chance(c.Replay) {
		out = append(out, Delivery{Packet: c.history[c.Rand.IntN(len(c.history))]})
	}
	if c.chance(c.Forge) {
		noise := make([]byte, 1+c.Rand.IntN(300))
		for i := range noise {
			noise[i] = byte(c.Rand.Uint32())
		}
		noise[0] = byte(1 + c.Rand.IntN(7)) // a valid kind
		out = append(out, Delivery{Packet: Packet{To: p.To, From: p.From, Payload: noise}})
	}
	return out
}

func (c *FaultInjector) chance(percent int) bool { return percent > 0 && c.Rand.IntN(100) < percent }

func flip(b []byte, bit int) []byte {
	b = bytes.Clone(b)
	b[bit/8] ^= 1 << (bit % 8)
	return b
}
