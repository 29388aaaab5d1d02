// Package processes tests the command as processes: rooms, shares, relays and
// watchers that talk to one another, that people type to, and that are killed.
package processes

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/folkmoot/moot/internal/cli"
)

func TestMain(m *testing.M) {
	// Under nohup SIGHUP is ignored, also in what the tests start. A signal with a
	// handler is not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	testscript.Main(m, map[string]func(){"moot": cli.Main})
}

var anyRoom = regexp.MustCompile(`\br_[0-9a-z]{26}\b`)

// sharedCache is a folder in which this test process compiles policies once.
func sharedCache(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("moot")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(filepath.Dir(filepath.Dir(path)), "cache")
}
