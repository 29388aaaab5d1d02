package agents

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process of an agent, as /proc shows it.
type process struct {
	pid     int
	command string
	rss     int // KiB
}

// processes returns the processes whose HOME is dir or below it: an agent and
// all that it has started, whatever their parents and groups are.
func processes(t *testing.T, dir string) (out []process) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("the processes of agents are found in /proc:", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, ok := read(pid, dir); ok {
			out = append(out, p)
		}
	}
	return out
}

// read returns a process, if it belongs to dir. A process may end meanwhile.
func read(pid int, dir string) (p process, ok bool) {
	at := filepath.Join("/proc", strconv.Itoa(pid))
	env, err := os.ReadFile(filepath.Join(at, "environ"))
	if err != nil {
		return p, false
	}
	for kv := range strings.SplitSeq(string(env), "\x00") {
		home, found := strings.CutPrefix(kv, "HOME=")
		if !found || home != dir && !strings.HasPrefix(home, dir+"/") {
			continue
		}
		line, err := os.ReadFile(filepath.Join(at, "cmdline"))
		memory, err2 := os.ReadFile(filepath.Join(at, "statm"))
		if fields := strings.Fields(string(memory)); err == nil && err2 == nil && len(fields) > 1 && len(line) > 0 {
			pages, _ := strconv.Atoi(fields[1]) // digits, see proc(5)
			return process{pid, strings.ReplaceAll(string(line), "\x00", " "), pages * os.Getpagesize() / 1024}, true
		}
	}
	return p, false
}

// limitOfEnd is how long a process of an agent may live once it should end.
const limitOfEnd = 5 * time.Second

// gone checks that no process of the agents of w lives 5 seconds later.
func (w *table) gone(t *testing.T) {
	t.Helper()
	home := filepath.Join(w.dir, "home")
	for deadline := time.Now().Add(limitOfEnd); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if len(processes(t, home)) == 0 {
			return
		}
	}
	for _, p := range processes(t, home) {
		t.Errorf("process %d lives %v later: %.200s", p.pid, limitOfEnd, p.command)
		_ = syscall.Kill(p.pid, syscall.SIGKILL) // nothing is left behind
	}
}
