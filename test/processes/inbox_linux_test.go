package processes

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
)

// TestTerminalInbox: a person answers what waits in another room, on the screen of `moot
// run` and of `moot attach`, and is told who was first.
func TestTerminalInbox(t *testing.T) {
	billing := strings.NewReplacer("name: review", "name: billing", `"one"`, `"the invoice is wrong"`).Replace(ptyRoom)
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom, "billing.yaml": billing})
	review := openTerminal(t, w, 120, "run")
	review.sees("DRAFT of A waits for you", "ROSTER  policy roundrobin", "► A", "waiting for approval", "inbox 1")
	run := openTerminalAs(t, w, 80, []string{"TERM=xterm-256color", "NO_COLOR=1"}, "run", "billing.yaml")
	run.sees("DRAFT of A waits for you", "inbox 2")
	if strings.Contains(run.screen.String(), "ROSTER") {
		t.Errorf("a screen of 80 columns shows the roster:\n%s", run.screen)
	}
	run.press(keyInbox)
	run.sees("INBOX  2 wait for you", "review", "this room", "│ the invoice is wrong", "2 of 2")
	run.press(keyUp)
	run.sees("room review · waits for approval (manual)", "│ one", "1 of 2")
	run.press(keyEdit)
	run.sees("edit draft> one")
	run.press(keyErase + "one and a half\r")
	run.sees("edited by me (socket)", "│ one and a half")
	run.press(keyApprove)
	run.sees("approved by me (socket)")
	review.sees("edited by you (socket) · approved by you", "│ three")

	attached := openTerminal(t, w, 80, "attach", "review")
	attached.sees("DRAFT of A waits for you", "inbox 2")
	attached.press(keyInbox)
	attached.sees("INBOX  2 wait for you", "│ three")
	attached.press(keyUp)
	attached.sees("room billing", "│ the invoice is wrong")
	attached.press(keyReject)
	attached.sees("reject, because>")
	attached.press("it is right\r")
	attached.sees("rejected by me (socket)")
	attached.press(keyApprove)
	attached.sees("! nothing was answered: rejected by me (socket)")
	run.sees("rejected by you (socket)")
	attached.press(keyDown)
	attached.sees("│ three")
	review.press(keyApprove)
	review.sees("│ five")
	attached.sees("approved by you")
	attached.press(keyLeave + keyLeave)
	if code := attached.end(); code != app.ExitOK {
		t.Errorf("attach: exit code %d", code)
	}
	run.press("\x1b")
	run.sees("rejected by you (socket): it is right")
	run.press("/stop\r")
	if code := run.end(); code != app.ExitOK {
		t.Errorf("run: exit code %d", code)
	}
	review.sees("inbox 1")
	review.press("/stop\r")
	if code := review.end(); code != app.ExitOK {
		t.Errorf("run: exit code %d", code)
	}
	for _, x := range []*terminal{review, run, attached} {
		if unknown := x.screen.Unknown(); unknown != nil {
			t.Errorf("a terminal was sent %q", unknown)
		}
	}
}
