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

// An addressLimiter limits connections and logins per client address.
type addressLimiter struct {
	limits Limits

	mu           sync.Mutex
	connections  int
	perAddress   map[netip.Addr]int
	logins       map[netip.Addr]*rate.Limiter
	overflow     *rate.Limiter // shared by addresses beyond maxAddresses
	lastEviction time.Time
}

// maxAddresses is how many login limiters are kept, about 100 bytes each.
const maxAddresses = 1 << 16

func newAddressLimiter(l Limits) addressLimiter {
	return addressLimiter{limits: l, perAddress: map[netip.Addr]int{}, logins: map[netip.Addr]*rate.Limiter{}, overflow: loginLimiter(l)}
}

func loginLimiter(l Limits) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(float64(l.LoginsPerMinute)/60), l.LoginBurst)
}

// acquire takes one connection and one login of an address. If a limit is
// reached it returns the code and when to retry.
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

// release returns the connection.
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

// evictIdle removes limiters that are full again, which are equal to new ones.
// It reports whether there is room now.
func (a *addressLimiter) evictIdle() bool {
	if time.Since(a.lastEviction) < time.Second { // a scan takes milliseconds, so attackers must not trigger it at will
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

// aggregate returns the unit of the limits: an IPv4 address, or an IPv6 network
// of 64 bits, the usual allocation of one customer.
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
