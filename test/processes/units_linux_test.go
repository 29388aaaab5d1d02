package processes

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	unitBlock   = regexp.MustCompile("(?s)```ini\n# (\\S+\\.service)\n(.*?)\n```")
	unitProgram = regexp.MustCompile(`/usr/local/bin/\w+`)
)

// TestUnits has systemd check the unit of the example and those of docs/hosting.md, with a
// program that is here.
func TestUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("no systemd here")
	}
	example, err := os.ReadFile("../../examples/cluster/moot.service")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/hosting.md")
	if err != nil {
		t.Fatal(err)
	}
	verifyUnit(t, "/etc/systemd/system/moot.service", example)
	blocks := unitBlock.FindAllSubmatch(page, -1)
	if len(blocks) < 3 {
		t.Errorf("only %d units found on the page", len(blocks))
	}
	for _, b := range blocks {
		verifyUnit(t, string(b[1]), b[2])
	}
}

// verifyUnit checks a unit for the place where it is to be, that of the system's manager or
// of a user's.
func verifyUnit(t *testing.T, place string, text []byte) {
	t.Helper()
	program, err := exec.LookPath("moot")
	if err != nil {
		t.Fatal(err)
	}
	if !unitProgram.Match(text) {
		t.Errorf("%s starts no program in /usr/local/bin", place)
	}
	unit := filepath.Join(t.TempDir(), filepath.Base(place))
	if err := os.WriteFile(unit, unitProgram.ReplaceAll(text, []byte(program)), 0o600); err != nil {
		t.Fatal(err)
	}
	scope := "--system"
	if filepath.Base(filepath.Dir(place)) == "user" {
		scope = "--user"
	}
	cmd := exec.Command("systemd-analyze", scope, "verify", unit)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte(filepath.Base(place))) {
		t.Errorf("%s: %v\n%s", place, err, out)
	}
}
