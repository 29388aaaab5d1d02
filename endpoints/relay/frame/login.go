package frame

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

const loginContext = "moot-relay/1 login\x00"

// LoginMessage returns the bytes that a device signs to log in: the relay's
// host as returned by Host, the challenge of HELLO, and, if the relay requires
// it, 32 bytes of the TLS exporter (RFC 9266). binding is empty otherwise. So a
// login is valid only at this relay and, with a binding, only on this
// connection.
func LoginMessage(host string, challenge, binding []byte) []byte {
	b := make([]byte, 0, len(loginContext)+len(host)+len(challenge)+len(binding))
	b = append(b, loginContext...)
	b = append(b, host...)
	b = append(b, challenge...)
	return append(b, binding...)
}

// ExporterLabel and ExporterSize define the channel binding "tls-exporter" (RFC
// 9266).
const (
	ExporterLabel = "EXPORTER-Channel-Binding"
	ExporterSize  = 32
)

// ParseURL parses a relay's URL: ws or wss, a host, optionally a port and a
// path.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errorf("not a URL") // the error of package url contains the text, which may hold a password
	}
	switch {
	case u.Scheme != "ws" && u.Scheme != "wss":
		return nil, errorf("a relay's URL starts with wss:// or ws://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return nil, errorf("a relay's URL has no user, query or fragment")
	case !isHostName(u.Hostname()):
		return nil, errorf("a relay's URL names a host in ASCII")
	}
	return u, nil
}

// isHostName refuses characters that could end a host name.
func isHostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`/\@?#%"<>[]`, c) >= 0 {
			return false
		}
	}
	return true
}

// Host returns the host name of a relay's URL that logins are bound to: in
// lower case, with the port unless it is the default of the scheme.
func Host(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	if port == "" || u.Scheme == "wss" && port == "443" || u.Scheme == "ws" && port == "80" {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, port)
}

// Loopback reports whether a URL refers to this machine.
func Loopback(u *url.URL) bool {
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
