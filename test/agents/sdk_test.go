package agents

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSDK checks moot's client of the Agent Client Protocol against the official
// TypeScript SDK.
func TestSDK(t *testing.T) {
	agent := sdkAgent(t)
	cmd := exec.Command("moot", "endpoint", "check", "--kind", "acp", "-o", "jsonl", "--", "node", agent)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var r struct {
			Name, Seen   string
			OK, Optional bool
		}
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if !r.OK && !r.Optional {
			t.Errorf("%s: %s", r.Name, r.Seen)
		}
	}
}

// sdkAgent returns the path of the agent, and skips the test without its SDK.
func sdkAgent(t *testing.T) string {
	t.Helper()
	agent, err := filepath.Abs("sdk/echo-agent.mjs")
	if err != nil {
		t.Fatal(err)
	}
	_, missing := os.Stat("sdk/node_modules/@agentclientprotocol/sdk/package.json")
	if missing == nil {
		_, missing = exec.LookPath("node")
	}
	if missing != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v; fix: install Node.js, and run npm ci --prefix test/agents/sdk", missing)
		}
		t.Skipf("%v; fix: install Node.js, and run npm ci --prefix test/agents/sdk", missing)
	}
	return agent
}
