//go:build unix

package processes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/relaycmd"
)

// relayClient connects a new device and hands on what becomes of it. stop
// waits for it.
func relayClient(t *testing.T, cfg client.Config) (changed chan client.Status, device *identity.Device, stop func() error) {
	t.Helper()
	device, err := identity.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	changed = make(chan client.Status, 100)
	cfg.Device, cfg.Signer = frame.ID(device.ID()), device
	cfg.Changed = func(s client.Status) { changed <- s }
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	return changed, device, func() error { cancel(); return <-done }
}

// TestRelay: a relay tells scripts where it is, lets in who has a token, and
// ends gracefully, telling devices to come back.
func TestRelay(t *testing.T) {
	const token = "a token for everybody here"
	w := newWorkbench(t, map[string]string{"tokens": token + "\n"})
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		r := w.start("relay", "--listen", "127.0.0.1:0", "--tokens", "tokens", "-o", "jsonl", "--metrics", "127.0.0.1:0", "--log-level", "info")
		var at relaycmd.RunningRelay
		if decodeLine(t, r.until(t, "url"), &at); at.Access != "private" {
			t.Errorf("%+v", at)
		}
		changed, device, stop := relayClient(t, client.Config{URL: at.URL, Token: token})
		if s := <-changed; !s.Connected {
			t.Fatal(s.Err)
		}
		_, _, refused := relayClient(t, client.Config{URL: at.URL, Token: "another token of the same length"})
		var rejected *client.Rejected
		if err := refused(); err != nil && (!errors.As(err, &rejected) || rejected.Code != frame.RejectToken) {
			t.Error(err)
		}
		if got := counters(t, at.Metrics); !strings.Contains(got, "moot_relay_devices 1\n") {
			t.Errorf("counters:\n%s", got)
		}
		if err := r.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		var restarting *client.Restarting
		if s := <-changed; !errors.As(s.Err, &restarting) {
			t.Errorf("%+v", s)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if code := r.end(); code != app.ExitOK {
			t.Errorf("exit code %d\n%s", code, r.stderr)
		}
		for _, secret := range []string{token, device.ID().String(), "127.0.0.1"} {
			if strings.Contains(r.stderr.String(), secret) {
				t.Errorf("the log holds %q:\n%s", secret, r.stderr)
			}
		}
		if !strings.Contains(r.stderr.String(), "connection ended") {
			t.Errorf("no word of a connection:\n%s", r.stderr)
		}
	}
}

func decodeLine(t *testing.T, line string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), v); err != nil {
		t.Fatal(err)
	}
}

func counters(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRelayTLS: a device that trusts the certificate gets in, bound to this
// very connection; a renewed certificate is used without a restart.
func TestRelayTLS(t *testing.T) {
	w := newWorkbench(t, nil)
	roots := w.certificate(t, time.Now().Add(-time.Hour))
	r := w.start("relay", "--listen", "127.0.0.1:0", "--open", "--cert", "cert.pem", "--key", "key.pem")
	url := r.until(t, "wss://")
	changed, _, stop := relayClient(t, client.Config{URL: url, TLS: &tls.Config{RootCAs: roots}})
	if s := <-changed; !s.Connected {
		t.Fatal(s.Err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	renewed := w.certificate(t, time.Now())
	changed, _, stop = relayClient(t, client.Config{URL: url, TLS: &tls.Config{RootCAs: renewed}})
	if s := <-changed; !s.Connected {
		t.Error("after the certificate was renewed:", s.Err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	changed, _, stop = relayClient(t, client.Config{URL: url})
	var unknown x509.UnknownAuthorityError
	if s := <-changed; s.Connected || !errors.As(s.Err, &unknown) {
		t.Errorf("a certificate of nobody: %+v", s)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// certificate writes a new certificate for 127.0.0.1 with its key, as of a
// time, and returns what trusts it.
func (w *workbench) certificate(t *testing.T, at time.Time) *x509.CertPool {
	t.Helper()
	cert, key := relaytest.Certificate(t)
	for name, text := range map[string][]byte{"key.pem": key, "cert.pem": cert} {
		path := filepath.Join(w.dir, name)
		if err := os.WriteFile(path+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path+".new", at, at); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	return roots
}
