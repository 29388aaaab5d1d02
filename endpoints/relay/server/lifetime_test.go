package server_test

import (
	"crypto/ed25519"
	"fmt"
	"io"
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

// count reads a counter, of a group the sum.
func (r *relay) count(name string) (n int) {
	r.t.Helper()
	for _, one := range r.group {
		n += one.count(name)
	}
	if r.group != nil {
		return n
	}
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
	n, err = strconv.Atoi(string(m[1]))
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

// TestFull: logged-in devices are limited in total, and a refused one is told
// when to try again.
func TestFull(t *testing.T) {
	limits := unlimited
	limits.Connections = 4
	r := start(t, loopback(t), server.Config{Open: true, Limits: limits})
	a, b := r.login(), r.login()
	r.login()
	r.login()
	for range 3 {
		e := r.dialHello()
		e.send(e.loginFrame(r.host, ""))
		if got := want[frame.Reject](e); got.Code != frame.RejectFull || got.RetryAfterMS == 0 {
			t.Errorf("%+v", got)
		}
		e.expectClose(websocket.ClosePolicyViolation)
	}
	a.sendTo(b, "still connected")
	b.expectFrom(a, "still connected")
	if got := r.count(`moot_relay_rejects_total{code="full"}`); got != 3 {
		t.Errorf("%d rejects counted", got)
	}
}

// TestHalfOpenOfOthers: a flood from one address evicts its own connections,
// when the pool is full, and not those of other addresses.
func TestHalfOpenOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		r := start(t, memory(n), server.Config{Open: true, Limits: server.Limits{HalfOpen: 8, HalfOpenPerAddress: 6}})
		other := r.from(n, "192.0.2.7")
		mine := other.dialHello()
		for range 20 {
			r.dialHello()
		}
		for i := range 3 {
			r.from(n, fmt.Sprint("192.0.2.", 10+i)).dialHello()
		}
		synctest.Wait()
		mine.send(mine.loginFrame(r.host, ""))
		want[frame.Welcome](mine)
		if kept := 20 + 3 - r.count("moot_relay_half_open_evicted_total"); kept != 7 { // and mine, which has logged in
			t.Errorf("%d half-open connections are kept", kept)
		}
		r.stop()
	})
}

// TestPerAddress: one address cannot use the places of others. The place of a
// device that has disconnected is its own for two minutes.
func TestPerAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := relaytest.NewNetwork()
		r := start(t, memory(n), server.Config{Open: true, Limits: server.Limits{PerAddress: 3}})
		refused := func(when string) {
			t.Helper()
			e := r.dialHello()
			e.send(e.loginFrame(r.host, ""))
			if got := want[frame.Reject](e); got.Code != frame.RejectFull {
				t.Errorf("%s: %+v", when, got)
			}
		}
		var mine []*endpoint
		for range 3 {
			mine = append(mine, r.login())
		}
		refused("all places are taken")
		r.from(n, "192.0.2.7").login()
		mine[0].Close()
		synctest.Wait()
		refused("the place is kept")
		again := r.loginAs(mine[0].key)
		newer := r.loginAs(mine[0].key) // replaces the connection, not the place
		again.Close()
		synctest.Wait()
		refused("the newer connection has the place")
		newer.Close()
		time.Sleep(2*time.Minute + 3*time.Second) // synctest time
		r.login()                                 // the place is free
		refused("all places are taken again")
		r.from(n, "192.0.2.7").loginAs(mine[1].key) // a device that changes its network takes a place there
		synctest.Wait()
		r.stop()
	})
}

// TestAccessIsReplaced: the relay takes new tokens and devices while it runs,
// and disconnects those that may not be there any more.
func TestAccessIsReplaced(t *testing.T) {
	const next = "the token after that one"
	listed, kept := newKey(t), newKey(t)
	r := start(t, loopback(t), server.Config{Tokens: []string{token, next}, Devices: []frame.ID{idOf(listed), idOf(kept)}})
	join := func(key ed25519.PrivateKey, token string) *endpoint {
		e := r.dialHello()
		e.key = key
		e.send(e.loginFrame(r.host, token))
		want[frame.Welcome](e)
		return e
	}
	gone := map[string]*endpoint{"by the old token": join(newKey(t), token), "by the list": join(listed, "")}
	stay := []*endpoint{join(newKey(t), next), join(kept, "")}
	for _, err := range []error{r.server.SetAccess(nil, nil), r.server.SetAccess([]string{"short"}, nil)} {
		if err == nil {
			t.Error("an access that lets in nobody was accepted")
		}
	}
	stay[0].sendTo(stay[1], "nothing has changed")
	stay[1].expectFrom(stay[0], "nothing has changed")
	if err := r.server.SetAccess([]string{next}, []frame.ID{idOf(kept)}); err != nil {
		t.Fatal(err)
	}
	for name, e := range gone {
		if h := want[frame.Health](e); h.Text != "this device may not log in any more" {
			t.Errorf("%s: %q", name, h.Text)
		}
		e.expectClose(websocket.ClosePolicyViolation)
		again := r.dialHello()
		again.key = e.key
		again.send(again.loginFrame(r.host, token))
		if got := want[frame.Reject](again); got.Code != frame.RejectToken {
			t.Errorf("%s: %+v", name, got)
		}
	}
	stay[0].sendTo(stay[1], "still here")
	stay[1].expectFrom(stay[0], "still here")
	join(newKey(t), next)
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
