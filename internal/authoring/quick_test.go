package authoring

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestQuick: what Go wrote is made quicker, and stays as it is where that would
// make it too large.
func TestQuick(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-w", "-o", file, "../../policies/kits/go")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	module, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	straight, err := quick(module, 8<<20)
	if err != nil || len(straight) <= len(module) {
		t.Fatalf("%d bytes became %d: %v", len(module), len(straight), err)
	}
	if same, err := quick(module, len(straight)-1); err != nil || !bytes.Equal(same, module) {
		t.Errorf("one that would be too large became one of %d bytes: %v", len(same), err)
	}
}
