package server_test

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/plan"
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

// TestClaims claims tasks of a plan over HTTP: only one seat gets each, and the others
// are told the owner.
func TestClaims(t *testing.T) {
	r, c := hostedRoom(t, lead+"  - {id: ops, role: \"specialist:ops\", mode: full_auto, endpoint: {kind: session}}\n", server.LocalUser)
	path := "/api/rooms/" + r.ID() + "/seats/"
	brief := api.Post{To: "dba", Kind: "intent_brief", Text: "Migrate.", Payload: []byte(`{"tasks":[{"id":"t1","title":"add the column"},{"id":"t2","title":"fill it","after":["t1"]}]}`)}
	if err := c.Call(t.Context(), http.MethodPost, path+"lead/post", brief, new(api.Receipt)); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		seat, task, code string
		want             api.Task
	}{
		{"dba", "t1", "", api.Task{ID: "t1", Title: "add the column", Owner: "dba", State: plan.Working}},
		{"dba", "t1", "", api.Task{ID: "t1", Title: "add the column", Owner: "dba", State: plan.Working}},
		{"ops", "t1", "ROOM-CLAIMED", api.Task{}},
		{"ops", "t2", "", api.Task{ID: "t2", Title: "fill it", Owner: "ops", State: plan.Submitted, After: []string{"t1"}}},
		{"dba", "t3", "ROOM-TASK", api.Task{}},
		{"lead", "t2", "ROOM-DENIED", api.Task{}},
		{"me", "t2", "ROOM-DENIED", api.Task{}},
		{"nobody", "t2", "ROOM-DENIED", api.Task{}},
	} {
		var got api.Task
		err := c.Call(t.Context(), http.MethodPost, path+x.seat+"/claims", api.Claim{Task: x.task}, &got)
		if codeOf(err) != x.code || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s claims %s: %v, %+v", x.seat, x.task, err, got)
		}
	}
	owners := map[string]string{}
	for _, task := range r.View().Tasks {
		owners[task.ID] = task.Owner
	}
	if want := map[string]string{"t1": "dba", "t2": "ops"}; !reflect.DeepEqual(owners, want) {
		t.Errorf("the owners are %v", owners)
	}
}

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
	var told api.Receipt
	if code := call(http.MethodPost, "/seats/lead/post", api.Post{Text: "Work has begun."}, &told); code != "" || told.State != delivery.Posted || told.ID == "" || told.Seq == 0 {
		t.Errorf("a message to everybody: %s %+v", code, told)
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
