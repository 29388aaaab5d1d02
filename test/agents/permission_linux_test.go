package agents

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/inbox"
)

// TestPermission has the model order a tool call that makes a file. The file is
// there only if the owner of the agent has said yes: here, by a rule of room.yaml.
func TestPermission(t *testing.T) {
	for _, a := range chosen(t) {
		for _, allowed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/allowed=%t", a.name, allowed), func(t *testing.T) { runPermission(t, a, allowed) })
		}
	}
}

func runPermission(t *testing.T, a agent, allowed bool) {
	w := newTable(t, a)
	s := seating{turns: 1, opening: w.fill(a, a.order)}
	if allowed {
		s.allow = []string{a.rule}
	}
	r := w.start(s)
	asked := 0
	for {
		e, ok := r.next(t)
		if !ok {
			break
		}
		switch {
		case strings.HasPrefix(e.Type, "permission."):
			asked++
		case e.Type == "turn.failed":
			t.Errorf("the turn failed: %s: %s", e.Body.Code, e.Body.Error)
		}
	}
	r.end(t)
	if asked == 0 {
		t.Error("the room has no event of a permission")
	}
	if got := w.exists(a); got != allowed {
		t.Errorf("the file is there: %t; allowed: %t\n%s\n%s", got, allowed, &r.text, &r.stderr)
	}
	w.secretFree(map[string]string{"standard output": r.text.String(), "standard error": r.stderr.String()})
}

// TestInbox has the model order a tool call that makes a file. The request reaches a
// watch of the inbox in another terminal, is allowed from a third, and the tool runs.
func TestInbox(t *testing.T) {
	for _, a := range chosen(t) {
		t.Run(a.name, func(t *testing.T) { runInbox(t, a) })
	}
}

func runInbox(t *testing.T, a agent) {
	w := newTable(t, a)
	r := w.start(seating{turns: 1, opening: w.fill(a, a.order), attended: true})
	r.until(t, "the start of the agent", func(e event) bool { return e.Type == "turn.granted" })
	watch := w.moot("inbox", "--watch", "-o", "jsonl")
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = watch.Process.Kill()
		_ = watch.Wait()
	})
	r.until(t, "a permission request", func(e event) bool { return e.Type == "permission.asked" })
	x := firstItem(t, bufio.NewReader(out))
	t.Logf("%s was in the watch %v after the request; it writes %+v", x.ID, time.Since(x.Since).Round(time.Millisecond), x.Permission.Diffs)
	if w.exists(a) {
		t.Error("the file is there before the answer")
	}
	if text, err := w.moot("approve", x.ID).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r.until(t, "the answer", func(e event) bool { return e.Type == "permission.answered" })
	r.until(t, "the end of the turn", func(e event) bool { return e.Type == "message.posted" || e.Type == "turn.passed" })
	if !w.exists(a) {
		t.Errorf("the tool has not run\n%s", &r.text)
	}
	text, err := w.moot("reject", x.ID).CombinedOutput()
	if err == nil || !strings.Contains(string(text), "ROOM-ANSWERED") {
		t.Errorf("the second answer: %v\n%s", err, text)
	}
}

// firstItem reads the first item of a watch.
func firstItem(t *testing.T, out *bufio.Reader) inbox.Item {
	t.Helper()
	for {
		line, err := out.ReadBytes('\n')
		var c inbox.Change
		if err == nil {
			err = json.Unmarshal(line, &c)
		}
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if c.Item != nil {
			return *c.Item
		}
	}
}
