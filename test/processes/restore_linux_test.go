package processes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestKillRestore kills restores in each system call that gives a file another name or
// removes one. The rooms of before are those of a killed process, whose write-ahead log
// is not empty. They are whole in one folder at any time. The backup has a room that
// has lost its end, which never seems intact.
func TestKillRestore(t *testing.T) {
	strace := findStrace(t)
	w := newWorkbench(t, nil)
	backup, killed := filepath.Join(w.dir, "backup"), filepath.Join(w.dir, "killed")
	shortLog(t, backup)
	killedLog(t, killed)
	kills, survived := 0, 0
	for n := 1; survived < 3; n++ { // calls are counted by thread, so one survivor does not say that there are no more
		if err := errors.Join(os.RemoveAll(w.data()), os.CopyFS(w.data(), os.DirFS(killed))); err != nil {
			t.Fatal(err)
		}
		const calls = "?rename,?renameat,?renameat2,?link,?linkat,?unlink,?unlinkat"
		r := strace(w, []string{"-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", calls, n)}, "restore", backup, "--replace")
		if r.end() == -1 {
			kills++
			survived = 0
		} else {
			survived++
		}
		honest(t, w.data(), n)
		if r := w.start("restore", backup, "--replace"); r.end() == -1 {
			t.Fatal(r.stderr)
		}
		if _, err := rooms(t, w.data()); !errors.Is(err, log.ErrShort) {
			t.Errorf("kill %d: the rooms of the backup were not restored: %v", n, err)
		}
		if !wholeBefore(t, w.data()) {
			t.Errorf("kill %d and a second restore: the rooms of before are in no folder", n)
		}
	}
	if kills < 5 {
		t.Errorf("only %d kills", kills)
	}
	t.Logf("%d kills", kills)
	if r := w.start("restore", killed, "--replace"); r.end() != 0 {
		t.Fatal(r.stderr)
	}
	if infos, err := rooms(t, w.data()); err != nil || len(infos) != 1 || infos[0].Last != 40 {
		t.Errorf("restored with its write-ahead log: %+v, %v", infos, err)
	}
}

// TestRunDuringRestore stops a restore in the middle and starts a room meanwhile. The
// room is refused, and runs after the restore.
func TestRunDuringRestore(t *testing.T) {
	strace := findStrace(t)
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": shellAgent})
	backup := filepath.Join(w.dir, "backup")
	for _, args := range [][]string{{"run", "room.yaml", "--headless", "--max-turns", "2"}, {"backup", backup}} {
		if r := w.start(args...); r.end() == -1 || r.stderr.Len() == 0 && args[0] == "run" {
			t.Fatal(r.stderr)
		}
	}
	heads := filepath.Join(w.data(), sqlite.HeadsName) // it gets another name once
	restore := strace(w, []string{"-P", heads, "-e", "trace=?link,?linkat", "-e", "inject=?link,?linkat:signal=SIGSTOP"}, "restore", backup, "--replace")
	pid := w.stopped()
	t.Cleanup(func() {
		if restore.ProcessState == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			restore.end()
		}
	})
	again := w.start("run", "room.yaml", "--headless", "--max-turns", "2")
	if code := again.end(); code != 1 || !strings.Contains(again.stderr.String(), "LOG-LOCKED") {
		t.Errorf("a room was run during a restore: exit code %d\n%s", code, again.stderr)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if code := restore.end(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, restore.stderr)
	}
	after := w.start("run", "room.yaml", "--headless", "--max-turns", "2")
	if after.end(); strings.Contains(after.stderr.String(), "LOG-LOCKED") {
		t.Error(after.stderr)
	}
	if infos, err := rooms(t, w.data()); err != nil || len(infos) != 2 {
		t.Errorf("%d rooms, %v", len(infos), err)
	}
}

// findStrace returns a function that starts moot under strace with some options.
func findStrace(t *testing.T) func(w *workbench, options []string, args ...string) *running {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(path, "-qq", "-o", "/dev/null", "true").Run()
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("strace is needed to stop a process in a system call")
	}
	return func(w *workbench, options []string, args ...string) *running {
		line := slices.Concat([]string{"-f", "-qq", "-o", w.trace()}, options, []string{"moot"}, args)
		cmd := exec.Command(path, line...)
		cmd.Dir, cmd.Env = w.dir, w.env
		return w.begin(cmd)
	}
}

