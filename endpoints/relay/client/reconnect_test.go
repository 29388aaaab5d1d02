package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

// serveMemory runs a relay on a network in memory.
func serveMemory(t *testing.T, n *relaytest.Network, cfg server.Config) (stop func()) {
	t.Helper()
	return serveOn(t, n.Listen(), cfg)
}

func memoryConfig(n *relaytest.Network) client.Config {
	return client.Config{URL: "ws://" + relaytest.Host, Plain: true, Dial: n.Dial}
}

// TestCut: a network outage is detected after 60 s without a ping, and the
// client reconnects when the network is back.
func TestCut(t *testing.T) {
	for _, cut := range []time.Duration{59 * time.Second, 60 * time.Second, 61 * time.Second, 120 * time.Second} {
		t.Run(cut.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := relaytest.NewNetwork()
				stop := serveMemory(t, n, server.Config{Open: true})
				a, b := startConnected(t, newDevice(t), memoryConfig(n)), startConnected(t, newDevice(t), memoryConfig(n))
				n.Cut()
				begin := time.Now()
				time.AfterFunc(cut, n.Heal)
				a.awaitStatus(t, false)
				if took := time.Since(begin); took != time.Minute {
					t.Errorf("noticed after %v", took)
				}
				b.awaitStatus(t, false)
				a.awaitStatus(t, true)
				b.awaitStatus(t, true)
				if back := time.Since(begin.Add(max(cut, time.Minute))); back > time.Minute {
					t.Errorf("back after %v", back)
				}
				a.send(t, b.id(), "after the cut")
				if g := <-b.received; g != (received{a.id(), "after the cut"}) {
					t.Errorf("%+v", g)
				}
				_, _ = a.stop(), b.stop()
				stop()
			})
		})
	}
}

// TestRestart: after a restart the client reconnects at the announced time.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		stop := serveMemory(t, n, server.Config{Open: true})
		a, b := startConnected(t, newDevice(t), memoryConfig(n)), startConnected(t, newDevice(t), memoryConfig(n))
		begin := time.Now()
		stop()
		s := a.awaitStatus(t, false)
		var restarting *client.Restarting
		if !errors.As(s.Err, &restarting) || s.Retry != restarting.ReconnectIn || s.Retry < 300*time.Millisecond || s.Retry > 3*time.Second {
			t.Errorf("%+v", s)
		}
		if err := a.Send(t.Context(), b.id(), []byte("while offline")); !errors.Is(err, client.ErrOffline) {
			t.Error(err)
		}
		time.Sleep(30 * time.Second) // synctest time: a slow restart
		stop = serveMemory(t, n, server.Config{Open: true})
		a.awaitStatus(t, true)
		b.awaitStatus(t, true)
		if took := time.Since(begin); took > 36*time.Second { // 30 s, plus at most 5 s between attempts
			t.Errorf("back after %v", took)
		}
		a.send(t, b.id(), "back")
		if g := <-b.received; g != (received{a.id(), "back"}) {
			t.Errorf("%+v", g)
		}
		for range 10 { // a has written to b, so b may answer
			b.send(t, a.id(), "so am I")
			if g := <-a.received; g != (received{b.id(), "so am I"}) {
				t.Errorf("%+v", g)
			}
		}
		_, _ = a.stop(), b.stop()
		stop()
	})
}

// TestBackoff: delays grow up to a minute and are random. A connection of a
// minute resets them.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		n.Refuse()
		e := start(t, newDevice(t), memoryConfig(n))
		limit, longest := 500*time.Millisecond, time.Duration(0)
		for i := range 60 {
			s := e.awaitStatus(t, false)
			if s.Retry > limit || s.Err == nil {
				t.Errorf("attempt %d: %+v, limit %v", i, s, limit)
			}
			limit = min(limit*17/10, time.Minute)
			longest = max(longest, s.Retry)
		}
		if longest < 40*time.Second { // of 50 random delays below 60 s: fails once in 10^8 runs
			t.Errorf("never longer than %v", longest)
		}
		n.Heal()
		stop := serveMemory(t, n, server.Config{Open: true})
		e.awaitStatus(t, true)
		n.Refuse()
		if s := e.awaitStatus(t, false); s.Err == nil { // it lasted no time, so the back-off is not reset
			t.Errorf("%+v", s)
		}
		n.Heal()
		e.awaitStatus(t, true)
		time.Sleep(time.Minute)
		n.Reset()
		if s := e.awaitStatus(t, false); s.Retry > 500*time.Millisecond {
			t.Errorf("after a stable minute: %+v", s)
		}
		_ = e.stop()
		stop()
	})
}

