package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// teamRoom has a manager that the room drives, and two sessions that work for it.
const teamRoom = `version: room/v1
name: team
objective: Migrate the table.
policy: {use: inbox}
participants:
  - {id: me, kind: human}
  - {id: lead, role: manager, mode: full_auto, endpoint: {kind: scripted, lines: [hello]}}
  - {id: dba, role: worker, mode: full_auto, calls: allow, endpoint: {kind: session}}
  - {id: ops, role: "specialist:ops", mode: full_auto, endpoint: {kind: session}}
`

// TestMessages has agents work for each other with the tools alone: the manager posts a
// brief with tasks, the workers pull, acknowledge and claim, and report.
func TestMessages(t *testing.T) {
	for _, transport := range transports {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(transport+" "+revision, func(t *testing.T) {
				x := hostOf(t, teamRoom)
				lead := x.connect(t, transport, revision, x.token(t, "lead"))
				dba := x.connect(t, transport, revision, x.token(t, "dba"))
				ops := x.connect(t, transport, revision, x.token(t, "ops"))
				brief := map[string]any{
					"to_agent": "dba", "kind": "intent_brief", "text": "Add the column.", "summary": "add it", "message_id": "b1", "requires_ack": true, "priority": "high",
					"payload": map[string]any{"tasks": []any{map[string]any{"id": "t1", "title": "add the column"}}},
				}
				for range 2 { // the same id again posts nothing
					if got, text := use(t, lead, "post_message", brief); got["state"] != "queued" || got["message_id"] != "b1" {
						t.Fatalf("%v\n%s", got, text)
					}
				}
				for range 2 { // pulling changes nothing
					got, text := use(t, dba, "pull_messages", map[string]any{"max_items": 5})
					list, _ := json.Marshal(got["messages"])
					for _, part := range []string{`"from_agent":"lead"`, `"kind":"intent_brief"`, `"text":"Add the column."`, `"summary":"add it"`, `"state":"queued"`, `"t1"`} {
						if got["waiting"] != 1.0 || !strings.Contains(string(list), part) {
							t.Fatalf("%s is not in %s\n%s", part, list, text)
						}
					}
				}
				for range 2 {
					if got, text := use(t, dba, "ack_message", map[string]any{"message_id": "b1"}); got["state"] != "acked" {
						t.Fatal(text)
					}
				}
				if got, text := use(t, dba, "pull_messages", nil); got["waiting"] != 0.0 {
					t.Errorf("after the acknowledgement: %s", text)
				}
				if got, text := use(t, ops, "claim_task", map[string]any{"task": "t1"}); got["owner"] != "ops" || got["state"] != "working" {
					t.Errorf("the claim: %s", text)
				}
				result := map[string]any{"to_agent": "manager", "kind": "result_bundle", "text": "It is there.", "correlation_id": "b1", "payload": map[string]any{"task": "t1"}}
				if got, text := use(t, ops, "post_message", result); got["state"] != "queued" {
					t.Errorf("the result: %s", text)
				}
				for _, c := range []struct {
					tool string
					args map[string]any
					want []string
				}{
					{"claim_task", map[string]any{"task": "t1"}, []string{"[ROOM-CLAIMED]", "of ops", "fix: "}},
					{"post_message", map[string]any{"to_agent": "lead", "kind": "decision", "text": "I decide."}, []string{"[ROOM-KIND]", "fix: "}},
					{"post_message", map[string]any{"to_agent": "lead", "kind": "blocker", "text": "x", "message_id": "b1"}, []string{"[ROOM-ID-TAKEN]", "fix: "}},
					{"ack_message", map[string]any{"message_id": "none"}, []string{"[ROOM-ACK]", "fix: "}},
				} {
					if got, text := use(t, dba, c.tool, c.args); got != nil || slices.ContainsFunc(c.want, func(s string) bool { return !strings.Contains(text, s) }) {
						t.Errorf("%s %v: %s", c.tool, c.args, text)
					}
				}
				x.mustHavePlan(t, "t1 completed of ops")
			})
		}
	}
}

// mustHavePlan checks the tasks of the room.
func (x *host) mustHavePlan(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, task := range x.room.ViewAt(room.Internal).Tasks {
		got = append(got, fmt.Sprintf("%s %s of %s", task.ID, task.State, task.Owner))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the tasks are %v, want %v", got, want)
	}
}
