package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A failureLimiter limits failed logins per client address, so that tokens
// cannot be guessed. Logins that succeed cost nothing: many devices behind one
// address come back at once when a relay was restarted.
type failureLimiter struct {
	limits Limits

	mu           sync.Mutex
	failures     map[netip.Addr]*rate.Limiter
	overflow     *rate.Limiter // shared by addresses beyond maxAddresses
	lastEviction time.Time
}

// maxAddresses is how many limiters are kept, about 100 bytes each.
const maxAddresses = 1 << 16

func newFailureLimiter(l Limits) failureLimiter {
	return failureLimiter{limits: l, failures: map[netip.Addr]*rate.Limiter{}, overflow: loginLimiter(l)}
}

func loginLimiter(l Limits) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(float64(l.LoginsPerMinute)/60), l.LoginBurst)
}

// charge records a failed login of an address.
func (a *failureLimiter) charge(ip netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limiter(ip).AllowN(time.Now(), 1)
}

// wait returns how long an address that has failed too often must wait.
func (a *failureLimiter) wait(ip netip.Addr) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.failures[ip]
	if l == nil && len(a.failures) < maxAddresses {
		return 0
	}
	if l == nil {
		l = a.overflow
	}
	now := time.Now()
	r := l.ReserveN(now, 1)
	defer r.CancelAt(now)
	return r.DelayFrom(now)
}

func (a *failureLimiter) limiter(ip netip.Addr) *rate.Limiter {
	if l := a.failures[ip]; l != nil {
		return l
	}
	if len(a.failures) >= maxAddresses && !a.evictIdle() {
		return a.overflow
	}
	l := loginLimiter(a.limits)
	a.failures[ip] = l
	return l
}

// evictIdle removes limiters that are full again, which are equal to new ones.
// It reports whether there is room now.
func (a *failureLimiter) evictIdle() bool {
	if time.Since(a.lastEviction) < time.Second { // a scan takes milliseconds, so attackers must not trigger it at will
		return false
	}
	a.lastEviction = time.Now()
	for ip, l := range a.failures {
		if l.Tokens() >= float64(l.Burst()) {
			delete(a.failures, ip)
		}
	}
	return len(a.failures) < maxAddresses
}

// proxies are trusted to name the client in X-Forwarded-For.
type proxies []netip.Prefix

// clientAddress returns the address that a request counts for. X-Forwarded-For
// is used only behind a trusted proxy and from its end, because clients can
// write the part before.
func (p proxies) clientAddress(r *http.Request) netip.Addr {
	ip := parseAddr(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for len(hops) > 0 && p.contain(ip) {
		last := hops[len(hops)-1]
		hops = hops[:len(hops)-1]
		var err error
		if ip, err = netip.ParseAddr(strings.TrimSpace(last)); err != nil {
			return netip.Addr{} // one quota for all clients that a proxy does not name
		}
	}
	return aggregate(ip)
}

// parseAddr returns the address of HOST:PORT, or the zero address.
func parseAddr(hostPort string) netip.Addr {
	ap, _ := netip.ParseAddrPort(hostPort) // the zero value after an error
	return ap.Addr()
}

func (p proxies) contain(ip netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(ip.Unmap()) })
}

// aggregate returns the unit of the limits: an IPv4 address, or an IPv6 network
// of 64 bits, the usual allocation of one customer.
func aggregate(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if !ip.Is6() {
		return ip
	}
	p, _ := ip.Prefix(64) // an IPv6 address has one
	return p.Addr()
}
