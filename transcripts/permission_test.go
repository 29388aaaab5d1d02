package transcripts

import (
	"io"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// portable writes the events as lines of JSON.
func portable(w io.Writer, entries iter.Seq2[log.Entry, error], level Level) error {
	return Write(w, Header{Room: "r1", Level: level}, entries)
}

// TestPermissionsInExports: an internal export has the permission requests, their
// answers and the tool calls; one for other readers has only that requests were made.
func TestPermissionsInExports(t *testing.T) {
	b := eventBuilder{at: time.Unix(1_770_000_000, 0).UTC()}
	b.add(room.ActorHost, room.Opened{Spec: room.Spec{Room: "r1", Name: "talk"}})
	b.add(room.ActorHost, room.Joined{Participant: room.Participant{ID: "ann", Allow: []room.AllowRule{{Kind: "read", Paths: []string{"rulefile"}}}}})
	b.add("policy", room.TurnGranted{Turn: 1, Participant: "ann"})
	b.add("ann", room.PermissionAsked{Turn: 1, Participant: "ann", ID: "1.1", Permission: room.Permission{Kind: "execute", Command: "go test ./here", Argv: []string{"word"}, Paths: []string{"file.go"}, Title: "a title"}})
	b.add("me", room.PermissionAnswered{Turn: 1, Participant: "ann", ID: "1.1", Allowed: true, Always: true, By: "me", Reason: "a reason"})
	b.add("ann", room.PermissionAsked{Turn: 1, Participant: "ann", ID: "1.2", Permission: room.Permission{Kind: "read", Paths: []string{"file.go"}}})
	b.add(room.ActorRoom, room.PermissionAnswered{Turn: 1, Participant: "ann", ID: "1.2", By: "timeout", Reason: "a reason"})
	b.add("ann", room.MessagePosted{Turn: 1, Message: room.Message{From: "ann", To: room.Broadcast, Text: "done", Tools: []room.ToolCall{{Kind: "read", Title: "read the plan"}, {Kind: "search", Paths: []string{"a/folder"}}}, ToolsMore: 7}})
	secrets := []string{"go test ./here", "word", "file.go", "a title", "a reason", "read the plan", "a/folder"}
	for name, w := range map[string]writer{"md": WriteMarkdown, "html": WriteHTML, "jsonl": portable} {
		for _, level := range []Level{All, Internal, UserVisible} {
			out := export(t, w, b.events, level)
			for _, s := range secrets {
				if strings.Contains(out, s) != (level != UserVisible) {
					t.Errorf("%s at level %s contains %q: %t", name, level, s, level == UserVisible)
				}
			}
			if !strings.Contains(out, "1.1") {
				t.Errorf("%s at level %s has no request", name, level)
			}
			if level != All && strings.Contains(out, "rulefile") {
				t.Errorf("%s at level %s has the rules of the owner", name, level)
			}
		}
	}
	if out := export(t, WriteMarkdown, b.events, All); !strings.Contains(out, "also for the like") || !strings.Contains(out, "refused by timeout") || !strings.Contains(out, "read the plan; search a/folder; 7 more") {
		t.Errorf("the answers or the tool calls are missing:\n%s", out)
	}
}
