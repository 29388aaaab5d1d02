package mcp

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/room"
)

// handOffRoom has a session that may hand off to some.
const handOffRoom = `version: room/v1
name: hand-offs
objective: Migrate the table.
policy: {use: roundrobin}
participants:
  - {id: me, kind: human}
  - {id: ann, mode: full_auto, endpoint: {kind: session}, handoffTo: [dba, ops, tea, me]}
  - {id: dba, mode: full_auto, endpoint: {kind: scripted, lines: [hello]}}
  - {id: ops, mode: full_auto, endpoint: {kind: session}}
  - {id: tea, mode: full_auto, endpoint: {kind: scripted, lines: [hello]}}
  - {id: zoe, mode: full_auto, endpoint: {kind: scripted, lines: [hello]}}
`

// TestHandOffs names each forbidden kind of participant with the tool hand_off. The agent
// is told why, goes on, and hands off to one that is allowed.
func TestHandOffs(t *testing.T) {
	x := hostOf(t, handOffRoom)
	cs := x.connect(t, "http", "2025-11-25", x.token(t, "ann"))
	turn, text := use(t, cs, "await_turn", nil)
	if turn["turn"] != true {
		t.Fatal(text)
	}
	if _, err := x.room.Do(t.Context(), moot.Command{Actor: room.ActorHost, Do: room.SetStanding{Participant: "tea", Standing: room.Muted}}); err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]string{
		"ghost": "is no participant of the room", "ann": "ann cannot hand off to itself", "zoe": "ann may hand off to dba, ops, tea, me only",
		"tea": "tea is muted", "ops": "the session of ops is away",
	} {
		if got, text := use(t, cs, "hand_off", map[string]any{"to": to, "reason": "why"}); got["accepted"] == true || !strings.Contains(text, want) {
			t.Errorf("to %s: %v, want %s\n%s", to, got, want, text)
		}
	}
	if got, text := use(t, cs, "hand_off", map[string]any{"to": "dba", "reason": "locks are hers"}); got["accepted"] != true {
		t.Errorf("%v\n%s", got, text)
	}
	if done, text := use(t, cs, "answer_turn", map[string]any{"request": turn["request"], "text": "dba goes on."}); done["outcome"] != "posted" {
		t.Errorf("%v\n%s", done, text)
	}
}
