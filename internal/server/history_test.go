package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/api"
)

// TestHistory reads parts of a log: pages that meet, the events around a turn, and those
// with a text.
func TestHistory(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.ended()
	get := func(query string) (h api.History) {
		t.Helper()
		x.call("control", http.MethodGet, "/api/rooms/"+id+"/history?"+query, nil, &h)
		return h
	}
	all := get("limit=1000")
	if all.First != 1 || all.Last != all.Tail || len(all.Events) != int(all.Tail) {
		t.Fatalf("%d events from %d to %d of %d", len(all.Events), all.First, all.Last, all.Tail)
	}
	for turn := 1; turn <= 3; turn++ {
		h := get(fmt.Sprint("limit=4&turn=", turn))
		granted := fmt.Sprintf(`"body":{"turn":%d,"participant"`, turn)
		if len(h.Events) != 4 || !strings.Contains(string(h.Events[1].Event)+string(h.Events[2].Event), granted) {
			t.Errorf("around turn %d: %d to %d, %s", turn, h.First, h.Last, linesOf(h))
		}
	}
	if p := x.refused(http.MethodGet, "/api/rooms/"+id+"/history?turn=4", nil); p.Status != http.StatusNotFound || p.Code != "ROOM-UNKNOWN" {
		t.Errorf("%+v", p)
	}
	first := get("after=1&limit=2")
	if rest := get(fmt.Sprint("after=", first.Last)); first.Last != 3 || rest.First != 4 || rest.Last != all.Tail {
		t.Errorf("from %d to %d, then from %d to %d", first.First, first.Last, rest.First, rest.Last)
	}
	if before := get("before=4"); before.First != 1 || before.Last != 3 {
		t.Errorf("before 4: %d to %d", before.First, before.Last)
	}
}

// TestSearch checks that a search finds what a reader sees, newest first in parts, and
// nothing else.
func TestSearch(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(secrets)
	x.playSecrets(id)
	search := func(scope, text, more string) (h api.History) {
		t.Helper()
		x.call(scope, http.MethodGet, "/api/rooms/"+id+"/history?search="+text+more, nil, &h)
		return h
	}
	for _, text := range planted {
		if h := search("talk", strings.ToLower(text), ""); len(h.Events) > 0 {
			t.Errorf("a reader finds %s", linesOf(h))
		}
	}
	if h := search("control", "internal-secret", ""); len(h.Events) != 1 || h.First != 1 {
		t.Errorf("%+v", h)
	}
	if h := search("control", "redacted-secret", ""); len(h.Events) > 0 {
		t.Errorf("a text that is asked for alone is found: %s", linesOf(h))
	}
	h := search("read", "FOR%20ALL", "")
	if len(h.Events) != 1 || !strings.Contains(h.Events[0].HTML, "for all") {
		t.Errorf("%+v", h)
	}
	if h = search("read", "for", fmt.Sprint("&before=", h.First)); h.First != 1 {
		t.Errorf("%+v", h)
	}
}

func linesOf(h api.History) (out []string) {
	for _, u := range h.Events {
		out = append(out, string(u.Event))
	}
	return out
}
