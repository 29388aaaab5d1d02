//go:build unix

package processes

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies"
)

// TestFlippedPolicyByte changes one byte of the embedded policies: moot then
// runs nothing and names the digest that it has and the one that it was built
// with.
func TestFlippedPolicyByte(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := os.ReadFile("../../policies/builtins.wasm.gz")
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(program, embedded)
	if at < 0 {
		t.Fatal("the program does not hold the embedded policies in one piece")
	}
	program[at+len(embedded)/2] ^= 1
	sum := sha256.Sum256(unzipped(program[at : at+len(embedded)]))
	moot := filepath.Join(t.TempDir(), "moot") // the test binary under this name is moot
	if err := os.WriteFile(moot, program, 0o700); err != nil {
		t.Fatal(err)
	}
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": shellAgent})
	for _, args := range [][]string{{"demo", "--headless"}, {"run", "--headless"}, {"policy", "ls"}} {
		cmd := exec.Command(moot, args...)
		cmd.Dir, cmd.Env = w.dir, w.env
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%v runs all the same:\n%s", args, out)
		}
		for _, want := range []string{policies.CodeDigest, hex.EncodeToString(sum[:]), policies.Digest(), "fix:"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%v does not name %s:\n%s", args, want, out)
			}
		}
	}
	if _, err := os.Stat(w.data()); err == nil {
		t.Error("a room was opened")
	}
}

// unzipped returns what the bytes decompress to, nil when they are damaged.
func unzipped(b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	out := make([]byte, len(policies.Module()))
	if _, err := io.ReadFull(z, out); err != nil {
		return nil
	}
	return out
}
