package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
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
	open         openCount
	logins       map[netip.Addr]*rate.Limiter
	overflow     *rate.Limiter // shared by addresses beyond maxAddresses
	lastEviction time.Time
}

// An openCount counts open connections, in total and per address.
type openCount struct {
	max, maxPerAddress int
	total              int
	perAddress         map[netip.Addr]int
}

func newOpenCount(most, mostPerAddress int) openCount {
	return openCount{max: most, maxPerAddress: mostPerAddress, perAddress: map[netip.Addr]int{}}
}

func (o *openCount) full() bool                 { return o.total >= o.max }
func (o *openCount) fullFor(ip netip.Addr) bool { return o.perAddress[ip] >= o.maxPerAddress }

func (o *openCount) add(ip netip.Addr, n int) {
	o.total += n
	if o.perAddress[ip] += n; o.perAddress[ip] == 0 {
		delete(o.perAddress, ip)
	}
}

// maxAddresses is how many login limiters are kept, about 100 bytes each.
const maxAddresses = 1 << 16

func newAddressLimiter(l Limits) addressLimiter {
	return addressLimiter{limits: l, open: newOpenCount(l.Connections, l.PerAddress), logins: map[netip.Addr]*rate.Limiter{}, overflow: loginLimiter(l)}
}

func loginLimiter(l Limits) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(float64(l.LoginsPerMinute)/60), l.LoginBurst)
}

// acquire takes one connection and one login of an address. If a limit is
// reached it returns the code and when to retry.
func (a *addressLimiter) acquire(ip netip.Addr) (code frame.RejectCode, retry time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open.full() || a.open.fullFor(ip) {
		return frame.RejectFull, 10 * time.Second
	}
	r := a.limiter(ip).ReserveN(time.Now(), 1)
	if wait := r.Delay(); wait > 0 {
		r.Cancel()
		return frame.RejectTooMany, wait
	}
	a.open.add(ip, 1)
	return 0, 0
}

// release returns the connection.
func (a *addressLimiter) release(ip netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open.add(ip, -1)
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

// Connections above the limits that are accepted only to be refused politely.
const (
	spareConnections = 64
	sparePerAddress  = 16
)

// A cappedListener closes connections above its limits without a reply. Limits
// in total and per address keep one client from taking all connections.
type cappedListener struct {
	net.Listener
	exempt func(netip.Addr) bool // addresses of proxies, which stand for many clients

	mu   sync.Mutex
	open openCount
}

// Accept returns the next connection within the limits.
func (l *cappedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		ip := parseAddr(c.RemoteAddr().String())
		if l.acquire(ip) {
			return &cappedConn{Conn: c, release: sync.OnceFunc(func() { l.release(ip) })}, nil
		}
		c.Close()
	}
}

func (l *cappedListener) acquire(ip netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open.full() || l.open.fullFor(aggregate(ip)) && !l.exempt(ip) {
		return false
	}
	l.open.add(aggregate(ip), 1)
	return true
}

func (l *cappedListener) release(ip netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open.add(aggregate(ip), -1)
}

// A cappedConn releases its place when it is closed.
type cappedConn struct {
	net.Conn
	release func()
}

// Close closes the connection and releases its place.
func (h *cappedConn) Close() error {
	defer h.release()
	return h.Conn.Close()
}
