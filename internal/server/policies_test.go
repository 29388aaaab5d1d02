package server_test

import (
	"bufio"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/room"
)

// policyOf returns the policy of that name in a list.
func policyOf(t *testing.T, list api.Policies, name string) api.Policy {
	t.Helper()
	for _, p := range list.Policies {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("the list has no %s", name)
	return api.Policy{}
}

// TestPolicies lists policies, and changes that of a room with settings, which are
// checked.
func TestPolicies(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(talk)
	var list api.Policies
	x.call("control", http.MethodGet, "/api/policies", nil, &list)
	mention, turns := policyOf(t, list, "mention"), policyOf(t, list, "turns")
	if mention.Origin != "built in" || len(mention.Digest) != 64 || mention.Version == "" || !strings.Contains(string(mention.Schema), `"lookback"`) || !strings.Contains(string(mention.Defaults), `"lookback"`) {
		t.Errorf("mention is %+v", mention)
	}
	if turns.Origin != "program" || turns.Schema != nil {
		t.Errorf("turns is %+v", turns)
	}
	x.call("control", http.MethodGet, "/api/rooms/"+id+"/policies", nil, &list)
	policyOf(t, list, "turns")
	change := api.Command{Do: "policy", Policy: "mention", Digest: mention.Digest, Settings: json.RawMessage(`{ "lookback": 2 }`)}
	done := x.command(id, change)
	events, err := done.Decode()
	if err != nil || len(events) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if ref := events[0].Body.(room.PolicyChanged).Policy; ref.Name != "mention" || string(ref.Settings) != `{"lookback":2}` || ref.Digest != mention.Digest {
		t.Errorf("the policy is %+v", ref)
	}
	var shown api.Shown
	x.call("control", http.MethodGet, "/api/rooms/"+id, nil, &shown)
	if string(shown.InForce.Settings) != `{"lookback":2}` {
		t.Errorf("the room shows %+v", shown.InForce)
	}
	commands := "/api/rooms/" + id + "/commands"
	change.Settings = json.RawMessage(`{"lookback":0,"colour":"red"}`)
	p := x.refused(http.MethodPost, commands, change)
	if p.Code != "ROOM-SETTINGS" || p.Status != http.StatusUnprocessableEntity || len(p.Errors) != 2 || p.Errors[0].Where != "settings" || p.Errors[1].Where != "settings/lookback" || p.Errors[1].What == "" {
		t.Errorf("settings that are not allowed: %+v", p)
	}
	change.Settings = json.RawMessage(`[1]`)
	if p := x.refused(http.MethodPost, commands, change); p.Code != "ROOM-SETTINGS" {
		t.Errorf("settings that are no object: %+v", p)
	}
	change.Settings, change.Digest = nil, strings.Repeat("0", 64)
	if p := x.refused(http.MethodPost, commands, change); p.Status/100 != 4 {
		t.Errorf("another module: %+v", p)
	}
	for _, name := range []string{"./x", `..\x`} {
		if p := x.refused(http.MethodPost, commands, api.Command{Do: "policy", Policy: name}, "Test-Scope", "control"); p.Code != "API-FORBIDDEN" {
			t.Errorf("a path from a caller with control: %+v", p)
		}
	}
}

// previewed makes a preview and returns its last line.
func (x *fixture) previewed(id string, q api.PolicyChoice) (last api.PreviewUpdate) {
	x.t.Helper()
	status, _, b := x.send(http.MethodPost, "/api/rooms/"+id+"/preview", q, "Test-Scope", "control")
	if status != http.StatusOK {
		x.t.Fatalf("%d %s", status, b)
	}
	lines := bufio.NewScanner(strings.NewReader(string(b)))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		if lines.Text() != "" {
			last = api.PreviewUpdate{}
			if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
				x.t.Fatal(err)
			}
		}
	}
	return last
}

// TestPolicyPreview previews policies on a room: the one that ran decides as it did.
func TestPolicyPreview(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.create(api.Create{YAML: talk})
	x.read("", "/api/rooms/"+id+"/events", "") // to its end
	same := x.previewed(id, api.PolicyChoice{Policy: "turns"}).Preview
	if same == nil || same.Asked != 3 || same.Same != 3 || same.Policy != "turns" {
		t.Fatalf("the policy that ran: %+v", same)
	}
	other := x.previewed(id, api.PolicyChoice{Policy: "roundrobin", Settings: json.RawMessage(`{"skip":["c"]}`)}).Preview
	if other == nil || other.Asked != 3 || other.Same != 2 || other.Policy != `roundrobin{"skip":["c"]}` {
		t.Fatalf("another policy: %+v", other)
	}
	want := []replay.PreviewTurns{{Participant: "a", Recorded: 2, Would: 2}, {Participant: "c", Recorded: 1}}
	if len(other.Turns) != 2 || other.Turns[0] != want[0] || other.Turns[1] != want[1] {
		t.Errorf("turns %+v, want %+v", other.Turns, want)
	}
	preview := "/api/rooms/" + id + "/preview"
	if p := x.refused(http.MethodPost, preview, api.PolicyChoice{Policy: "roundrobin", Settings: json.RawMessage(`{"skip":7}`)}); p.Code != "ROOM-SETTINGS" || p.Errors[0].Where != "settings/skip" {
		t.Errorf("settings that are not allowed: %+v", p)
	}
	if p := x.refused(http.MethodPost, preview, api.PolicyChoice{Policy: "none"}); p.Code != "ROOM-POLICY" {
		t.Errorf("an unknown policy: %+v", p)
	}
	if p := x.refused(http.MethodPost, "/api/rooms/r_none/preview", api.PolicyChoice{Policy: "turns"}); p.Code != "ROOM-UNKNOWN" {
		t.Errorf("an unknown room: %+v", p)
	}
}

// TestPolicyReport replays several policies over a room: the answer is a page that a
// browser may show.
func TestPolicyReport(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.create(api.Create{YAML: talk})
	x.read("", "/api/rooms/"+id+"/events", "")
	path := "/api/rooms/" + id + "/replay?"
	for _, more := range []url.Values{{}, {"simulate": {"true"}}} {
		more["policy"] = []string{`{"policy":"turns"}`, `{"policy":"roundrobin","settings":{"skip":["c"]}}`, `{"policy":"turns"}`}
		status, h, b := x.send(http.MethodGet, path+more.Encode(), nil, "Test-Scope", "control")
		page := string(b)
		if status != http.StatusOK || !strings.Contains(page, "turns, roundrobin{&#34;skip&#34;:[&#34;c&#34;]}, turns #2") {
			t.Errorf("%d %s", status, page)
		}
		_, rest, _ := strings.Cut(page, "style-src '")
		hash, _, _ := strings.Cut(rest, "'")
		hash = html.UnescapeString(hash) // a plus sign is escaped in the page
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'; style-src '"+hash+"'") {
			t.Errorf("the policy of the page is %q, and its style has the hash %s", csp, hash)
		}
	}
	for _, q := range []string{"", "policy=turns", `policy={"policy":"turns","x":1}`, `policy={"policy":"none"}`, "policy=%7B%7D", `simulate=1&policy={"policy":"turns"}`, strings.Repeat(`policy={"policy":"turns"}&`, 7)} {
		if p := x.refused(http.MethodGet, path+q, nil); p.Status/100 != 4 {
			t.Errorf("%s: %+v", q, p)
		}
	}
}
