package moot

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
)

// script returns an endpoint that follows a script.
func (o *testOwner) script(name, text string) []byte {
	o.t.Helper()
	file := filepath.Join(o.t.TempDir(), name+".jsonl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
	b, err := json.Marshal(map[string]any{"kind": "scripted", "script": file})
	if err != nil {
		o.t.Fatal(err)
	}
	return b
}

// TestSharedMessages runs a manager of one owner and a worker of another, through a relay.
// The worker gets its brief as a message, acknowledges it, claims its task and ends it,
// as a worker of the manager's own device does. The manager acknowledges the result.
func TestSharedMessages(t *testing.T) {
	relay := startRelay(t)
	ann, bob := newOwner(t, "ann", relay), newOwner(t, "bob", relay)
	pair(t, ann, bob)
	ann.allow("orchestrator", nil, bob)
	bob.wiring.Settings.Profiles = append(bob.wiring.Settings.Profiles, config.Profile{
		Name: "builder", Allow: true, PerMinute: 1000, Burst: 100, Devices: []string{ann.id},
		Endpoint: bob.script("builder", `{"pass":"built","ack":["*"],"claim":"t1","post":[{"message_id":"result","to":"lead","kind":"result_bundle","summary":"It is built.","payload":{"task":"t1","state":"completed"},"correlation_id":"brief","requires_ack":true}]}
`),
	})
	if _, err := bob.Share(t.Context(), ShareOptions{}); err != nil {
		t.Fatal(err)
	}
	lead := ann.script("lead", `{"pass":"given out","post":[{"message_id":"brief","to":"theirs","kind":"intent_brief","text":"Build it.","requires_ack":true,"payload":{"intent":{"objective":"build"},"tasks":[{"id":"t1","title":"Build it"}]}}]}
{"pass":"done","ack":["*"],"post":[{"message_id":"final","kind":"final_response","text":"It is built."}]}
`)
	r, err := ann.Create(t.Context(), Source{YAML: fmt.Sprintf(`version: room/v1
name: shared
objective: Build it.
participants:
  - {id: me, kind: human}
  - {id: lead, role: manager, mode: full_auto, endpoint: %s}
  - {id: theirs, role: worker, profile: orchestrator, mode: full_auto, endpoint: {kind: relay, peer: %s, profile: builder}}
policy: {use: roundrobin}
limits: {maxTurns: 6}
`, lead, bob.id)}, Options{Say: "begin"})
	if err != nil {
		t.Fatal(err)
	}
	for u, err := range ann.Watch(t.Context(), r.ID(), 0, room.Internal) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Event == nil {
			continue
		}
		switch b := u.Event.Body.(type) {
		case room.TurnFailed:
			t.Fatalf("a turn failed: %+v", b)
		case room.MessageDead:
			t.Errorf("a dead letter: %+v", b)
		}
	}
	v := r.View()
	if v.Phase != room.PhaseCompleted || v.Ending.Cause != room.CauseFinalResponse {
		t.Errorf("the room is %s: %+v", v.Phase, v.Ending)
	}
	if len(v.Tasks) != 1 || v.Tasks[0].Owner != "theirs" || v.Tasks[0].State != "completed" {
		t.Errorf("tasks %+v", v.Tasks)
	}
	mail := r.Mail()
	for _, id := range []string{"brief", "result"} {
		if all := mail.Deliveries.Of(id); len(all) != 1 || all[0].State != delivery.Acked {
			t.Errorf("%s: %+v", id, all)
		}
	}
}
