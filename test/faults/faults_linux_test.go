// Package faults runs the command under faults of disks, clocks, memory and other
// processes. The scripts next to it do it, and can be run by hand: all.sh.
package faults

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/folkmoot/moot/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"moot": cli.Main})
}

// TestFaultScripts runs all.sh --short. Each script prints one line: ok, skip with what the
// machine lacks, or FAIL.
func TestFaultScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	for _, tool := range []string{"bash", "strace"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skipf("the scripts need %s", tool)
		}
	}
	moot, err := exec.LookPath("moot")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", "./all.sh", "--short")
	c.Env = append(os.Environ(), "MOOT="+moot)
	var notes strings.Builder
	c.Stderr = &notes
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		t.Log(lines.Text())
		word, _, _ := strings.Cut(lines.Text(), " ")
		if word == "ok" || word == "skip" {
			done++
		}
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, notes.String())
	}
	scripts, err := filepath.Glob("*.sh")
	if err != nil || done != len(scripts)-2 { // all of them but all.sh and lib.sh
		t.Errorf("%d of %d scripts have run: %v", done, len(scripts)-2, err)
	}
}
