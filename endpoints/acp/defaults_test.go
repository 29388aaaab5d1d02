package acp

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestDefaultSettings: the file of default settings is there from New to Close, and
// an owner who names another one gets none.
func TestDefaultSettings(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c := Config{Preset: Preset{Name: "qwen", DefaultsVar: "AGENT_DEFAULTS", Defaults: `{"a":1}`, Command: []string{"agent"}}}
	files := func(e *Endpoint) (names []string) {
		for _, kv := range e.cfg.Env {
			if v, ok := strings.CutPrefix(kv, "AGENT_DEFAULTS="); ok {
				names = append(names, v)
			}
		}
		return names
	}
	e := New(c)
	named := files(e)
	if len(named) != 1 {
		t.Fatalf("the files are %q, want one", named)
	}
	if b, err := os.ReadFile(named[0]); err != nil || string(b) != `{"a":1}` {
		t.Errorf("the file has %q, %v", b, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(named[0]); !os.IsNotExist(err) {
		t.Errorf("the file is left: %v", err)
	}

	c.Env = []string{"AGENT_DEFAULTS=own.json"}
	if named := files(New(c)); !slices.Equal(named, []string{"own.json"}) {
		t.Errorf("the owner's file is replaced by %q", named)
	}
	c.Env = nil
	t.Setenv("TMPDIR", os.DevNull+"/none")
	e = New(c)
	if named := files(e); named != nil || e.Close() != nil {
		t.Errorf("got %q without a folder for it", named)
	}
}
