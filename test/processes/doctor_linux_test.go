package processes

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
)

// newAgentsBench returns a workbench whose PATH has moot and the named programs
// only. They do nothing.
func newAgentsBench(t *testing.T, programs ...string) *workbench {
	t.Helper()
	w := newWorkbench(t, nil)
	moot, err := exec.LookPath("moot")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(w.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = append(w.env, "PATH="+bin+string(filepath.ListSeparator)+filepath.Dir(moot), "OLLAMA_HOST=127.0.0.1:1", "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=", "GEMINI_API_KEY=")
	return w
}

// hangingAgent never answers. It writes the ids of itself and of a child to a file.
const hangingAgent = `#!/bin/sh
trap '' TERM
/bin/sleep 1000 &
echo $$ $! >>"$HOME/started"
wait
`

// TestDoctorIsInterrupted: a terminal shows which agents doctor waits for, and
// Ctrl-C ends it with all that it has started. Nothing of it stays on the disk.
func TestDoctorIsInterrupted(t *testing.T) {
	t.Parallel()
	w := newAgentsBench(t)
	temp := filepath.Join(w.dir, "tmp")
	for _, dir := range []string{temp, filepath.Join(w.dir, "home")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"claude-agent-acp", "gemini"} {
		if err := os.WriteFile(filepath.Join(w.dir, "bin", name), []byte(hangingAgent), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = append(w.env, "TMPDIR="+temp)
	x := openTerminal(t, w, 120, "doctor")
	x.wait("starting claude, gemini")
	pids := startedPids(t, filepath.Join(w.dir, "home", "started"), 4)
	x.press("\x03")
	if code := x.end(); code != app.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, x.screen)
	}
	if strings.Contains(x.sent(), "does not start") {
		t.Errorf("an agent was judged:\n%s", x.screen)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("process %d is left", pid)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}

// startedPids waits until the agents have written that many ids of processes.
func startedPids(t *testing.T, file string, want int) (pids []int) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if words := strings.Fields(string(text)); err == nil && len(words) == want {
			for _, word := range words {
				pid, err := strconv.Atoi(word)
				if err != nil {
					t.Fatal(err)
				}
				pids = append(pids, pid)
			}
			return pids
		}
	}
	t.Fatal("the agents do not start")
	return nil
}
