package server_test

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

// unlimited lets a test send as fast as it can.
var unlimited = server.Limits{BytesPerSecond: 1 << 30, BurstBytes: 1 << 30, FramesPerSecond: 1 << 30, BurstFrames: 1 << 30, StrangerFramesPerMinute: 1 << 30, LoginBurst: 1 << 20, PerAddress: 1 << 20, Connections: 1 << 20}

// A reader that never reads slows nobody: what does not fit into its queue is
// refused, and everybody else goes on.
func TestSendFreeze(t *testing.T) {
	limits := unlimited
	limits.WriteTimeout = time.Hour // it stays frozen throughout the test
	r := start(t, loopback(t), server.Config{Open: true, Limits: limits})
	a, b, frozen := r.login(), r.login(), r.login()
	big := string(make([]byte, frame.MaxPayload))
	full := 0
	for range 1000 { // over 60 MB: more than the sockets' buffers and the queue
		a.sendTo(frozen, big)
	}
	for i := range 100 {
		text := fmt.Sprint("message ", i)
		a.sendTo(b, text)
		b.expectFrom(a, text)
		b.sendTo(a, text)
		for {
			f, err := a.next()
			if err != nil {
				t.Fatal(err)
			}
			if g, ok := f.(frame.Gone); ok && g.To == frozen.id() && g.Reason == frame.GoneQueueFull {
				full++
				continue
			}
			if got, ok := f.(frame.Recv); !ok || string(got.Payload) != text {
				t.Fatalf("%+v", f)
			}
			break
		}
	}
	if full == 0 {
		t.Error("nobody was told that the queue was full")
	}
	if err := frozen.NetConn().(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	frozen.Close() // so that the relay's writer need not wait for its hour
}

// A frozen reader is given up when a frame could not be written in time.
func TestSlowReaderIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := unlimited
		limits.WriteTimeout = 0
		r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true, Limits: limits})
		a, frozen := r.login(), r.login()
		begin := time.Now()
		for range 4 {
			a.sendTo(frozen, string(make([]byte, frame.MaxPayload)))
		}
		a.expectGone(frozen, frame.GoneDisconnected)
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("after %v", took)
		}
		r.stop()
	})
}

// A queue holds 32 frames, and 2 MiB.
func TestQueueBounds(t *testing.T) {
	for _, c := range []struct {
		name    string
		limits  server.Limits
		payload int
	}{
		{"frames", server.Limits{QueueFrames: 8, QueueBytes: 1 << 20}, 1},
		{"bytes", server.Limits{QueueFrames: 1000, QueueBytes: 8 * (33 + 16<<10)}, 16 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limits := unlimited
				limits.QueueFrames, limits.QueueBytes, limits.WriteTimeout = c.limits.QueueFrames, c.limits.QueueBytes, time.Hour
				r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true, Limits: limits})
				a, frozen := r.login(), r.login()
				a.sendTo(frozen, string(make([]byte, frame.MaxPayload))) // more than the wire holds
				synctest.Wait()                                          // the writer is stuck, the queue empty
				for range 20 {
					a.sendTo(frozen, string(make([]byte, c.payload)))
				}
				synctest.Wait()
				want[frame.Recv](frozen)
				passed := 0
				if err := frozen.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
					t.Fatal(err)
				}
				for {
					if _, err := frozen.next(); err != nil {
						break
					}
					passed++
				}
				if passed != 8 {
					t.Errorf("%d frames waited", passed)
				}
				for range 20 - passed {
					a.expectGone(frozen, frame.GoneQueueFull)
				}
				frozen.Close()
				r.stop()
			})
		})
	}
}

