//go:build unix

package processes

import (
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
)

// handOffRoom has an agent that hands off with its answers, to another one each time.
const handOffRoom = `version: room/v1
participants:
  - {id: A, mode: full_auto, handoffTo: [B, C], endpoint: {kind: ndjson, command: [sh, ./hands-off.sh]}}
  - {id: B, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}
  - {id: C, mode: full_auto, cooldown: 100, endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}
  - {id: D, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}
  - {id: me, kind: human}
policy: {use: roundrobin}
limits: {maxTurns: 17}
`

// handsOffAgent names the participants in turn.
const handsOffAgent = `set -- B A D me ghost C B
while read -r line; do
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"over to %s","handoff":{"to":"%s","reason":"why"}}\n' "$id" "$1" "$1"
  shift
done
`

// TestHandOffs runs an agent of frames that hands off to each forbidden kind of
// participant. The reason is in the log, its answer is posted, and the room goes on.
func TestHandOffs(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": handOffRoom, "agent.sh": shellAgent, "hands-off.sh": handsOffAgent})
	r := w.start("run", "--headless", "-o", "jsonl")
	var asked []room.HandoffAsked
	said := 0
	for r.lines.Scan() {
		e, err := room.UnmarshalEvent(r.lines.Bytes())
		if err != nil {
			continue // the summary
		}
		switch b := e.Body.(type) {
		case room.HandoffAsked:
			asked = append(asked, b)
		case room.MessagePosted:
			if b.Message.From == "A" {
				said++
			}
		case room.TurnFailed:
			t.Errorf("%s", r.lines.Text())
		}
	}
	if code := r.end(); code != app.ExitLimit {
		t.Fatalf("exit code %d\n%s", code, r.stderr)
	}
	want := []string{"", "A cannot hand off to itself", "A may hand off to B, C only", "A may hand off to B, C only", `"ghost" is no participant of the room`, "C is in its cooldown"}
	for i, why := range want {
		if i >= len(asked) || asked[i].Refused != why || asked[i].Reason != "why" {
			t.Errorf("hand-offs %+v, want %d: %q", asked, i, why)
			break
		}
	}
	if said < len(want) {
		t.Errorf("%d answers with hand-offs were posted", said)
	}
}
