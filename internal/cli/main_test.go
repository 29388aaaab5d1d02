package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	// Under nohup SIGHUP is ignored, also in what the tests start. A signal with a
	// handler is not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	testscript.Main(m, map[string]func(){"moot": Main, "wait-for-signals": waitForSignals})
}

// update rewrites the goldens in testdata and the printed output in the
// documentation.
var update = os.Getenv("UPDATE_GOLDEN") != ""

// TestScripts runs moot as it is typed.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       update,
		RequireExplicitExec: false,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("NO_COLOR", "1")
			env.Setenv("XDG_CACHE_HOME", cacheHome()) // policies are compiled once
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "ci" { // where nothing may be missing
				return os.Getenv("CI") == "true", nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
		},
	})
}

// exits runs moot and wants an exit code:
//
//	exits 3 moot validate room.yaml
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	got := exitCodeOf(ts.Exec(args[1], args[2:]...))
	if want := args[0]; got != want {
		ts.Fatalf("%v: exit code %s, want %s", args[1:], got, want)
	}
}

// exitCodeOf returns a process's exit code from what running it returned.
func exitCodeOf(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "0"
	case errors.As(err, &exit):
		return strconv.Itoa(exit.ExitCode())
	}
	return err.Error()
}
