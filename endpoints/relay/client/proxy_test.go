package client_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/client"
)

// viaProxy makes the test program connect to a URL and print the result. A
// separate process is needed because the environment is read once.
const viaProxy = "MOOT_TEST_VIA_PROXY"

func connectOnce(t *testing.T, url string) {
	e := start(t, newDevice(t), client.Config{URL: url, Plain: true})
	s := e.awaitStatus(t, false)
	t.Log(s.Err)
	_ = e.stop()
}

// TestProxy: the client reaches a relay on another machine through the proxy of
// the environment.
func TestProxy(t *testing.T) {
	if url := os.Getenv(viaProxy); url != "" {
		connectOnce(t, url)
		return
	}
	var asked atomic.Pointer[string]
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := r.Method + " " + r.Host
		asked.Store(&line)
		http.Error(w, "not today", http.StatusForbidden)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = proxy.Serve(l) }() // ends when it is closed
	for scheme, name := range map[string]string{"ws": "HTTP_PROXY", "wss": "HTTPS_PROXY"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxy$", "-test.v")
		cmd.Env = append(os.Environ(), viaProxy+"="+scheme+"://relay.invalid:7447", name+"=http://"+l.Addr().String(), "NO_PROXY=")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Forbidden") {
			t.Errorf("%v\n%s", err, out)
		}
		if line := asked.Swap(nil); line == nil || *line != "CONNECT relay.invalid:7447" {
			t.Errorf("the proxy was asked for %v", line)
		}
	}
	proxy.Close()
	<-done
}