func (w *workbench) trace() string { return filepath.Join(w.dir, "trace") }

// stopped waits until strace has stopped a process, and returns its id.
func (w *workbench) stopped() int {
	w.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		b, _ := os.ReadFile(w.trace()) // it appears later
		for line := range strings.Lines(string(b)) {
			if id, _, ok := strings.Cut(line, " "); ok && strings.Contains(line, "stopped by SIGSTOP") {
				pid, err := strconv.Atoi(id)
				if err != nil {
					w.t.Fatal(err)
				}
				return pid
			}
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("no process was stopped:\n%s", b)
		}
		time.Sleep(10 * time.Millisecond) // strace tells nobody
	}
}

// honest checks what a killed restore leaves: the rooms of before whole in one folder,
// and in the data folder no log that hides its damage.
func honest(t *testing.T, data string, n int) {
	t.Helper()
	if !wholeBefore(t, data) {
		t.Errorf("kill %d: the rooms of before are in no folder", n)
	}
	if _, err := os.Stat(filepath.Join(data, sqlite.FileName)); errors.Is(err, fs.ErrNotExist) {
		return
	}
	if infos, err := rooms(t, data); !errors.Is(err, log.ErrShort) && (err != nil || len(infos) != 1 || infos[0].Last != 40) {
		t.Errorf("kill %d: the data folder has %+v, %v", n, infos, err)
	}
}

// wholeBefore reports whether the rooms of killedLog are whole in the data folder or
// in a folder that restore has moved them to.
func wholeBefore(t *testing.T, data string) bool {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(data, "replaced-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(folders, data) {
		if _, err := os.Stat(filepath.Join(dir, sqlite.FileName)); err != nil {
			continue
		}
		if infos, err := rooms(t, dir); err == nil && len(infos) == 1 && infos[0].Room == "before" && infos[0].Last == 40 {
			return true
		}
	}
	return false
}

// rooms lists the rooms of a copy of a log that was opened for writing.
func rooms(t *testing.T, dir string) ([]log.Info, error) {
	t.Helper()
	to := t.TempDir()
	for _, suffix := range []string{sqlite.FileName, sqlite.FileName + "-wal", sqlite.HeadsName} {
		copyLogFile(t, to, dir, suffix)
	}
	db, err := sqlite.Open(sqlite.Config{Dir: to})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return db.Rooms(t.Context())
}

func copyLogFile(t *testing.T, to, from, name string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(from, name))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, name), b, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// killedLog makes the log of a killed process: a part of its 40 events is in the
// write-ahead log only.
func killedLog(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	live := t.TempDir()
	fill(t, live, "before", 20).Close()
	db := fill(t, live, "before", 20)
	defer db.Close()
	for _, name := range []string{sqlite.FileName, sqlite.FileName + "-wal", sqlite.HeadsName} {
		copyLogFile(t, dir, live, name)
	}
	if info, err := os.Stat(filepath.Join(dir, sqlite.FileName+"-wal")); err != nil || info.Size() == 0 {
		t.Fatal("the write-ahead log is empty", err)
	}
}

// shortLog makes a log whose only room has lost its end.
func shortLog(t *testing.T, dir string) {
	t.Helper()
	fill(t, dir, "short", 10).Close()
	early := t.TempDir()
	copyLogFile(t, early, dir, sqlite.FileName)
	fill(t, dir, "short", 10).Close()
	copyLogFile(t, dir, early, sqlite.FileName)
}

// fill appends events to a room and returns the open log.
func fill(t *testing.T, dir, room string, events int) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(sqlite.Config{Dir: dir, Rest: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	at, err := db.Tail(t.Context(), room)
	if err != nil {
		t.Fatal(err)
	}
	prefix := fmt.Sprintf("%s-%d", room, at.Seq)
	if _, _, err := db.Append(t.Context(), room, at, time.Time{}, logtest.Events(prefix, events)...); err != nil {
		t.Fatal(err)
	}
	return db
}
