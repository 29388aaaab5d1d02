package sessions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/folkmoot/moot/problem"
)

// TestList checks that the list survives the process, that an ended session is
// forgotten after a while, and that a damaged file is refused.
func TestList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server", "sessions.json")
	var l list
	want := []record{
		{ID: "r_1", Folder: "/a", Agent: "claude", Created: now(), Until: now().Add(-time.Hour)},
		{ID: "r_2", By: "r_1", Depth: 1, Folder: "/b", Agent: "codex", Created: now(), Until: now().Add(time.Hour), Ended: "x"},
	}
	old := record{ID: "r_3", Until: now().Add(-time.Hour), Ended: "x"}
	if err := l.change(path, func(l *list) { l.Sessions = append(want, old) }); err != nil {
		t.Fatal(err)
	}
	if got, err := readList(path); err != nil || !reflect.DeepEqual(got.Sessions, want) || !reflect.DeepEqual(l, got) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, damaged := range []string{"", "{", `{"sessions":[{"id":"r_1","extra":1}]}`, `{"sessions":[],"sessions":[]}`} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readList(path)
		if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != "SESSION-LIST" {
			t.Errorf("%q: %v", damaged, err)
		}
	}
	before := len(l.Sessions)
	if err := l.change(filepath.Join(path, "none"), func(l *list) { l.drop("r_1") }); err == nil || len(l.Sessions) != before {
		t.Errorf("a list that cannot be stored has changed: %v", err)
	}
}

// TestRates checks that each sender has its own rate, and that senders are bounded.
func TestRates(t *testing.T) {
	var r rates
	from := Sender{Room: "r_1", Seat: "bot"}
	for range postRate.n {
		if err := r.allow(from, "post", postRate); err != nil {
			t.Fatal(err)
		}
	}
	if r.allow(from, "post", postRate) == nil {
		t.Error("the rate has no end")
	}
	if err := errors.Join(r.allow(from, "create", createRate), r.allow(Sender{Room: "r_1", Seat: "ann"}, "post", postRate)); err != nil {
		t.Error(err)
	}
	for i := range 3 * maxSenders {
		_ = r.allow(Sender{Name: fmt.Sprint(i)}, "post", postRate)
	}
	if len(r.limiters) > maxSenders+2 {
		t.Errorf("%d senders are kept", len(r.limiters))
	}
}

// TestModel checks how an agent is told its folder and its model.
func TestModel(t *testing.T) {
	for _, c := range []struct{ written, model, want string }{
		{`{"kind":"acp","agent":"claude"}`, "", `{"agent":"claude","cwd":"/w","kind":"acp"}`},
		{`{"kind":"acp","agent":"claude","env":{"A":"b"}}`, "opus", `{"agent":"claude","cwd":"/w","env":{"A":"b","ANTHROPIC_MODEL":"opus"},"kind":"acp"}`},
		{`{"kind":"acp","agent":"codex"}`, "gpt", ""},
		{`{"kind":"openai","model":"a"}`, "b", `{"kind":"openai","model":"b"}`},
		{`{"kind":"openai"}`, "${OPENAI_API_KEY}", ""},
		{`{"kind":"ndjson","command":["x"],"cwd":"y"}`, "", `{"command":["x"],"cwd":"/w","kind":"ndjson"}`},
		{`{"kind":"relay","peer":"bob"}`, "", ""},
		{`{"kind":"scripted","lines":["x"]}`, "m", ""},
	} {
		got, err := inFolder([]byte(c.written), "/w", c.model)
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s with %q: %s, %v", c.written, c.model, got, err)
		}
	}
	if got, err := inFolder([]byte(`{"kind":"acp","agent":"claude"}`), "/w/${HOME}", ""); err != nil || string(got) != `{"agent":"claude","cwd":"/w/$${HOME}","kind":"acp"}` {
		t.Errorf("a folder with a variable: %s, %v", got, err)
	}
}
