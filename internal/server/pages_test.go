package server_test

import (
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
