package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/api"
)

// FuzzBodies sends bodies to the routes that take a command, a new room and a
// policy, as a caller who may do all. Every answer is as described, and none says that the server
// has failed.
func FuzzBodies(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `[]`, `null`, `{"do":"say","text":"a"}`, `{"do":"say","text":"\ud800","to":"a"}`, `{"do":"limits","limits":{"max_turns":1e3}}`,
		`{"do":"limits","limits":{"max_duration_ns":9223372036854775807}}`, `{"do":"redact","event":-1}`, `{"do":"redact","event":2}`,
		`{"do":"next","seat":"a"}`, `{"do":"standing","seat":"a","standing":"removed"}`, `{"do":"policy","policy":"turns"}`, `{"do":"permit","request":"1.1","allowed":true}`,
		`{"do":"takeover","seat":"a","as":"me"}`, `{"do":"pause","id":"c1"}`, `{"do":"pause","do":"stop"}`,
		`{"do":"policy","policy":"mention","settings":{"lookback":0}}`, `{"policy":"turns"}`, `{"policy":"mention","settings":[{}]}`, `{"policy":"quiet","digest":"0"}`,
		`{"room":"r_1"}`, `{"yaml":"version: room/v1"}`, `{"yaml":"a","options":{"first":[{"do":"stop"}]}}`, `{"file":"/nonexistent"}`,
	} {
		f.Add([]byte(body))
	}
	x := newFixture(f, f.TempDir())
	id := x.paused(talk)
	f.Fuzz(func(t *testing.T, body []byte) {
		var c struct {
			YAML, File, Policy string
		}
		if _ = json.Unmarshal(body, &c); c.File != "" || strings.Contains(c.YAML, "endpoint") || strings.ContainsAny(c.Policy, `/\`) {
			t.Skip() // it would read any file, or start any program, of the machine
		}
		for _, path := range []string{"/api/rooms/" + id + "/commands", "/api/rooms", "/api/rooms/" + id + "/preview"} {
			x := *x
			x.t = t
			status, h, answer := x.send(http.MethodPost, path, string(body))
			if status >= http.StatusInternalServerError {
				t.Errorf("%s answers %q with %d %s", path, body, status, answer)
			}
			var p api.Problem
			if status >= http.StatusBadRequest && (h.Get("Content-Type") != api.ProblemType || json.Unmarshal(answer, &p) != nil || p.Code == "" || p.Detail == "") {
				t.Errorf("%s answers %q with %s", path, body, answer)
			}
		}
	})
}
