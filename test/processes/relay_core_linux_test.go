package processes

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/relaytest"
)

// TestRelayCoreHoldsNothing: nor does a core dump of the relay hold any of what
// two devices tell each other. A machine where none can be had, because it has
// no gcore and the system keeps none, has [TestRelayLearnsNothing]: that reads
// the same memory.
func TestRelayCoreHoldsNothing(t *testing.T) {
	t.Parallel() // it searches for seconds, while others wait
	allowCores(t)
	bench := newWorkbench(t, nil)
	bench.env = append(bench.env, "GOTRACEBACK=crash")
	r := bench.start("relay", "--listen", "127.0.0.1:0", "--open", "-o", "jsonl")
	w := whisperThrough(t, r.ready(t).URL)
	path := bench.core(r)
	w.stop()
	if path == "" {
		t.Skip("no core dump can be had here: there is no gcore, and the system keeps none")
	}
	found, control := searchCore(t, path, w)
	if found != nil {
		t.Errorf("a core dump of the relay holds %q", found)
	}
	if !control {
		t.Error("what was sent in the clear is not in the core dump: the search is broken")
	}
}

// allowCores lets processes that a test starts dump core, as far as the system
// does.
func allowCores(t *testing.T) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{Cur: was.Max, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &was); err != nil {
			t.Error(err)
		}
	})
}

// core returns a core file of a process, "" when there is none: of the live
// process when there is a tool, else of its death.
func (w *workbench) core(r *running) string {
	w.t.Helper()
	if tool, err := exec.LookPath("gcore"); err == nil {
		at := filepath.Join(w.dir, "live")
		out, err := exec.Command(tool, "-o", at, fmt.Sprint(r.Process.Pid)).CombinedOutput()
		path := fmt.Sprintf("%s.%d", at, r.Process.Pid)
		if _, serr := os.Stat(path); err == nil && serr == nil {
			return path
		}
		w.t.Logf("gcore: %v\n%s", err, out)
	}
	if err := r.Process.Signal(syscall.SIGABRT); err != nil {
		w.t.Fatal(err)
	}
	r.end()
	found, err := filepath.Glob(filepath.Join(w.dir, "core*"))
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0]
}

// searchCore looks for canaries in a file, and for what went in the clear.
func searchCore(t *testing.T, path string, w *whisper) (found []string, control bool) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var memory []byte
	for b := make([]byte, 1<<20); err == nil; {
		var n int
		n, err = io.ReadFull(f, b)
		memory = append(memory, used(b[:n])...)
	}
	t.Logf("%d bytes of the core dump are not empty", len(memory))
	return relaytest.FindCanaries(memory, w.canaries...), strings.Contains(string(memory), w.control)
}
