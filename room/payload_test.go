package room_test

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// TestPayloads checks that a long payload is stored once and that messages refer to it,
// and that what is no JSON object or too long is refused.
func TestPayloads(t *testing.T) {
	b := opened(t, "m/role:manager w/role:worker")
	long := `{"diff":"` + strings.Repeat("x", 9000) + `"}`
	post := func(id, payload string) room.Body {
		n := len(b.log)
		if err := b.act("w", room.Posted{Message: room.Message{ID: id, Kind: "tool_result", To: "m", Payload: []byte(payload)}}); err != nil {
			t.Fatal(err)
		}
		if len(b.log) == n {
			return nil
		}
		return b.log[len(b.log)-1].Body
	}
	ref := func(body room.Body) room.PayloadRef {
		ref, ok := body.(room.MessagePosted).Message.PayloadRef()
		if !ok {
			t.Fatalf("no reference in %+v", body)
		}
		return ref
	}
	first := ref(post("p1", long))
	second := ref(post("p2", " "+long+"\n"))
	if first != second || first.Bytes != len(long) {
		t.Errorf("references %+v and %+v", first, second)
	}
	stored := 0
	for _, e := range b.log {
		if p, ok := e.Body.(room.PayloadStored); ok {
			stored++
			if seq, known := b.state.StoredPayload(p.Digest); string(p.Payload) != long || !known || seq != e.Seq || p.Digest != first.Digest {
				t.Errorf("stored %.40s of %s at %d", p.Payload, p.Digest, seq)
			}
		}
	}
	if stored != 1 {
		t.Errorf("stored %d times", stored)
	}
	if body := post("p1", long); body != nil {
		t.Errorf("a repetition was posted: %+v", body)
	}
	short, ok := post("p3", ` { "a" : 1 } `).(room.MessagePosted)
	if !ok || string(short.Message.Payload) != `{"a":1}` {
		t.Errorf("a short payload became %+v", short)
	}
	for id, payload := range map[string]string{"bad1": `[1]`, "bad2": `{"a":`, "bad3": `{"a":"` + strings.Repeat("y", 260<<10) + `"}`} {
		dead, ok := post(id, payload).(room.MessageDead)
		if !ok || dead.Code != "ROOM-PAYLOAD" && dead.Code != "ROOM-SIZE" || len(dead.Message.Payload) > 0 {
			t.Errorf("%s became %+v", id, dead)
		}
	}
}
