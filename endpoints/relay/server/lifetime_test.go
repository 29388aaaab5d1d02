package server_test

import (
	"io"
	"net"
	"net/http/httptest"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

// count reads a counter.
func (r *relay) count(name string) int {
	r.t.Helper()
	w := httptest.NewRecorder()
	r.server.Metrics().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	b, err := io.ReadAll(w.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\d+)$`).FindSubmatch(b)
	if m == nil {
		r.t.Fatalf("no %s in\n%s", name, b)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *relay) devices() int { return r.count("moot_relay_devices") }

// TestRestart: at a shutdown each endpoint receives its queue and then RESTART
// with a random delay. Unfinished logins are not waited for.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true})
		a, b := r.login(), r.login()
		r.dialHello() // never logs in
		b.sendTo(a, "before the end")
		synctest.Wait()
		begin := time.Now()
		go r.stop()
		moments := map[uint32]bool{}
		for _, e := range []*endpoint{b, a} {
			if e == a {
				a.expectFrom(b, "before the end")
			}
			again := want[frame.Restart](e)
			if again.ReconnectInMS < 300 || again.ReconnectInMS > 3000 || again.TryForMS != 60_000 {
				t.Errorf("%+v", again)
			}
			moments[again.ReconnectInMS] = true
			e.expectClose(websocket.CloseServiceRestart)
			e.Close()
		}
		synctest.Wait()
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestRestartWithFrozen: an endpoint that does not read delays a shutdown by at
// most 5 s.
func TestRestartWithFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := unlimited
		limits.WriteTimeout = time.Hour
		r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true, Limits: limits})
		a, frozen := r.login(), r.login()
		for range 10 {
			a.sendTo(frozen, string(make([]byte, frame.MaxPayload)))
		}
		synctest.Wait()
		begin := time.Now()
		go func() {
			for {
				if _, err := a.next(); err != nil {
					a.Close()
					return
				}
			}
		}()
		r.stop()
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestFlood: connections are limited per address and in total, and beyond the
// spare places they are closed without a reply.
func TestFlood(t *testing.T) {
	limits := unlimited
	limits.Connections, limits.PerAddress = 8, 8
	r := start(t, loopback(t), server.Config{Open: true, Limits: limits})
	a, b := r.login(), r.login()
	for range 6 {
		r.dialHello()
	}
	for range 3 {
		e := r.dial()
		if got := want[frame.Reject](e); got.Code != frame.RejectFull || got.RetryAfterMS == 0 {
			t.Errorf("%+v", got)
		}
		e.expectClose(websocket.ClosePolicyViolation)
	}
	// Silent connections: no more than the limit and its spare places are open.
	var open []net.Conn
	for range 100 {
		c, err := net.Dial("tcp", r.host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		open = append(open, c)
	}
	closed := 0
	for _, c := range open[len(open)-20:] { // 8 + 64 places are taken
		if _, err := c.Read(make([]byte, 1)); err != nil {
			closed++
		}
	}
	if closed != 20 {
		t.Errorf("%d of 20 were closed", closed)
	}
	a.sendTo(b, "still connected")
	b.expectFrom(a, "still connected")
	if got := r.count(`moot_relay_rejects_total{code="full"}`); got != 3 {
		t.Errorf("%d rejects counted", got)
	}
}

// TestPerAddress: one address cannot use the places of others.
func TestPerAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		r := start(t, memory(n), server.Config{Open: true, Limits: server.Limits{PerAddress: 3, LoginBurst: 100}})
		var mine []*endpoint
		for range 3 {
			mine = append(mine, r.login())
		}
		if got := want[frame.Reject](r.dial()); got.Code != frame.RejectFull {
			t.Errorf("%+v", got)
		}
		r.from(n, "192.0.2.7").login()
		mine[0].Close()
		synctest.Wait()
		r.login() // its place is free again
		r.stop()
	})
}

func TestCounters(t *testing.T) {
	r := start(t, loopback(t), server.Config{Tokens: []string{token}})
	a := r.dialHello()
	a.send(a.loginFrame(r.host, token))
	want[frame.Welcome](a)
	bad := r.dialHello()
	bad.send(bad.loginFrame(r.host, "wrong"))
	want[frame.Reject](bad)
	a.sendTo(a, "hello")
	a.expectFrom(a, "hello")
	a.sendTo(bad, "to an offline device")
	a.expectGone(bad, frame.GoneNotHere)
	for name, want := range map[string]int{
		"moot_relay_devices":                         1,
		"moot_relay_logins_total":                    1,
		`moot_relay_rejects_total{code="token"}`:     1,
		`moot_relay_frames_total{direction="in"}`:    2,
		`moot_relay_gone_total{reason="not_here"}`:   1,
		`moot_relay_gone_total{reason="queue_full"}`: 0,
	} {
		if got := r.count(name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}
