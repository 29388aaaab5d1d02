package controlcmd

import (
	"testing"

	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/room/calls"
)

// TestChainText: people read the whole chain of calls, without control characters of
// names.
func TestChainText(t *testing.T) {
	x := inbox.Item{Agent: "auditor", Chain: []calls.Link{{Agent: "lead\x1b[2J", Room: "r1"}, {Agent: "dba", Room: "r2"}}}
	if got, want := chainText(x), "  lead called dba, dba called auditor (the first in room r1)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := chainText(inbox.Item{Agent: "ann"}); got != "" {
		t.Errorf("an agent that no other has called: %q", got)
	}
}
