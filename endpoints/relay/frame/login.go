package frame

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

const loginContext = "moot-relay/1 login\x00"

// LoginMessage is what a device signs to log in: the relay's host as in
// Host, the challenge of HELLO, and, where the relay asked for it, 32 bytes of
// the TLS exporter (RFC 9266); binding is empty elsewhere. So a relay cannot
// use a login at another relay, nor somebody between use it on another
// connection.
func LoginMessage(host string, challenge, binding []byte) []byte {
	b := make([]byte, 0, len(loginContext)+len(host)+len(challenge)+len(binding))
	b = append(b, loginContext...)
	b = append(b, host...)
	b = append(b, challenge...)
	return append(b, binding...)
}

// ExporterLabel and ExporterSize are of the channel binding "tls-exporter".
const (
	ExporterLabel = "EXPORTER-Channel-Binding"
	ExporterSize  = 32
)

// ParseURL reads a relay's URL: ws or wss, a host, perhaps a port and a path.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errorf("no URL") // url's error repeats the text, which may hold a password
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

// isHostName refuses what could be read as more than a host's name.
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

// Host returns the name by which logins are bound to the relay of a URL: its
// host in lower case, with the port unless it is the scheme's own.
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

// Loopback reports whether a URL stays on this machine.
func Loopback(u *url.URL) bool {
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
