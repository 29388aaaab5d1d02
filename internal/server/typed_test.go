package server_test

import (
	"net/http"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/room/delivery"
)

const lead = `version: room/v1
name: lead
objective: Migrate the table.
policy: {use: inbox}
participants:
  - {id: me, kind: human}
  - {id: lead, role: manager, mode: full_auto, endpoint: {kind: session}}
  - {id: dba, role: worker, mode: full_auto, endpoint: {kind: session}}
`

// TestTypedMessages posts, pulls and acknowledges messages of seats over HTTP: each
// answer says what has become of the message, a repetition posts nothing, and what is
// not allowed is refused and becomes a dead letter.
func TestTypedMessages(t *testing.T) {
	r, c := hostedRoom(t, lead, server.LocalUser)
	path := "/api/rooms/" + r.ID()
	call := func(method, at string, body, into any) string {
		t.Helper()
		err := c.Call(t.Context(), method, path+at, body, into)
		code := codeOf(err)
		if err != nil && code == "" {
			t.Fatal(err)
		}
		return code
	}
	brief := api.Post{ID: "b1", To: "worker", Kind: "intent_brief", Text: "Add the column.", RequiresAck: true}
	for range 2 {
		var receipt api.Receipt
		if code := call(http.MethodPost, "/seats/lead/post", brief, &receipt); code != "" || receipt.State != delivery.Queued || receipt.ID != "b1" {
			t.Fatalf("%s %+v", code, receipt)
		}
	}
	other := brief
	other.Text = "Drop the table."
	if code := call(http.MethodPost, "/seats/lead/post", other, new(api.Receipt)); code != "ROOM-ID-TAKEN" {
		t.Errorf("another body: %s", code)
	}
	if code := call(http.MethodPost, "/seats/dba/post", api.Post{To: "lead", Kind: "decision", Text: "I decide."}, new(api.Receipt)); code != "ROOM-KIND" {
		t.Errorf("a decision of a worker: %s", code)
	}
	var inbox api.Inbox
	for range 2 { // pulling changes nothing
		if code := call(http.MethodGet, "/seats/dba/pull", nil, &inbox); code != "" || len(inbox.Messages) != 1 || inbox.Messages[0].Text != "Add the column." || inbox.Messages[0].State != delivery.Queued {
			t.Fatalf("%s %+v", code, inbox)
		}
	}
	if code := call(http.MethodPost, "/seats/lead/ack", api.Ack{ID: "b1"}, new(api.Receipt)); code != "ROOM-ACK" {
		t.Errorf("the acknowledgement of another seat: %s", code)
	}
	for range 2 {
		var receipt api.Receipt
		if code := call(http.MethodPost, "/seats/dba/ack", api.Ack{ID: "b1"}, &receipt); code != "" || receipt.State != delivery.Acked {
			t.Errorf("%s %+v", code, receipt)
		}
	}
	inbox = api.Inbox{}
	if code := call(http.MethodGet, "/seats/dba/pull", nil, &inbox); code != "" || len(inbox.Messages) != 0 {
		t.Errorf("%s %+v", code, inbox)
	}
	var all api.Deliveries
	if code := call(http.MethodGet, "/deliveries?to=dba", nil, &all); code != "" || len(all.Deliveries) != 1 || all.Deliveries[0].State != delivery.Acked {
		t.Errorf("%s %+v", code, all)
	}
	var dead api.DeadLetters
	if code := call(http.MethodGet, "/dead-letters", nil, &dead); code != "" || len(dead.DeadLetters) != 2 || dead.DeadLetters[1].Code != "ROOM-KIND" {
		t.Errorf("%s %+v", code, dead)
	}
}
