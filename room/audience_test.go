package room_test

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// TestVisibleAtHidesDrafts checks that readers without control see no drafts and
// no settings of the host.
func TestSeen(t *testing.T) {
	s := &script{}
	for _, line := range []string{"open a/manual me/human", "claim", "speak a go", "said a secret draft", "edit a better secret"} {
		s.do(t, discard(), line)
	}
	if v := s.state.View(room.UserVisible); v.Draft != nil {
		t.Errorf("the view shows the draft %+v", v.Draft)
	}
	if v := s.state.View(room.Internal); v.Draft == nil || v.Draft.Message.Text != "a better secret" {
		t.Errorf("the view of who reviews it shows %+v", v.Draft)
	}
	if v := s.state.View(room.Internal); v.InForce.Name != s.state.Policy.Ref.Name || v.InForce.Digest != s.state.Policy.Ref.Digest {
		t.Errorf("the view shows the policy %+v", v.InForce)
	}
	for _, e := range s.log {
		seen, ok := e.VisibleAt(room.UserVisible)
		if !ok {
			continue
		}
		b, err := room.MarshalEvent(seen)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "secret draft") || strings.Contains(string(b), "better") || strings.Contains(string(b), `"secret":"s"`) {
			t.Errorf("a reader sees %s", b)
		}
	}
}

// TestMessageReaders checks, for each visibility, what each participant and each
// level of a reader sees of a message from ann to bob.
func TestMessageReaders(t *testing.T) {
	const nothing, summary, whole = "nothing", "summary", "text"
	for _, c := range []struct {
		visibility           room.Visibility
		ann, bob, cyd        string
		internal, some, user string
	}{
		{"", whole, whole, whole, whole, whole, whole},
		{room.UserVisible, whole, whole, whole, whole, whole, whole},
		{room.UserRedacted, whole, whole, summary, whole, whole, summary},
		{room.Internal, whole, whole, nothing, whole, nothing, nothing},
	} {
		m := room.Message{
			From: "ann", To: "bob", Visibility: c.visibility, Text: whole, Summary: summary, Payload: []byte(`1`),
			Tools: []room.ToolCall{{Title: "read plan.md"}}, ToolsMore: 1,
			Receivers: []string{"bob"}, Notify: room.NotifyIdle,
		}
		see := func(m room.Message, ok bool) string {
			switch {
			case !ok && m.Text+m.Summary+string(m.Payload) == "":
				return nothing
			case !ok:
				return "a refusal with content"
			case m.Text == whole && string(m.Payload) != "1", m.Text != whole && m.Payload != nil:
				return "a payload that does not fit " + m.Text
			}
			return m.Text
		}
		for reader, want := range map[string]string{"ann": c.ann, "bob": c.bob, "cyd": c.cyd} {
			if got := see(m.VisibleTo(reader)); got != want {
				t.Errorf("%q: %s sees %q, want %q", c.visibility, reader, got, want)
			}
		}
		for _, reader := range []string{"ann", "bob", "cyd"} {
			if seen, _ := m.VisibleTo(reader); seen.Tools != nil || seen.ToolsMore != 0 {
				t.Errorf("%q: %s sees the tool calls %+v", c.visibility, reader, seen.Tools)
			}
		}
		for level, want := range map[room.Visibility]string{room.Internal: c.internal, room.UserRedacted: c.some, room.UserVisible: c.user} {
			if got := see(m.VisibleAt(level)); got != want {
				t.Errorf("%q: level %s sees %q, want %q", c.visibility, level, got, want)
			}
			if seen, _ := m.VisibleAt(level); (len(seen.Tools) == 1 && seen.ToolsMore == 1) != (level == room.Internal) || (seen.Tools == nil) != (seen.ToolsMore == 0) {
				t.Errorf("%q: level %s sees the tool calls %+v and %d more", c.visibility, level, seen.Tools, seen.ToolsMore)
			}
			if seen, _ := m.VisibleAt(level); (seen.Receivers != nil) != (level == room.Internal) || (seen.Notify != "") != (level == room.Internal) {
				t.Errorf("%q: level %s sees the receivers %v and the wish %q", c.visibility, level, seen.Receivers, seen.Notify)
			}
		}
		if all := room.Audience(m).All(); all != (c.cyd != nothing) {
			t.Errorf("%q: for all %t", c.visibility, all)
		}
	}
	if !room.Audience(room.Message{Visibility: room.Internal, To: room.Broadcast}).Includes("cyd") {
		t.Error("an internal message to everybody does not reach cyd")
	}
}