// TestRejected: a permanent refusal ends a client that was never connected, but
// not one that was.
func TestRejected(t *testing.T) {
	const token = "a token of sufficient length"
	for _, c := range []struct {
		name string
		cfg  server.Config
		code frame.RejectCode
	}{
		{"token", server.Config{Tokens: []string{token}}, frame.RejectToken},
		{"another host", server.Config{Open: true, Hosts: []string{"relay.example.org"}}, frame.RejectAuth},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := start(t, newDevice(t), client.Config{URL: serve(t, c.cfg)})
			var r *client.Rejected
			if err := e.wait(); !errors.As(err, &r) || r.Code != c.code {
				t.Errorf("%v", err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		stop := serveMemory(t, n, server.Config{Open: true})
		e := startConnected(t, newDevice(t), memoryConfig(n))
		stop()
		e.awaitStatus(t, false)
		stop = serveMemory(t, n, server.Config{Tokens: []string{token}})
		s := e.awaitStatus(t, false)
		var r *client.Rejected
		if !errors.As(s.Err, &r) || s.Retry != time.Minute {
			t.Errorf("%+v", s)
		}
		stop()
		stop = serveMemory(t, n, server.Config{Open: true})
		e.awaitStatus(t, true)
		_ = e.stop()
		stop()
	})
}

// TestTooMany: after too many failed logins of its address the client retries
// when the relay permits it.
func TestTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		stop := serveMemory(t, n, server.Config{Tokens: []string{"a token of sufficient length"}, Limits: server.Limits{LoginBurst: 1, LoginsPerMinute: 2}})
		wrong, right := memoryConfig(n), memoryConfig(n)
		wrong.Token, right.Token = "another token, which is wrong", "a token of sufficient length"
		a := start(t, newDevice(t), wrong)
		if err := a.wait(); err == nil {
			t.Error("a wrong token was accepted")
		}
		b := start(t, newDevice(t), right)
		s := b.awaitStatus(t, false)
		var r *client.Rejected
		if !errors.As(s.Err, &r) || r.Code != frame.RejectTooMany || s.Retry < 29*time.Second || s.Retry > 31*time.Second {
			t.Errorf("%+v", s)
		}
		b.awaitStatus(t, true)
		_ = b.stop()
		stop()
	})
}

// listenLow listens on a port below those that the system chooses for other listeners and
// connections, so that none of them gets it while nothing listens there.
func listenLow(t *testing.T) net.Listener {
	t.Helper()
	for range 1000 {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))); err == nil {
			return l
		}
	}
	t.Fatal("there is no free port")
	return nil
}

