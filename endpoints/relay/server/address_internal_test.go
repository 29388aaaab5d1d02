package server

import (
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// TestAddress: X-Forwarded-For is trusted from its end, as far as it names
// trusted proxies.
func TestAddress(t *testing.T) {
	p := proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	for _, c := range []struct {
		peer  string
		given []string
		want  string
	}{
		{"192.0.2.1:99", nil, "192.0.2.1"},
		{"192.0.2.1:99", []string{"198.51.100.7"}, "192.0.2.1"}, // not a trusted proxy
		{"10.0.0.1:99", []string{"198.51.100.7"}, "198.51.100.7"},
		{"10.0.0.1:99", []string{"203.0.113.1, 198.51.100.7"}, "198.51.100.7"}, // the client wrote the first part
		{"10.0.0.1:99", []string{"203.0.113.1", "198.51.100.7,10.9.9.9"}, "198.51.100.7"},
		{"10.0.0.1:99", nil, ""},
		{"10.0.0.1:99", []string{"unknown"}, ""},
		{"10.0.0.1:99", []string{"10.1.1.1"}, "10.1.1.1"},
		{"[2001:db8::1]:99", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"[2001:db9:1:2:3:4:5:6]:99", nil, "2001:db9:1:2::"},
		{"[::ffff:192.0.2.1]:99", nil, "192.0.2.1"},
		{"[fe80::1%eth0]:99", nil, "fe80::"},
		{"pipe", nil, ""},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.given}}
		want := netip.Addr{}
		if c.want != "" {
			want = netip.MustParseAddr(c.want)
		}
		if got := p.clientAddress(r); got != want {
			t.Errorf("%s %q: %v, want %v", c.peer, c.given, got, want)
		}
	}
}

// TestManyAddresses: addresses beyond maxAddresses share one limiter, until
// limiters of others are full again. The clock stands still, so that no limiter is
// full again before the test says so.
func TestManyAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := DefaultLimits()
		l.LoginBurst = 2
		a := newFailureLimiter(l)
		ip := netip.MustParseAddr("10.0.0.0")
		for range maxAddresses {
			if wait := a.wait(ip); wait != 0 {
				t.Fatalf("%v: %v", ip, wait)
			}
			a.charge(ip)
			ip = ip.Next()
		}
		var waits []time.Duration
		for range 3 {
			ip = ip.Next()
			waits = append(waits, a.wait(ip))
			a.charge(ip)
		}
		if waits[0] != 0 || waits[1] != 0 || waits[2] <= 0 || waits[2] > time.Minute {
			t.Error(waits)
		}
		if len(a.failures) != maxAddresses {
			t.Errorf("%d are remembered", len(a.failures))
		}
		time.Sleep(time.Minute) // all limiters are full again
		for range 2 * l.LoginBurst {
			a.charge(ip)
		}
		if len(a.failures) != 1 || a.wait(ip) == 0 {
			t.Errorf("%d are remembered, and %v waits %v", len(a.failures), ip, a.wait(ip))
		}
	})
}

// TestManyPeers: the memory of a filter is bounded, and devices that the
// endpoint wrote to are evicted last.
func TestManyPeers(t *testing.T) {
	d := senderFilter{strangerFrames: 5}
	friend := frame.ID{0xff}
	d.expect(friend)
	for i := range 3 * maxPeers {
		if !d.admit(frame.ID{byte(i), byte(i >> 8)}) {
			t.Fatal("the first frame of a device is refused")
		}
	}
	if len(d.peers) != maxPeers {
		t.Errorf("%d are remembered", len(d.peers))
	}
	for range 10 {
		if !d.admit(friend) {
			t.Fatal("an expected device was evicted before others")
		}
	}
	for i := range 3 * maxPeers {
		d.expect(frame.ID{1, byte(i), byte(i >> 8)})
	}
	if len(d.peers) != maxPeers {
		t.Errorf("%d are remembered", len(d.peers))
	}
}