// All queues together are bounded too, and what is dropped makes room again.
func TestTotalBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := unlimited
		limits.TotalBytes, limits.WriteTimeout = 3*frame.MaxFrame, time.Hour
		r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true, Limits: limits})
		big := string(make([]byte, frame.MaxPayload))
		a, b, c := r.login(), r.login(), r.login()
		for _, frozen := range []*endpoint{b, c} {
			for range 3 {
				a.sendTo(frozen, big)
				synctest.Wait() // one is in the writer's hand, so does not wait
			}
		}
		a.expectGone(c, frame.GoneQueueFull) // two wait for b, one for c
		b.Close()
		a.expectGone(b, frame.GoneDisconnected)
		synctest.Wait()
		a.sendTo(c, big)
		a.sendTo(a, "no complaint before this")
		a.expectFrom(a, "no complaint before this")
		c.Close()
		r.stop()
	})
}

// Strangers may knock; whoever is written to may answer; a list overrules
// both.
func TestDoors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true})
		host, guest, other := r.login(), r.login(), r.login()
		for range 5 {
			guest.sendTo(host, "knock")
			host.expectFrom(guest, "knock")
		}
		guest.sendTo(host, "knock")
		guest.expectGone(host, frame.GoneNotAllowed)
		other.sendTo(host, "knock")
		host.expectFrom(other, "knock")
		time.Sleep(12 * time.Second) // a fifth of a minute, in the bubble
		guest.sendTo(host, "knock")
		host.expectFrom(guest, "knock")
		guest.sendTo(host, "knock")
		guest.expectGone(host, frame.GoneNotAllowed)

		host.sendTo(guest, "come in")
		guest.expectFrom(host, "come in")
		for range 20 {
			guest.sendTo(host, "thanks")
			host.expectFrom(guest, "thanks")
		}

		host.send(frame.Allow{Devices: []frame.ID{other.id()}})
		synctest.Wait()
		guest.sendTo(host, "still?")
		guest.expectGone(host, frame.GoneNotAllowed)
		for range 20 {
			other.sendTo(host, "listed")
			host.expectFrom(other, "listed")
		}
		host.send(frame.Allow{})
		synctest.Wait()
		other.sendTo(host, "anybody?")
		other.expectGone(host, frame.GoneNotAllowed)
		r.stop()
	})
}

// Whoever has sent to a device hears when it goes; others do not.
func TestDisconnected(t *testing.T) {
	r := start(t, loopback(t), server.Config{Open: true})
	a, b, c := r.login(), r.login(), r.login()
	a.sendTo(c, "hello")
	c.expectFrom(a, "hello")
	c.Close()
	a.expectGone(c, frame.GoneDisconnected)
	a.sendTo(b, "did you hear anything?")
	b.expectFrom(a, "did you hear anything?")
}

// Reading waits for tokens: that many frames and bytes take that long.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits server.Limits
		frames int
		bytes  int
		least  time.Duration
		most   time.Duration
	}{
		{"frames", server.Limits{QueueFrames: 300}, 300, 10, 4 * time.Second, 4100 * time.Millisecond},                              // (300-100)/50
		{"bytes", server.Limits{QueueFrames: 300, QueueBytes: 1 << 30}, 48, 64 << 10, 8 * time.Second, 8200 * time.Millisecond},     // (3-1) MiB / 256 KiB
		{"raised", server.Limits{QueueFrames: 300, FramesPerSecond: 1000}, 300, 10, 190 * time.Millisecond, 210 * time.Millisecond}, // (300-100)/1000
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true, Limits: c.limits})
				a, b := r.login(), r.login()
				b.send(frame.Allow{Devices: []frame.ID{a.id()}})
				synctest.Wait()
				begin := time.Now()
				go func() {
					for range c.frames {
						if a.trySend(frame.Send{To: b.id(), Payload: make([]byte, c.bytes)}) != nil {
							return // the test has failed already
						}
					}
				}()
				for range c.frames {
					want[frame.Recv](b)
				}
				if took := time.Since(begin); took < c.least || took > c.most {
					t.Errorf("%d frames took %v", c.frames, took)
				}
				r.stop()
			})
		})
	}
}

