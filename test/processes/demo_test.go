//go:build linux

package processes

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
)

// TestDemoKilled: relay and share of the demo are killed as soon as the room is
// there, and again in the middle. The demo goes on, every turn ends once, and
// nothing of it is left.
func TestDemoKilled(t *testing.T) {
	w := newWorkbench(t, nil)
	w.env = append(w.env, "TMPDIR="+w.dir)
	r := w.start("demo", "--headless", "-o", "jsonl")
	lines := []string{r.until(t, "room.opened")}
	killed := w.killChildren(r.Process.Pid)
	ends, summarised := map[int]int{}, false
	for r.lines.Scan() {
		line := r.lines.Text()
		if strings.HasPrefix(line, `{"summary":`) {
			summarised = true
			continue
		}
		e, err := room.UnmarshalEvent([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
		if n := endOf(e); n > 0 {
			ends[n]++
			if n == 2 {
				killed += w.killChildren(r.Process.Pid)
			}
		}
	}
	if code := r.end(); code != app.ExitOK {
		t.Errorf("exit code %d\n%s", code, r.stderr)
	}
	for turn, n := range ends {
		if n != 1 {
			t.Errorf("turn %d has ended %d times", turn, n)
		}
	}
	if !summarised {
		t.Error("no summary was printed")
	}
	if killed < 2 || len(ends) < 6 || !strings.Contains(strings.Join(lines, "\n"), `"type":"message.posted","actor":"Security"`) {
		t.Errorf("%d processes were killed, %d turns ended:\n%s", killed, len(ends), strings.Join(lines, "\n"))
	}
	if left, err := filepath.Glob(filepath.Join(w.dir, "moot-demo-*")); err != nil || len(left) != 0 {
		t.Errorf("left is %v, %v", left, err)
	}
}

// killChildren kills the relays and shares that a process has started, each
// through a keeper.
func (w *workbench) killChildren(host int) (killed int) {
	w.t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, path := range lines {
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		if parentOf(parentOf(pid)) != host {
			continue
		}
		line, err := os.ReadFile(path)
		args := strings.Split(string(line), "\x00")
		if err != nil || len(args) < 2 || args[1] != "relay" && args[1] != "share" {
			continue
		}
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}
