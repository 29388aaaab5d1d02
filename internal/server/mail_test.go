package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/api"
)

// TestInternalHistory checks that only people with control read the thread of internal
// messages.
func TestInternalHistory(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(secrets)
	x.playSecrets(id)
	for scope, want := range map[string]bool{"read": false, "talk": false, "control": true} {
		var h api.History
		x.call(scope, http.MethodGet, "/api/rooms/"+id+"/history?internal=true", nil, &h)
		got := strings.Contains(fmt.Sprint(linesOf(h)), "INTERNAL-SECRET")
		if got != want || h.First != 1 || !want && len(h.Events) > 0 {
			t.Errorf("%s: %v", scope, linesOf(h))
		}
		for _, e := range linesOf(h) {
			if !strings.Contains(e, `"visibility":"internal"`) {
				t.Errorf("not internal: %s", e)
			}
		}
	}
}
