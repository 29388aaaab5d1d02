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

// unlimited lets a test send without rate limits.
var unlimited = server.Limits{BytesPerSecond: 1 << 30, BurstBytes: 1 << 30, FramesPerSecond: 1 << 30, BurstFrames: 1 << 30, StrangerFramesPerMinute: 1 << 30, LoginBurst: 1 << 20, PerAddress: 1 << 20, Connections: 1 << 20}

// TestSendFreeze: an endpoint that never reads does not delay others. Frames
// beyond its queue are refused.
func TestSendFreeze(t *testing.T) {
	limits := unlimited
	limits.WriteTimeout = time.Hour // it stays connected during the test
	r := start(t, loopback(t), server.Config{Open: true, Limits: limits})
	a, b, frozen := r.login(), r.login(), r.login()
	big := string(make([]byte, frame.MaxPayload))
	full := 0
	for range 1000 { // over 60 MB, more than the socket buffers and the queue hold
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
		t.Error("no sender was told that the queue is full")
	}
	if err := frozen.NetConn().(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	frozen.Close() // ends the relay's writer before its hour
}

// TestSlowReaderIsClosed: an endpoint is disconnected when a frame cannot be
// written in time.
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

// TestQueueBounds: a queue is limited in frames and in bytes.
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
				a.sendTo(frozen, string(make([]byte, frame.MaxPayload))) // more than the network buffers
				synctest.Wait()                                          // the writer blocks, the queue is empty
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

// TestTotalBytes: all queues together are limited, and dropped frames free
// space.
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
				synctest.Wait() // the writer holds one frame, which is not queued
			}
		}
		a.expectGone(c, frame.GoneQueueFull) // two are queued for b, one for c
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

// TestSenderFilter: an unknown sender may send a few frames, and an expected one
// may answer without limit.
func TestSenderFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true})
		host, guest, other := r.login(), r.login(), r.login()
		for range 5 {
			guest.sendTo(host, "hello")
			host.expectFrom(guest, "hello")
		}
		guest.sendTo(host, "hello")
		guest.expectGone(host, frame.GoneNotAllowed)
		other.sendTo(host, "hello")
		host.expectFrom(other, "hello")
		time.Sleep(12 * time.Second) // a fifth of a minute, in synctest time
		guest.sendTo(host, "hello")
		host.expectFrom(guest, "hello")
		guest.sendTo(host, "hello")
		guest.expectGone(host, frame.GoneNotAllowed)

		host.sendTo(guest, "come in")
		guest.expectFrom(host, "come in")
		for range 20 {
			guest.sendTo(host, "thanks")
			host.expectFrom(guest, "thanks")
		}
		r.stop()
	})
}

// TestDisconnected: a device's end is reported to devices that have sent to it,
// and to no others.
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

// TestRates: frames and bytes take as long as their token buckets require.
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
				b.sendTo(a, "write to me") // without the limit for strangers
				a.expectFrom(b, "write to me")
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

// TestPings: an endpoint that answers pings stays connected, a silent one does
// not.
func TestPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		r := start(t, memory(n), server.Config{Open: true})
		alive, dead, peer := r.login(), r.login(), r.login()
		peer.sendTo(dead, "hello")
		dead.expectFrom(peer, "hello")
		dead.SetPingHandler(func(string) error { return nil })
		begin := time.Now()
		go func() { _, _ = dead.next() }() // reads but does not answer
		go func() { _, _ = alive.next() }()
		peer.expectGone(dead, frame.GoneDisconnected)
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("after %v", took)
		}
		go func() { _, _ = peer.next() }()
		time.Sleep(time.Hour) // in synctest time
		if got := r.devices(); got != 2 {
			t.Errorf("%d devices are left", got)
		}
		alive.Close()
		peer.Close()
		r.stop()
	})
}

// TestControlFlood: pings and unsolicited pongs count against the frame limit
// and do not block the relay.
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

// TestViolations: an invalid frame ends the sender's connection and no other.
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
	_ = e.WriteMessage(websocket.BinaryMessage, append([]byte{0x10}, make([]byte, frame.MaxFrame)...)) // one byte too many; the relay may close before the end
	if f, err := e.next(); err == nil {
		t.Errorf("too long: %+v", f)
	}
	other.sendTo(other, "still connected")
	other.expectFrom(other, "still connected")
}

// TestNoCompression: compression is not negotiated, because the read limit
// would count compressed bytes.
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
