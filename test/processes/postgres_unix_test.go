//go:build unix

package processes

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room/log/postgres/pgtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

const postgresRoom = `version: room/v1
name: pg
policy: {use: round-robin}
limits: {maxTurns: 4}
participants:
  - {id: A, mode: full_auto, endpoint: {kind: scripted, lines: [one, three, five]}}
  - {id: B, mode: full_auto, endpoint: {kind: scripted, lines: [two, four, six]}}
`

// TestPostgres runs a room whose log is in PostgreSQL, uses it from another data folder, as
// from another machine, moves it into a data folder and back, and looks for the password in all that is printed or written.
func TestPostgres(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t)
	w := newWorkbench(t, map[string]string{"room.yaml": postgresRoom})
	here := w.env
	there := append(here[:len(here):len(here)], "MOOT_DATA="+filepath.Join(w.dir, "other"))
	var printed bytes.Buffer
	moot := func(env []string, code int, args ...string) string {
		t.Helper()
		cmd := exec.Command("moot", args...)
		cmd.Dir, cmd.Env = w.dir, append(env[:len(env):len(env)], "MOOT_LOG="+s.URL(""))
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // the code says it
		printed.Write(stdout.Bytes())
		printed.Write(stderr.Bytes())
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("moot %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, &stdout, &stderr)
		}
		return stdout.String() + stderr.String()
	}
	holds := func(text, want string) {
		t.Helper()
		if !strings.Contains(text, want) {
			t.Fatalf("%q is not in:\n%s", want, text)
		}
	}
	run := moot(here, 5, "run", "room.yaml", "-o", "jsonl")
	holds(run, `"four"`)
	holds(run, "kept in postgres:///moot\n")
	id := regexp.MustCompile(`\br_[0-9a-z]{26}\b`).FindString(run)
	if _, err := os.Stat(filepath.Join(w.data(), sqlite.FileName)); !os.IsNotExist(err) {
		t.Errorf("the data folder has a log: %v", err)
	}
	holds(moot(there, 0, "ls"), "pg")
	holds(moot(there, 0, "show", "pg"), "four")
	holds(moot(there, 0, "transcript", "verify", id), "13 events intact")
	file := filepath.Join(w.dir, "pg.jsonl")
	moot(there, 0, "transcript", "export", id, "-o", "jsonl", "--out", file)
	holds(moot(there, 3, "backup", filepath.Join(w.dir, "copy")), "LOG-REMOTE")
	holds(moot(there, 3, "restore", filepath.Join(w.dir, "copy")), "LOG-REMOTE")
	holds(moot(here, 0, "doctor", "--no-agents"), "1 room intact")
	moot(there, 0, "rm", id, "--yes")
	moot(there, 0, "transcript", "import", file)
	holds(moot(here, 0, "transcript", "verify", id), "13 events intact")
	moot(here, 0, "transcript", "import", file, "--log", "")
	if _, err := os.Stat(filepath.Join(w.data(), sqlite.FileName)); err != nil {
		t.Errorf("the room was not moved into the data folder: %v", err)
	}
	folder := filepath.Join(w.dir, "moved")
	before := moot(here, 0, "transcript", "verify", id) // with the hash of the last event
	holds(moot(here, 0, "log", "copy", s.URL(""), folder, "--move"), "postgres:///moot: 1 room removed")
	holds(moot(here, 0, "transcript", "verify", id, "--log", "", "--data", folder), before)
	holds(moot(there, 0, "log", "copy", folder, s.URL(""), "--move"), "1 room copied, 13 events")
	holds(moot(here, 0, "transcript", "verify", id), before)
	holds(moot(here, 0, "config", "show", "--origin"), "postgres:")
	s.Kill(t)
	holds(moot(here, 1, "ls"), "LOG-SERVER")

	err := filepath.Walk(w.dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			printed.Write(b)
			return err
		}
		return nil // a socket, or a file that is gone
	})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(printed.Bytes(), []byte(pgtest.Password)) {
		t.Error("the password was printed or written")
	}
}
