package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

// TestBinding: if the relay terminates TLS, a login is valid on that connection
// only. A proxy in the middle, even one with a trusted certificate, cannot pass
// it on.
func TestBinding(t *testing.T) {
	cert, key := relaytest.Certificate(t)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, server.Config{Open: true, TLS: &tls.Config{Certificates: []tls.Certificate{pair}}})
	cfg := client.Config{URL: "wss://" + l.Addr().String(), TLS: &tls.Config{RootCAs: roots}}
	a, b := startConnected(t, newDevice(t), cfg), startConnected(t, newDevice(t), cfg)
	a.send(t, b.id(), "hello")
	if g := <-b.received; g != (received{a.id(), "hello"}) {
		t.Errorf("%+v", g)
	}

	between := interpose(t, &tls.Config{Certificates: []tls.Certificate{pair}}, l.Addr().String(), &tls.Config{RootCAs: roots})
	cfg.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", between)
	}
	var r *client.Rejected
	if err := start(t, newDevice(t), cfg).wait(); !errors.As(err, &r) || r.Code != frame.RejectAuth {
		t.Errorf("through a proxy in the middle: %v", err)
	}
	// Without TLS no binding is possible, and a relay that requires one is
	// refused.
	plain := interpose(t, nil, l.Addr().String(), &tls.Config{RootCAs: roots})
	e := start(t, newDevice(t), client.Config{URL: "ws://" + plain})
	if s := e.awaitStatus(t, false); s.Err == nil || s.Connected {
		t.Errorf("without TLS: %+v", s)
	}
	_ = e.stop()
}

// interpose copies bytes between a new listener, with TLS unless own is nil,
// and a server. It returns the address of the listener.
func interpose(t *testing.T, own *tls.Config, to string, theirs *tls.Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if own != nil {
		l = tls.NewListener(l, own)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer here.Close()
				there, err := tls.Dial("tcp", to, theirs)
				if err != nil {
					t.Error(err)
					return
				}
				defer there.Close()
				work.Go(func() { _, _ = io.Copy(there, here); there.Close() }) // either side may close first
				_, _ = io.Copy(here, there)
			})
		}
	})
	t.Cleanup(func() { l.Close(); work.Wait() })
	return address
}
