package access

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/problem"
)

// Hosts are the names that a server answers to. A page of another site can make
// its own name point to this machine (DNS rebinding), so a request must name one
// of these.
type Hosts struct {
	names []hostName
}

// A hostName is a configured name. Port is 0 for the port that is listened on.
type hostName struct {
	name string
	port uint16
}

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62})(\.[a-z0-9]([a-z0-9-]{0,62}))*$`)

// ParseHosts reads the setting server.hosts: names or addresses with or without a
// port, separated by commas.
func ParseHosts(text string) (Hosts, error) {
	var h Hosts
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, port, err := splitHost(strings.ToLower(item))
		if _, notIP := netip.ParseAddr(name); err != nil || notIP != nil && !namePattern.MatchString(name) {
			return Hosts{}, &problem.Error{Code: "SERVER-HOST", What: fmt.Sprintf("%.80q is no name of a host", item), Where: "server.hosts", Fix: "write names as in the browser's address bar, such as moot.example.org or moot.example.org:8443"}
		}
		h.names = append(h.names, hostName{name, port})
	}
	return h, nil
}

// splitHost parses HOST or HOST:PORT, with an IPv6 address in brackets. The port
// is 0 if there is none.
func splitHost(text string) (host string, port uint16, err error) {
	host = text
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.HasSuffix(text, "]") {
		n, err := strconv.ParseUint(text[i+1:], 10, 16)
		if err != nil || n == 0 || text[i+1] == '0' {
			return "", 0, fmt.Errorf("%.80q has no valid port", text)
		}
		host, port = text[:i], uint16(n)
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if a, err := netip.ParseAddr(inner); !ok || err != nil || !a.Is6() || a.Zone() != "" {
			return "", 0, fmt.Errorf("%.80q has no valid address", text)
		}
		return inner, port, nil
	}
	if strings.ContainsAny(host, ":[]") || host == "" {
		return "", 0, fmt.Errorf("%.80q is no host", text)
	}
	return host, port, nil
}

// allow reports whether host, the value of the Host header, names the server at
// the local address of its connection.
func (h Hosts) allow(host string, local netip.AddrPort, secure bool) bool {
	name, port, err := splitHost(strings.ToLower(host))
	if err != nil {
		return false
	}
	if port == 0 {
		port = defaultPort(secure)
	}
	if port == local.Port() {
		at := local.Addr().Unmap()
		if addr, err := netip.ParseAddr(name); err == nil && addr == at || name == "localhost" && at.IsLoopback() {
			return true
		}
	}
	return slices.ContainsFunc(h.names, func(n hostName) bool {
		want := n.port
		if want == 0 {
			want = local.Port()
		}
		// a proxy in front that has a certificate hides the scheme
		return n.name == name && (want == port || want == 443 && strings.ToLower(host) == name)
	})
}

func defaultPort(secure bool) uint16 {
	if secure {
		return 443
	}
	return 80
}

// allowOrigin reports whether origin, the value of an Origin header, is that of
// one of the server's own names.
func (h Hosts) allowOrigin(origin string, local netip.AddrPort, secure bool) bool {
	if host, ok := strings.CutPrefix(origin, scheme(secure)+"://"); ok && h.allow(host, local, secure) {
		return true
	}
	host, ok := strings.CutPrefix(origin, "https://")
	return ok && !secure && h.behindProxy(host)
}

// behindProxy reports whether host is a configured name with the port of HTTPS,
// which a proxy in front of this server has.
func (h Hosts) behindProxy(host string) bool {
	return slices.ContainsFunc(h.names, func(n hostName) bool { return n.port == 443 && (host == n.name || host == n.name+":443") })
}

func scheme(secure bool) string {
	if secure {
		return "https"
	}
	return "http"
}
