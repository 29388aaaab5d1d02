package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// selfSigned writes a certificate for 127.0.0.1 and its key.
func selfSigned(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "moot test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key, pool = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), x509.NewCertPool()
	pemCert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool.AppendCertsFromPEM(pemCert)
	if err := errors.Join(os.WriteFile(cert, pemCert, 0o600), os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)); err != nil {
		t.Fatal(err)
	}
	return cert, key, pool
}

// TestTLS checks a server with a certificate: HTTP/1.1 and HTTP/2, the names that it
// answers to, and that it speaks no plain HTTP.
func TestTLS(t *testing.T) {
	k := open(t)
	token, err := k.AdminToken()
	if err != nil {
		t.Fatal(err)
	}
	cert, key, pool := selfSigned(t)
	l, scheme, err := Listen("127.0.0.1:0", cert, key)
	if err != nil || scheme != "https" {
		t.Fatal(scheme, err)
	}
	guard := &Guard{Keys: k}
	s := NewHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := guard.Check(r)
		if err != nil {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, r.Proto+" "+c.Scope.String())
	}))
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	for _, h2 := range []bool{false, true} {
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2}}
		for _, x := range []struct{ host, origin, want string }{
			{"", "", "admin"},
			{"", URL("https", l), "admin"},
			{"", URL("http", l), "none"},
			{"evil.example", "", "none"},
		} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, URL(scheme, l)+"/x", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = x.host
			req.Header.Set("Authorization", "Bearer "+token)
			if x.origin != "" {
				req.Header.Set("Origin", x.origin)
			}
			resp, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			proto, scope, _ := strings.Cut(string(b), " ")
			if err != nil || scope != x.want || (proto == "HTTP/2.0") != h2 {
				t.Errorf("%+v, HTTP/2 %v: %s, %v", x, h2, b, err)
			}
		}
		c.CloseIdleConnections()
	}
	resp, err := http.Get(URL("http", l))
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("plain HTTP: %s", resp.Status)
		}
	}
}
