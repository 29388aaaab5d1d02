//go:build unix

package processes

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// holdDatabase is a program that keeps the database's write lock until its input
// ends.
const holdDatabase = `import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("begin immediate")
print("held", flush=True)
sys.stdin.read()
`

// holdLock starts a process that holds the lock of the workbench's database.
func (w *workbench) holdLock() (release func()) {
	w.t.Helper()
	cmd := exec.Command("python3", "-c", holdDatabase, filepath.Join(w.data(), sqlite.FileName))
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		w.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		w.t.Fatalf("%q, %v", line, err)
	}
	release = func() {
		in.Close()
		_ = cmd.Wait() // it has ended, or another call has waited
	}
	w.t.Cleanup(release)
	return release
}

// TestBusyLog keeps the database's lock in another process while a room runs. The
// room says so and waits, goes on when the lock is free, and ends at the first
// interrupt when it is not.
func TestBusyLog(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("a program in Python holds the lock, and python3 is missing")
	}
	slow := strings.Replace(shellAgent, "; do\n", "; do\n  sleep 1\n", 1)
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": slow})
	r, notes := w.startWatched("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{r.until(t, "room.opened")})
	r.until(t, "turn.granted")
	release := w.holdLock()
	waits(t, notes)
	release()
	r.until(t, "turn.granted")
	release = w.holdLock()
	waits(t, notes)
	if err := r.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(notes) // before Wait closes it
	if code := r.end(); code != app.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, said)
	}
	w.gone("pids")
	release()
	again := w.start("run", "--headless", "-o", "jsonl", "--room", id, "--max-turns", "4")
	for again.lines.Scan() {
	}
	if code := again.end(); code != app.ExitLimit {
		t.Errorf("exit code %d\n%s", code, again.stderr)
	}
}

// startWatched is start with a stderr that can be read while moot runs.
func (w *workbench) startWatched(args ...string) (*running, *bufio.Reader) {
	w.t.Helper()
	cmd := exec.Command("moot", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	notes, err := cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	return w.begin(cmd), bufio.NewReader(notes)
}

// waits reads notes until one says that a room waits for the log.
func waits(t *testing.T, lines *bufio.Reader) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if strings.Contains(line, "[LOG-BUSY]") {
			return
		}
		if err != nil {
			t.Fatalf("no LOG-BUSY on stderr: %v", err)
		}
	}
}
