package transcripts

import (
	"testing"

	"github.com/folkmoot/moot/room"
)

// TestHandOffNote checks what a timeline says of a hand-off.
func TestHandOffNote(t *testing.T) {
	for want, b := range map[string]room.HandoffAsked{
		"a hands off to b: locks":        {From: "a", To: "b", Reason: "locks"},
		"a may not hand off: b is muted": {From: "a", To: "b", Reason: "locks", Refused: "b is muted"},
	} {
		var it item
		if !it.describe(b, nil) || it.Note != want {
			t.Errorf("%q, want %q", it.Note, want)
		}
	}
}
