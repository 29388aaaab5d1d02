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

// addressLimiter holds what connections and logins are left to each address.
type addressLimiter struct {
	limits Limits

	mu           sync.Mutex
	connections  int
	perAddress   map[netip.Addr]int
	logins       map[netip.Addr]*rate.Limiter
	overflow     *rate.Limiter // for addresses that there is no room to remember
	lastEviction time.Time
}

// maxAddresses is how many addresses' logins are remembered, about 100 bytes
// each.
const maxAddresses = 1 << 16

func newAddressLimiter(l Limits) addressLimiter {
	return addressLimiter{limits: l, perAddress: map[netip.Addr]int{}, logins: map[netip.Addr]*rate.Limiter{}, overflow: loginLimiter(l)}
}

func loginLimiter(l Limits) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(float64(l.LoginsPerMinute)/60), l.LoginBurst)
}

// acquire takes one connection and one login from an address, or says why not
// and when to try again.
func (a *addressLimiter) acquire(ip netip.Addr) (code frame.RejectCode, retry time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.connections >= a.limits.Connections || a.perAddress[ip] >= a.limits.PerAddress {
		return frame.RejectFull, 10 * time.Second
	}
	r := a.limiter(ip).ReserveN(time.Now(), 1)
	if wait := r.Delay(); wait > 0 {
		r.Cancel()
		return frame.RejectTooMany, wait
	}
	a.connections++
	a.perAddress[ip]++
	return 0, 0
}

// release gives the connection back.
func (a *addressLimiter) release(ip netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.connections--
	if a.perAddress[ip]--; a.perAddress[ip] == 0 {
		delete(a.perAddress, ip)
	}
}

func (a *addressLimiter) limiter(ip netip.Addr) *rate.Limiter {
	if l := a.logins[ip]; l != nil {
		return l
	}
	if len(a.logins) >= maxAddresses && !a.evictIdle() {
		return a.overflow
	}
	l := loginLimiter(a.limits)
	a.logins[ip] = l
	return l
}

// evictIdle forgets addresses whose logins are all there again, which is the same
// as never having heard of them. It reports whether there is room now.
func (a *addressLimiter) evictIdle() bool {
	if time.Since(a.lastEviction) < time.Second { // it takes milliseconds, which nobody shall be able to ask for at will
		return false
	}
	a.lastEviction = time.Now()
	for ip, l := range a.logins {
		if l.Tokens() >= float64(l.Burst()) {
			delete(a.logins, ip)
		}
	}
	return len(a.logins) < maxAddresses
}

// proxies are trusted to name the client in X-Forwarded-For.
type proxies []netip.Prefix

// clientAddress returns whose limits a request counts for. X-Forwarded-For is asked
// only behind a trusted proxy, and from its end: what stands before is the
// client's word.
func (p proxies) clientAddress(r *http.Request) netip.Addr {
	ip := parseAddr(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for len(hops) > 0 && p.contain(ip) {
		last := hops[len(hops)-1]
		hops = hops[:len(hops)-1]
		var err error
		if ip, err = netip.ParseAddr(strings.TrimSpace(last)); err != nil {
			return netip.Addr{} // one share for all that a proxy does not name
		}
	}
	return aggregate(ip)
}

// parseAddr returns the address of HOST:PORT, the zero one when it has none.
func parseAddr(hostPort string) netip.Addr {
	ap, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr()
}

func (p proxies) contain(ip netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(ip.Unmap()) {
			return true
		}
	}
	return false
}

// aggregate is the address, or the network of 64 bits that one customer has.
func aggregate(ip netip.Addr) netip.Addr {
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
