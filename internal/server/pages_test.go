package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/page"
)

// TestPage checks that pages and their assets are served with the policy that keeps
// other scripts out.
func TestPage(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.create(api.Create{YAML: oneAgent})
	for path, part := range map[string]string{"/": "<moot-rooms>", "/rooms/" + id: `data-room="` + id + `"`} {
		status, h, body := x.send(http.MethodGet, path, nil)
		if status != http.StatusOK || !strings.Contains(string(body), part) || h.Get("Content-Security-Policy") != page.Policy {
			t.Errorf("%s: %d %v\n%s", path, status, h, body)
		}
	}
	for name, kind := range map[string]string{"room.js": "text/javascript; charset=utf-8", "base.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"} {
		status, h, body := x.send(http.MethodGet, "/assets/"+page.Version+"/"+name, nil)
		if status != http.StatusOK || h.Get("Content-Type") != kind || len(body) == 0 {
			t.Errorf("%s: %d %v, %d bytes", name, status, h, len(body))
		}
	}
	x.refused(http.MethodGet, "/assets/x/none.js", nil)
	x.refused(http.MethodGet, "/assets/x/..%2fpage.go", nil)
	x.refused(http.MethodGet, "/rooms/r_none", nil)
}

// TestRefusedPage checks that a person who asks for a page gets a page that says why there is
// none, and that a program gets a problem.
func TestRefusedPage(t *testing.T) {
	x := newSecured(t, "")
	for _, c := range []struct {
		path, accept, site, part string
		status                   int
	}{
		{"/rooms/r_none", "text/html", "none", "moot open r_none<", http.StatusUnauthorized},
		{"/", "text/html,*/*;q=0.8", "cross-site", "location.replace(to)", http.StatusForbidden},
		{"/rooms/x;rm", "text/html", "none", "moot open<", http.StatusUnauthorized},
		{"/", "*/*", "", `"code":"API-UNAUTHORIZED"`, http.StatusUnauthorized},
		{"/api/rooms", "text/html", "none", `"code":"API-UNAUTHORIZED"`, http.StatusUnauthorized},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, x.web.URL+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", c.accept)
		if c.site != "" {
			req.Header.Set("Sec-Fetch-Site", c.site)
			req.Header.Set("Sec-Fetch-Mode", "navigate")
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != c.status || !strings.Contains(string(body), c.part) {
			t.Errorf("%s for %s: %s, %v\n%s", c.path, c.accept, resp.Status, err, body)
		}
		resp.Body.Close()
	}
}
