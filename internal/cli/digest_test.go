//go:build unix

package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies"
)

// A moot of which one byte of the embedded policies was changed runs nothing
// and names the digest that it has and the one that it was built with.
func TestFlippedPolicyByte(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(program, policies.Module())
	if at < 0 {
		t.Fatal("the program does not hold the module in one piece")
	}
	program[at+len(policies.Module())/2] ^= 1
	module := program[at : at+len(policies.Module())]
	sum := sha256.Sum256(module)
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