// TestManyBehindOneAddress: sixty devices behind one address are all back after
// the relay was restarted, and none is rejected meanwhile. The sockets are real.
func TestManyBehindOneAddress(t *testing.T) {
	l := listenLow(t)
	address := l.Addr().String()
	cfg := server.Config{Tokens: []string{"a token of sufficient length"}, Limits: server.Limits{RestartIn: 300 * time.Millisecond}}
	stop := serveOn(t, l, cfg)
	var all []*endpoint
	for range 60 {
		all = append(all, startConnected(t, newDevice(t), client.Config{URL: "ws://" + address, Token: cfg.Tokens[0]}))
	}
	stop()
	for _, e := range all {
		e.awaitStatus(t, false)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, cfg)
	for i, e := range all {
		for s := range e.changed {
			var r *client.Rejected
			if errors.As(s.Err, &r) {
				t.Errorf("device %d was rejected: %v", i, r)
			}
			if s.Connected {
				break
			}
		}
	}
	for _, e := range all {
		if err := e.stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestReplaced: two clients of one device do not compete: the older one waits
// for a minute, or until Reclaim says that the newer one has ended.
func TestReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		stop := serveMemory(t, n, server.Config{Open: true})
		d := newDevice(t)
		old := startConnected(t, d, memoryConfig(n))
		old.Reclaim() // nothing has ended its connection
		now := startConnected(t, d, memoryConfig(n))
		if s := old.awaitStatus(t, false); !errors.Is(s.Err, client.ErrReplaced) || s.Retry != time.Minute || s.Health != "replaced by a newer login" {
			t.Errorf("%+v", s)
		}
		time.Sleep(30 * time.Second)
		if err := now.Send(t.Context(), now.id(), []byte("still here")); err != nil {
			t.Error(err)
		}
		if g := <-now.received; g.payload != "still here" {
			t.Errorf("%+v", g)
		}
		_ = now.stop()
		ended := time.Now()
		old.Reclaim()
		old.awaitStatus(t, true)
		if d := time.Since(ended); d > time.Second {
			t.Errorf("it was offline for %v more", d)
		}
		_ = old.stop()
		stop()
	})
}

// TestLeaving: stopping a client first sends its queue.
func TestLeaving(t *testing.T) {
	url := serve(t, server.Config{Open: true})
	a, b := startConnected(t, newDevice(t), client.Config{URL: url}), startConnected(t, newDevice(t), client.Config{URL: url})
	b.send(t, a.id(), "write to me") // now a may send any number of frames
	if g := <-a.received; g != (received{b.id(), "write to me"}) {
		t.Errorf("%+v", g)
	}
	for range 20 {
		a.send(t, b.id(), "bye")
	}
	if err := a.stop(); err != nil {
		t.Error(err)
	}
	for range 20 {
		if g := <-b.received; g != (received{a.id(), "bye"}) {
			t.Errorf("%+v", g)
		}
	}
}

// TestEndWhileDialling: a client that dials can be stopped.
func TestEndWhileDialling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		n.Cut()
		e := start(t, newDevice(t), memoryConfig(n))
		synctest.Wait()
		if err := e.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestSendWaits: Send blocks while the queue is full, until its context ends.
func TestSendWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		stop := serveMemory(t, n, server.Config{Open: true, Limits: server.Limits{BytesPerSecond: 1000, BurstBytes: frame.MaxFrame}})
		e := startConnected(t, newDevice(t), memoryConfig(n))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		var err error
		for err == nil {
			err = e.Send(ctx, e.id(), make([]byte, frame.MaxPayload))
		}
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if err := e.Send(t.Context(), e.id(), make([]byte, frame.MaxPayload+1)); !errors.Is(err, frame.ErrFrame) {
			t.Error(err)
		}
		_ = e.stop()
		stop()
	})
}

func TestURLs(t *testing.T) {
	for url, code := range map[string]string{
		"wss://relay.example.org": "", "ws://127.0.0.1:7447": "", "ws://localhost": "",
		"ws://relay.example.org": "RELAY-PLAIN", "http://relay.example.org": "RELAY-URL", "": "RELAY-URL", "wss://u:secret@h": "RELAY-URL",
	} {
		_, err := client.New(client.Config{URL: url})
		var coded interface{ ErrorCode() string }
		switch {
		case code == "" && err != nil, code != "" && (!errors.As(err, &coded) || coded.ErrorCode() != code):
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := client.New(client.Config{URL: "ws://relay.example.org", Plain: true}); err != nil {
		t.Error(err)
	}
}

// TestNoRelay: a server that is not a relay is reported, and the client
// retries.
func TestNoRelay(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")) // the client may have closed it
			c.Close()
		}
	}()
	e := start(t, newDevice(t), client.Config{URL: "ws://" + l.Addr().String()})
	s := e.awaitStatus(t, false)
	var coded interface{ ErrorCode() string }
	if !errors.As(s.Err, &coded) || coded.ErrorCode() != "RELAY-CONNECT" {
		t.Errorf("%+v", s)
	}
	_ = e.stop()
	cancel()
	l.Close()
	<-done
}
