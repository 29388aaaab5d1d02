package relaytest

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A Parcel is a payload on its way to a device.
type Parcel struct {
	To, From frame.ID
	Payload  []byte
}

// A Delivery is a parcel that is handed out, after a delay.
type Delivery struct {
	Parcel
	After time.Duration
}

// A HostileConfig says what a hostile relay does.
type HostileConfig struct {
	// Relay connects to an honest relay, which does the work. Its Hosts are
	// the name under which devices reach the hostile one.
	Relay func(ctx context.Context) (net.Conn, error)
	Bend  Bend // nil: nothing
}

// Bend says what becomes of a parcel: nothing, itself, or anything else. It
// is called for one at a time.
type Bend func(p Parcel) []Delivery

// A Hostile relay has an honest one behind it, and does to parcels whatever
// it is told. It keeps every byte that it is handed.
type Hostile struct {
	cfg HostileConfig

	mu       sync.Mutex
	ctx      context.Context
	tunnels  map[*tunnel]bool
	devices  map[frame.ID]*tunnel
	received []byte
	work     sync.WaitGroup

	bending sync.Mutex
}

// NewHostile makes a hostile relay.
func NewHostile(cfg HostileConfig) *Hostile {
	if cfg.Bend == nil {
		cfg.Bend = func(p Parcel) []Delivery { return []Delivery{{Parcel: p}} }
	}
	return &Hostile{cfg: cfg, tunnels: map[*tunnel]bool{}, devices: map[frame.ID]*tunnel{}}
}

// Serve accepts devices until ctx ends, and returns when everything that it
// started has ended. It closes l.
func (h *Hostile) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h.mu.Lock()
	h.ctx = ctx
	h.mu.Unlock()
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case <-ctx.Done():
		s.Close()
		<-failed
	case err := <-failed:
		if !errors.Is(err, http.ErrServerClosed) {
			cancel()
			h.Cut()
			h.work.Wait()
			return err
		}
	}
	h.Cut()
	h.work.Wait()
	return nil
}

// Cut ends every connection. Devices can connect again.
func (h *Hostile) Cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for t := range h.tunnels {
		t.below.Close()
		t.above.Close()
	}
}

// Received returns every byte that devices have handed in: requests, logins,
// frames.
func (h *Hostile) Received() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]byte(nil), h.received...)
}

func (h *Hostile) record(b ...[]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, part := range b {
		h.received = append(append(h.received, part...), '\n')
	}
}

// Inject hands out something of the relay's own.
func (h *Hostile) Inject(d Delivery) {
	h.work.Go(func() { h.deliver(d) })
}

func (h *Hostile) deliver(d Delivery) {
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
	case <-t.over:
	}
}

// pass bends a parcel and hands out what has become of it.
func (h *Hostile) pass(p Parcel) {
	h.bending.Lock()
	all := h.cfg.Bend(p)
	h.bending.Unlock()
	for _, d := range all {
		if d.After == 0 {
			h.deliver(d)
			continue
		}
		h.Inject(d)
	}
}

// A tunnel is one device's connection, and its continuation to the honest
// relay.
type tunnel struct {
	h            *Hostile
	below, above *websocket.Conn
	out          chan []byte // to the device
	over         chan struct{}
	device       frame.ID
}

var upgrader = websocket.Upgrader{Subprotocols: []string{frame.Subprotocol}}

// ServeHTTP continues a device's connection.
func (h *Hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.begin() {
		return
	}
	defer h.work.Done()
	h.recordRequest(r)
	d := websocket.Dialer{Subprotocols: []string{frame.Subprotocol}, NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return h.cfg.Relay(ctx) }}
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
	t := &tunnel{h: h, below: below, above: above, out: make(chan []byte, 256), over: make(chan struct{})}
	h.join(t)
	defer h.leave(t)
	t.run()
}

// begin makes Serve wait for one more, unless it ends already.
func (h *Hostile) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return false
	}
	h.work.Add(1)
	return true
}

func (h *Hostile) recordRequest(r *http.Request) {
	h.record([]byte(r.Method+" "+r.RequestURI), []byte(r.Host))
	for k, vs := range r.Header {
		for _, v := range vs {
			h.record([]byte(k + ": " + v))
		}
	}
}

func (h *Hostile) join(t *tunnel) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tunnels[t] = true
	if h.ctx.Err() != nil { // Cut may have passed already
		t.below.Close()
		t.above.Close()
	}
}

func (h *Hostile) leave(t *tunnel) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.tunnels, t)
	if h.devices[t.device] == t {
		delete(h.devices, t.device)
	}
}

// run passes messages on until either end has gone.
func (t *tunnel) run() {
	t.above.SetPingHandler(func(text string) error {
		at := time.Now().Add(time.Second)
		_ = t.below.WriteControl(websocket.PingMessage, []byte(text), at) // a device that is gone is noticed below
		return t.above.WriteControl(websocket.PongMessage, []byte(text), at)
	})
	var work sync.WaitGroup
	work.Go(t.up)
	work.Go(t.write)
	t.down()
	close(t.over)
	t.below.Close()
	work.Wait()
}

// up passes on what the device says, and learns which one it is.
func (t *tunnel) up() {
	defer t.above.Close()
	for {
		typ, b, err := t.below.ReadMessage()
		if err != nil {
			return
		}
		t.h.record(b)
		if f, err := frame.Decode(b); err == nil {
			if l, ok := f.(frame.Login); ok {
				t.h.mu.Lock()
				t.device = l.Device
				t.h.devices[l.Device] = t
				t.h.mu.Unlock()
			}
		}
		if t.above.WriteMessage(typ, b) != nil {
			return
		}
	}
}

// down passes on what the relay says; parcels are bent first.
func (t *tunnel) down() {
	for {
		_, b, err := t.above.ReadMessage()
		var closed *websocket.CloseError
		if errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure {
			bye := websocket.FormatCloseMessage(closed.Code, "")
			_ = t.below.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second)) // it may be gone
		}
		if err != nil {
			return
		}
		f, err := frame.Decode(b)
		if r, ok := f.(frame.Recv); err == nil && ok {
			t.h.pass(Parcel{To: t.device, From: r.From, Payload: r.Payload})
			continue
		}
		select {
		case t.out <- b:
		case <-t.over:
		}
	}
}

func (t *tunnel) write() {
	for {
		select {
		case b := <-t.out:
			if t.below.WriteMessage(websocket.BinaryMessage, b) != nil {
				t.above.Close()
				return
			}
		case <-t.over:
			return
		}
	}
}
