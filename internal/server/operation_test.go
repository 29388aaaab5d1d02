package server_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestProfiles reads profiles of the process, which are for its admin only.
func TestProfiles(t *testing.T) {
	x := newFixture(t, t.TempDir())
	for _, scope := range []string{"read", "talk", "control"} {
		if p := x.refused(http.MethodGet, "/debug/pprof/heap", nil, "Test-Scope", scope); p.Code != "API-FORBIDDEN" {
			t.Errorf("%s: %+v", scope, p)
		}
	}
	if p := x.refused(http.MethodGet, "/debug/pprof/heap", nil, "Test-Room", "r_1"); p.Code != "API-FORBIDDEN" {
		t.Errorf("admin of a room: %+v", p)
	}
	for _, name := range []string{"none", "cmdline", "symbol"} {
		if p := x.refused(http.MethodGet, "/debug/pprof/"+name, nil); p.Code != "API-NOT-FOUND" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if status, _, b := x.send(http.MethodGet, "/debug/pprof/goroutine?debug=1", nil); status != http.StatusOK || !strings.Contains(string(b), "goroutine profile: total") {
		t.Errorf("goroutines: %d %.80s", status, b)
	}
	for _, name := range []string{"heap", "profile?seconds=1"} {
		status, _, b := x.send(http.MethodGet, "/debug/pprof/"+name, nil)
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %d %v", name, status, err)
		}
		if b, err := io.ReadAll(r); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

// TestNoMetrics asks a server without metrics for them.
func TestNoMetrics(t *testing.T) {
	x := newFixture(t, t.TempDir())
	if p := x.refused(http.MethodGet, "/metrics", nil); p.Code != "API-NOT-FOUND" {
		t.Errorf("%+v", p)
	}
	if p := x.refused(http.MethodGet, "/metrics", nil, "Test-Seat", "a", "Test-Room", "r_1"); p.Code != "API-FORBIDDEN" {
		t.Errorf("the agent of a seat: %+v", p)
	}
}
