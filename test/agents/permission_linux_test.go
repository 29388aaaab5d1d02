package agents

import (
	"fmt"
	"strings"
	"testing"
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
