package room_test

import (
	"reflect"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// TestTools: a message has the tool calls of its turn, bounded and cleaned, and
// without its text it has none.
func TestTools(t *testing.T) {
	b := opened(t, "a me/human")
	b.play("speak a go")
	calls := make([]room.ToolCall, 103)
	calls[0] = room.ToolCall{ID: "t1", Kind: "dance", Title: "x\x1b[2J\ny", Status: "odd", Paths: []string{"a\u202e", "b", "c", "d", "e"}}
	b.replied(room.Replied{Reply: endpoint.Reply{Text: "done", Tools: calls}})
	e := b.log[len(b.log)-1]
	m := e.Body.(room.MessagePosted).Message
	if want := (room.ToolCall{ID: "t1", Kind: "other", Title: "x y", Paths: []string{"a", "b", "c", "d"}}); len(m.Tools) != 100 || m.ToolsMore != 3 || !reflect.DeepEqual(m.Tools[0], want) {
		t.Errorf("%d tool calls and %d more, the first is %#v", len(m.Tools), m.ToolsMore, m.Tools[0])
	}
	if m = e.Redacted().Body.(room.MessagePosted).Message; m.Tools != nil || m.ToolsMore != 0 {
		t.Errorf("redacted: %d tool calls and %d more", len(m.Tools), m.ToolsMore)
	}
}

// TestForeignTools: the tool calls of another owner's agent are not recorded.
func TestForeignTools(t *testing.T) {
	b := &bench{T: t}
	if err := b.act(room.ActorHost, room.Open{Spec: room.Spec{Room: "r1"}, Participants: []room.Participant{{ID: "a", Kind: policy.Remote, Device: "dev"}}}); err != nil {
		t.Fatal(err)
	}
	b.play("claim", "next a")
	b.replied(room.Replied{Reply: endpoint.Reply{Text: "done", Tools: make([]room.ToolCall, 101)}})
	if m := b.state.Turn; m == nil || m.Draft == nil || m.Draft.Message.Tools != nil || m.Draft.Message.ToolsMore != 0 {
		t.Errorf("the turn is %+v", m)
	}
}
