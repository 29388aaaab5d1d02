package cli

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
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
	testscript.Main(m, map[string]func(){"moot": Main, "wait-for-signals": waitForSignals, "fake-agent": fakeAgent})
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
			env.Setenv("MOOT_BIN", filepath.SplitList(env.Getenv("PATH"))[0]) // moot and no other program
			env.Setenv("OLLAMA_HOST", "127.0.0.1:1")                          // no server of this machine
			env.Setenv("XDG_CACHE_HOME", cacheHome())                         // policies are compiled once
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "ci" { // where nothing may be missing
				return os.Getenv("CI") == "true", nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":  exits,
			"ollama": ollama,
		},
	})
}

// ollama serves a list of models, in the form of Ollama, as long as the script
// runs. OLLAMA_HOST then has its address:
//
//	ollama [MODEL...]
func ollama(ts *testscript.TestScript, _ bool, args []string) {
	models := []map[string]string{}
	for _, name := range args {
		models = append(models, map[string]string{"name": name})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ts.Check(json.NewEncoder(w).Encode(map[string]any{"models": models}))
	}))
	ts.Defer(server.Close)
	ts.Setenv("OLLAMA_HOST", server.Listener.Addr().String())
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
