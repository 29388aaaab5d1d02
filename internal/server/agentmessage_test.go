package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
)

// messageOf reads a line of a stream of messages: the message, or nil at its end.
func messageOf(t *testing.T, line string) *api.AgentMessage {
	t.Helper()
	var keys map[string]json.RawMessage
	var u api.Update
	if err := json.Unmarshal([]byte(line), &keys); err != nil || len(keys) != 1 || json.Unmarshal([]byte(line), &u) != nil || u.AgentMessage == nil && u.End == nil {
		t.Fatalf("the stream has %s: %v", line, err)
	}
	return u.AgentMessage
}

// short is what the test compares of a message.
func short(m *api.AgentMessage) string {
	payload := string(m.Payload)
	if ref, ok := m.PayloadRef(); ok {
		payload = fmt.Sprint("reference to ", ref.Bytes, " bytes")
	}
	return fmt.Sprintf("%s %s>%s %s %q %q %s %t %t", m.ID, m.From, m.To, m.Kind, m.Summary, m.Text, payload, m.RequiresAck, m.Redacted)
}

// A messageReader reads the messages of a room in one form, for one reader.
type messageReader struct {
	reader
	form, scope, query string
	want               []string
}

// TestAgentMessage reads the messages of a room in all forms of the stream, as readers of
// each level: each gets the whole envelopes of what it may read and nothing else, a long
// payload by reference, and a removed text never again.
func TestAgentMessage(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.create(api.Create{YAML: lead})
	base := "/api/rooms/" + id
	const (
		brief   = `b1 lead>dba intent_brief "sum" "INTERNAL-SECRET" {"intent":{"objective":"INTERNAL-SECRET"}} true false`
		result  = `t1 dba>lead tool_result "ran" "it ran" reference to 9010 bytes false false`
		whole   = `u1 dba>lead build_update "built" "REDACTED-SECRET" {"log":"REDACTED-SECRET"} false false`
		part    = `u1 dba>lead build_update "built" "built"  false false`
		blocker = `p1 dba>lead blocker "" "REMOVED-SECRET" {"reason":"r"} false false`
		removed = `p1 dba>lead blocker "" ""  false true`
	)
	var readers []*messageReader
	for _, form := range forms {
		for _, r := range []messageReader{
			{scope: "read", want: []string{result, part, blocker}},
			{scope: "talk", want: []string{result, part, blocker}},
			{scope: "control", query: "&level=user_visible", want: []string{result, part, blocker}},
			{scope: "control", query: "&level=user_redacted", want: []string{result, whole, blocker}},
			{scope: "control", want: []string{brief, result, whole, blocker}},
		} {
			r.form, r.reader = form, x.subscribe(form, r.scope, base+"/events?form=messages"+r.query)
			defer r.close()
			readers = append(readers, &r)
		}
	}
	x.postAll(base)
	next := func(r *messageReader) *api.AgentMessage {
		line, err := r.next()
		if err != nil {
			t.Fatalf("%s for %s%s: %v", r.form, r.scope, r.query, err)
		}
		return messageOf(t, line)
	}
	var seq int64
	for _, r := range readers {
		for _, want := range r.want {
			m := next(r)
			if m == nil || short(m) != want {
				t.Fatalf("%s for %s%s\ngets  %+v\nwants %s", r.form, r.scope, r.query, m, want)
			}
			seq = m.Seq
		}
	}
	x.command(id, api.Command{Do: "redact", Event: seq, Reason: "private"})
	x.command(id, api.Command{Do: "stop", As: "me", Reason: "enough"})
	for _, r := range readers {
		if m := next(r); m == nil || short(m) != removed || m.Seq != seq {
			t.Errorf("%s for %s%s\ngets  %+v\nwants %s", r.form, r.scope, r.query, m, removed)
		}
		if m := next(r); m != nil {
			t.Errorf("%s for %s%s has one more: %+v", r.form, r.scope, r.query, m)
		}
		stored := x.read(r.form, base+"/events?form=messages&follow=false"+r.query, r.scope)
		if len(stored) != len(r.want)+2 || strings.Contains(strings.Join(stored, ""), "REMOVED-SECRET") {
			t.Errorf("%s for %s%s: stored are %s", r.form, r.scope, r.query, stored)
		}
	}
	x.mustName(base)
}

// postAll posts a message of each visibility, one with a long payload and one that is
// going to be redacted, and one that is refused.
func (x *fixture) postAll(base string) {
	x.t.Helper()
	long := []byte(`{"log":"` + strings.Repeat("x", 9000) + `"}`)
	for _, p := range []struct {
		seat string
		post api.Post
	}{
		{"lead", api.Post{ID: "b1", To: "dba", Kind: "intent_brief", Summary: "sum", Text: "INTERNAL-SECRET", Payload: []byte(`{"intent":{"objective":"INTERNAL-SECRET"}}`), RequiresAck: true}},
		{"dba", api.Post{ID: "t1", To: "lead", Kind: "tool_result", Summary: "ran", Text: "it ran", Payload: long}},
		{"dba", api.Post{ID: "u1", To: "lead", Kind: "build_update", Summary: "built", Text: "REDACTED-SECRET", Payload: []byte(`{"log":"REDACTED-SECRET"}`), Visibility: room.UserRedacted}},
		{"dba", api.Post{ID: "d1", To: "lead", Kind: "decision", Text: "DEAD-SECRET"}},
		{"dba", api.Post{ID: "p1", To: "lead", Kind: "blocker", Text: "REMOVED-SECRET", Payload: []byte(`{"reason":"r"}`)}},
	} {
		status, _, b := x.send(http.MethodPost, base+"/seats/"+p.seat+"/post", p.post)
		if status != http.StatusOK && p.post.ID != "d1" {
			x.t.Fatal(status, string(b))
		}
	}
}

// mustName checks that a server-sent event of a message has its name, and that a reader
// who resumes gets the rest.
func (x *fixture) mustName(base string) {
	x.t.Helper()
	status, _, b := x.send(http.MethodGet, base+"/events?form=messages", nil, "Accept", "text/event-stream", "Test-Scope", "read")
	events := strings.Split(strings.TrimSpace(string(b)), "\n\n")
	if status != http.StatusOK || len(events) != 5 {
		x.t.Fatalf("%d %s", status, b)
	}
	var ids []string
	for _, e := range events[:4] {
		lines := strings.Split(e, "\n")
		if len(lines) != 3 || lines[0] != "event: agent_message" || !strings.HasPrefix(lines[1], "id: ") || !strings.HasPrefix(lines[2], `data: {"agent_message":{`) {
			x.t.Errorf("a server-sent event is %s", e)
		}
		ids = append(ids, strings.TrimPrefix(lines[1], "id: "))
	}
	_, _, b = x.send(http.MethodGet, base+"/events?form=messages", nil, "Accept", "text/event-stream", "Test-Scope", "read", "Last-Event-ID", ids[1])
	if rest := strings.Split(strings.TrimSpace(string(b)), "\n\n"); !slices.Equal(rest, events[2:]) {
		x.t.Errorf("after %s: %s", ids[1], rest)
	}
}
