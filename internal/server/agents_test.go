package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/internal/api"
)

// TestAgents checks what the list of agents says of this machine and of the settings.
func TestAgents(t *testing.T) {
	dir := t.TempDir()
	settings := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(settings, []byte("profiles:\n  - name: reviewer\n    endpoint: {kind: scripted, lines: [yes]}\n  - name: orchestrator\n    allowSharedAgentCalls: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "codex-acp"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "codex-acp.exe"), nil, 0o700); err != nil { // of Windows
		t.Fatal(err)
	}
	t.Setenv("MOOT_CONFIG", settings)
	t.Setenv("PATH", bin)
	t.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	t.Setenv("OPENAI_API_KEY", "")
	x := newFixture(t, filepath.Join(dir, "data"))
	var got api.Agents
	status, _, body := x.send(http.MethodGet, "/api/agents", nil)
	if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s, %v", status, body, err)
	}
	for _, a := range got.Installed {
		found := a.Name == "codex"
		if a.Found != found || found != (a.Endpoint["agent"] == "codex") || !found && a.Fix == "" || a.Tools != (a.Permissions != "") {
			t.Errorf("%+v", a)
		}
	}
	if len(got.Installed) < 5 || got.Dir != dir || len(got.Peers) != 0 || len(got.Profiles) != 2 ||
		got.Profiles[0].Name != "reviewer" || got.Profiles[0].Kind != "scripted" || got.Profiles[1].Kind != "" {
		t.Errorf("%s", body)
	}
	if status, _, _ := x.send(http.MethodGet, "/api/agents", nil, "Test-Scope", "control"); status != http.StatusForbidden {
		t.Errorf("with the scope control: %d", status)
	}
}
