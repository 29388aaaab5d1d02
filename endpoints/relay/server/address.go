package server

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// addresses holds what connections and logins are left to each address.
type addresses struct {
	limits Limits

	mu     sync.Mutex
	all    int
	open   map[netip.Addr]int
	logins map[netip.Addr]*rate.Limiter
	rest   *rate.Limiter // for addresses that there is no room to remember
	swept  time.Time
}

// maxAddresses is how many addresses' logins are remembered, about 100 bytes
// each.
const maxAddresses = 1 << 16

func newAddresses(l Limits) addresses {
	return addresses{limits: l, open: map[netip.Addr]int{}, logins: map[netip.Addr]*rate.Limiter{}, rest: loginLimiter(l)}
}

func loginLimiter(l Limits) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(float64(l.LoginsPerMinute)/60), l.LoginBurst)
}

// enter takes one connection and one login from an address, or says why not
// and when to try again.
func (a *addresses) enter(ip netip.Addr) (code frame.RejectCode, retry time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all >= a.limits.Connections || a.open[ip] >= a.limits.PerAddress {
		return frame.RejectFull, 10 * time.Second
	}
	r := a.limiter(ip).ReserveN(time.Now(), 1)
	if wait := r.Delay(); wait > 0 {
		r.Cancel()
		return frame.RejectTooMany, wait
	}
	a.all++
	a.open[ip]++
	return 0, 0
}

// leave gives the connection back.
func (a *addresses) leave(ip netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all--
	if a.open[ip]--; a.open[ip] == 0 {
		delete(a.open, ip)
	}
}

func (a *addresses) limiter(ip netip.Addr) *rate.Limiter {
	if l := a.logins[ip]; l != nil {
		return l
	}
	if len(a.logins) >= maxAddresses && !a.sweep() {
		return a.rest
	}
	l := loginLimiter(a.limits)
	a.logins[ip] = l
	return l
}

// sweep forgets addresses whose logins are all there again, which is the same
// as never having heard of them. It reports whether there is room now.
func (a *addresses) sweep() bool {
	if time.Since(a.swept) < time.Second { // it takes milliseconds, which nobody shall be able to ask for at will
		return false
	}
	a.swept = time.Now()
	for ip, l := range a.logins {
		if l.Tokens() >= float64(l.Burst()) {
			delete(a.logins, ip)
		}
	}
	return len(a.logins) < maxAddresses
}

// address returns whose limits a request counts for. X-Forwarded-For is asked
// only behind a trusted proxy, and from its end: what stands before is the
// client's word.
func (s *Server) address(r *http.Request) netip.Addr {
	ip := remote(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for len(hops) > 0 && s.trusted(ip) {
		last := hops[len(hops)-1]
		hops = hops[:len(hops)-1]
		var err error
		if ip, err = netip.ParseAddr(strings.TrimSpace(last)); err != nil {
			return netip.Addr{} // one share for all that a proxy does not name
		}
	}
	return share(ip)
}

// remote returns the address of HOST:PORT, the zero one when it has none.
func remote(hostPort string) netip.Addr {
	ap, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr()
}

func (s *Server) trusted(ip netip.Addr) bool {
	for _, p := range s.cfg.TrustedProxies {
		if p.Contains(ip.Unmap()) {
			return true
		}
	}
	return false
}

// share is the address, or the network of 64 bits that one customer has.
func share(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if !ip.Is6() {
		return ip
	}
	p, err := ip.Prefix(64)
	if err != nil {
		return ip
	}
	return p.Addr()
}
