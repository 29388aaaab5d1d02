package preset

import (
	"slices"
	"strings"
	"testing"
)

// TestNotEnforced: what a preset does not ask for is not enforced, and an agent of which
// nothing is known enforces nothing.
func TestNotEnforced(t *testing.T) {
	withheld := []string{"read", "edit", "execute"}
	for _, c := range []struct{ kind, name, want string }{
		{"acp", "claude", "read"},
		{"acp", "codex", "read execute"},
		{"acp", "", "read edit execute"},
		{"acp", "other", "read edit execute"},
		{"ndjson", "", "read edit execute"},
		{"session", "", "read edit execute"},
		{"openai", "", ""},
		{"scripted", "", ""},
	} {
		got, why := NotEnforced(c.kind, c.name, withheld)
		if strings.Join(got, " ") != c.want || (why == "") != (c.want == "") {
			t.Errorf("%s %s: %q, %q, want %q", c.kind, c.name, got, why, c.want)
		}
	}
	if got, why := NotEnforced("acp", "claude", []string{"edit"}); got != nil || why != "" {
		t.Errorf("claude asks before it edits: %q, %q", got, why)
	}
	if !slices.Equal(withheld, []string{"read", "edit", "execute"}) {
		t.Error("the argument has changed")
	}
	for _, p := range All() {
		if p.Program() != "" && (!slices.Contains(p.Free, "read") || slices.Contains(p.Free, "edit")) {
			t.Errorf("%s uses %q without asking", p.Name, p.Free)
		}
	}
}

// TestNotEnforcedAt reads the kind and the agent of an endpoint as room.yaml has it.
func TestNotEnforcedAt(t *testing.T) {
	for at, want := range map[string]string{
		`{"kind": "acp", "agent": "claude"}`: "read", `{"kind": "scripted"}`: "", `{"kind": "acp", "command": ["x"]}`: "read edit", `[]`: "", ``: "",
	} {
		if got, _ := NotEnforcedAt([]byte(at), []string{"read", "edit"}); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
	if got, why := NotEnforcedAt([]byte(`{"kind": "acp"}`), nil); got != nil || why != "" {
		t.Errorf("nothing is withheld: %q, %q", got, why)
	}
}