// An endpoint that answers pings stays; one that has gone silent does not.
func TestPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		r := start(t, memory(n), server.Config{Open: true})
		alive, dead, peer := r.login(), r.login(), r.login()
		peer.sendTo(dead, "hello")
		dead.expectFrom(peer, "hello")
		dead.SetPingHandler(func(string) error { return nil })
		begin := time.Now()
		go func() { _, _ = dead.next() }() // reads, answers nothing
		go func() { _, _ = alive.next() }()
		peer.expectGone(dead, frame.GoneDisconnected)
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("after %v", took)
		}
		go func() { _, _ = peer.next() }()
		time.Sleep(time.Hour) // in the bubble
		if got := r.devices(); got != 2 {
			t.Errorf("%d devices are left", got)
		}
		alive.Close()
		peer.Close()
		r.stop()
	})
}

// Pings that are never read back neither block the relay nor come faster than
// frames may; pongs that nobody asked for are no way around it either.
func TestControlFlood(t *testing.T) {
	for name, kind := range map[string]int{"pings": websocket.PingMessage, "pongs": websocket.PongMessage} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true})
				e := r.login()
				begin := time.Now()
				for range 1000 {
					if err := e.WriteControl(kind, []byte("flood"), time.Now().Add(time.Hour)); err != nil {
						t.Fatal(err)
					}
				}
				e.sendTo(e, "behind it")
				e.expectFrom(e, "behind it")
				if took := time.Since(begin); took < 18*time.Second { // (1000-100)/50
					t.Errorf("1000 %s in %v", name, took)
				}
				r.stop()
			})
		})
	}
}

// What is no frame of an endpoint ends its connection, and nobody else's.
func TestViolations(t *testing.T) {
	r := start(t, loopback(t), server.Config{Open: true, Limits: unlimited})
	other := r.login()
	for name, say := range map[string]func(e *endpoint) error{
		"RECV":         func(e *endpoint) error { return e.trySend(frame.Recv{From: other.id()}) },
		"GONE":         func(e *endpoint) error { return e.trySend(frame.Gone{To: other.id()}) },
		"LOGIN again":  func(e *endpoint) error { return e.trySend(e.loginFrame(r.host, "")) },
		"unknown kind": func(e *endpoint) error { return e.WriteMessage(websocket.BinaryMessage, []byte{0x7f}) },
		"empty":        func(e *endpoint) error { return e.WriteMessage(websocket.BinaryMessage, nil) },
		"half a SEND":  func(e *endpoint) error { return e.WriteMessage(websocket.BinaryMessage, []byte{0x10, 1, 2}) },
		"text":         func(e *endpoint) error { return e.WriteMessage(websocket.TextMessage, []byte("hello")) },
		"half an id": func(e *endpoint) error {
			return e.WriteMessage(websocket.BinaryMessage, append([]byte{0x13}, make([]byte, 16)...))
		},
	} {
		e := r.login()
		if err := say(e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err := e.next()
		var closed *websocket.CloseError
		if !errors.As(err, &closed) || closed.Code != websocket.ClosePolicyViolation {
			t.Errorf("%s: ends with %v", name, err)
		}
	}
	e := r.login()
	_ = e.WriteMessage(websocket.BinaryMessage, append([]byte{0x10}, make([]byte, frame.MaxFrame)...)) // one byte too much; the relay may be gone before the end
	if f, err := e.next(); err == nil {
		t.Errorf("too long: %+v", f)
	}
	other.sendTo(other, "unmoved")
	other.expectFrom(other, "unmoved")
}

// Compression is not negotiated: the read limit would count compressed bytes.
func TestNoCompression(t *testing.T) {
	r := start(t, loopback(t), server.Config{Open: true})
	d := websocket.Dialer{Subprotocols: []string{frame.Subprotocol}, EnableCompression: true}
	ws, res, err := d.Dial("ws://"+r.host+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if got := res.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		t.Error(got)
	}
}
