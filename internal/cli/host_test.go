package cli

import (
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/folkmoot/moot/test/agents/model"
)

// TestHostScripts runs rooms as they are run from a shell, with real agents.
func TestHostScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cache := sharedCache(t) // compiling the policies once is enough
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/host",
		UpdateScripts: update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("MOOT_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("MOOT_CACHE", cache)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("CI", os.Getenv("CI"))
			env.Setenv("ROOT", root)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "ci": // where nothing may be missing
				return os.Getenv("CI") == "true", nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: withSpawn(map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":  exits,
			"roomid": roomID,
			"goeson": goesOn,
			"model":  startModel,
			"a2a":    startA2A,
		}),
	})
}

var anyRoom = regexp.MustCompile(`\br_[0-9a-z]{26}\b`)

// roomID puts the room that the last command named on stderr into $ROOM.
func roomID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: roomid")
	}
	id := anyRoom.FindString(ts.ReadFile("stderr"))
	if id == "" {
		ts.Fatalf("stderr names no room")
	}
	ts.Setenv("ROOM", id)
}

// startModel starts a fake model server and puts the URL of its chat completions API
// into $MODEL_URL. It answers by the directives in the prompt; see model.Script. The
// file calls.jsonl gets a line for each call.
func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: model")
	}
	calls, err := os.Create(ts.MkAbs("calls.jsonl"))
	ts.Check(err)
	server := httptest.NewServer(model.New(model.Config{Log: calls}))
	ts.Defer(func() {
		server.Close()
		_ = calls.Close() // the script has read what it needs
	})
	ts.Setenv("MODEL_URL", server.URL+"/v1")
}

var (
	advice   = regexp.MustCompile(`(?m)^go on with: (.+)$`)
	progress = regexp.MustCompile(`(?m)^(DRAFT )?#[0-9]+ |^── round declined`)
)

// goesOn runs the command that the summary of the last room has printed, as it
// was printed and without the variables that name folders. The room has to go on: a
// turn or a round follows. It ends with one of the exit codes that are wanted:
//
//	goeson 0|5
func goesOn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: goeson CODE")
	}
	said := advice.FindStringSubmatch(ts.ReadFile("stdout"))
	if said == nil {
		ts.Fatalf("the last command printed no advice")
	}
	if got := exitCodeOf(ts.Exec("sh", "-c", "unset MOOT_DATA; "+said[1])); !slices.Contains(strings.Split(args[0], "|"), got) {
		ts.Fatalf("%s: exit code %s, want %s", said[1], got, args[0])
	}
	if !progress.MatchString(ts.ReadFile("stdout")) {
		ts.Fatalf("%s: the room did not go on", said[1])
	}
}

// sharedCache is a folder of compiled policies next to the moot under test. It
// is removed together with it.
func sharedCache(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("moot")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(filepath.Dir(filepath.Dir(path)), "cache")
}
