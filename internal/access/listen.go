package access

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/folkmoot/moot/internal/certfile"
	"github.com/folkmoot/moot/problem"
)

// Limits of a connection. A client that sends its headers or a body slower than
// this is disconnected.
const (
	headerTime  = 5 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 32 << 10
	BodyBytes   = 1 << 20          // of one request
	BodyTime    = 30 * time.Second // for a whole body
)

// Listen listens at a TCP address. An address other than loopback needs the files
// of a certificate and its key. It returns the scheme of the URL too.
func Listen(address, cert, key string) (l net.Listener, scheme string, err error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, "", &problem.Error{Code: "SERVER-LISTEN", What: "this is no address to listen on", Where: address, Fix: "write it as 127.0.0.1:8420; port 0 takes any that is free", Err: err}
	}
	config, err := certfile.Load(cert, key)
	if err != nil {
		return nil, "", &problem.Error{Code: "SERVER-CERT", What: "the certificate of the server cannot be used", Where: cert, Fix: "set both server.cert and server.key to PEM files that belong together", Err: err}
	}
	if config == nil && !at.IP.IsLoopback() {
		return nil, "", &problem.Error{Code: "SERVER-PLAIN", What: "without a certificate the server listens on loopback addresses only", Where: address, Fix: "set server.cert and server.key, or listen on 127.0.0.1 and forward a port over ssh"}
	}
	if l, err = net.ListenTCP("tcp", at); err != nil {
		return nil, "", &problem.Error{Code: "SERVER-LISTEN", What: "cannot listen", Where: address, Fix: "choose another address with --listen; port 0 takes any that is free", Err: err}
	}
	if config == nil {
		return l, "http", nil
	}
	config.NextProtos = []string{"h2", "http/1.1"}
	return tls.NewListener(l, config), "https", nil
}

// NewHTTPServer returns an HTTP server with the limits of this package. It sets no
// limit on the time of a response, because streams have none.
func NewHTTPServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes}
}

// URL returns the address of a listener for people and clients of this machine.
func URL(scheme string, l net.Listener) string {
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil || !at.Addr().IsUnspecified() {
		return scheme + "://" + l.Addr().String()
	}
	return fmt.Sprintf("%s://127.0.0.1:%d", scheme, at.Port())
}
