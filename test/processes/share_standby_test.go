//go:build unix

package processes

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
)

// TestStandbyKilled: the agent that waits for the next room is killed more often
// than its endpoint allows restarts, while another room goes on. The next room gets
// an agent that answers.
func TestStandbyKilled(t *testing.T) {
	p := newPaced(t)
	if err := p.share.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.share.end()
	p.bob.write("agent.sh", "echo $$ >>pids\n"+`echo '{"type":"desktop.ready"}'`+"\n"+frankAgent)
	p.bob.write("config.yaml", `profiles:
  - name: reviewer
    allowSharedAgentCalls: true
    allowedSharedDeviceIds: [`+p.ann.device()+`]
    endpoint: {kind: ndjson, command: [sh, ./agent.sh], awaitReady: true, restart: 1}
`)
	share := exec.Command("moot", "share")
	share.Dir, share.Env = p.bob.dir, p.bob.env
	stderr, err := share.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.share = p.bob.begin(share)
	p.share.until(t, "profile  reviewer")
	log := bufio.NewScanner(stderr)
	p.begin()
	p.round("answered 1")
	for n := 2; n <= 3; n++ {
		p.bob.killAgent(n)
		ended(t, log)
		if n == 2 {
			p.round("answered 2")
		}
	}
	p.speak()
	p.ends()
	p.ann.write("next.yaml", sharedRoom)
	next := p.ann.start("run", "next.yaml", "--headless", "-o", "jsonl")
	next.until(t, "answered 4")
	if code := next.end(); code != app.ExitLimit {
		t.Errorf("exit code %d\n%s", code, next.stderr)
	}
}

// ended waits until a share logs the end of an agent that no room has.
func ended(t *testing.T, log *bufio.Scanner) {
	t.Helper()
	for log.Scan() {
		if strings.Contains(log.Text(), "has ended before a room used it") {
			return
		}
	}
	t.Fatalf("the share has ended: %v", log.Err())
}

// killAgent waits for the nth agent that notes its id, and kills it.
func (w *workbench) killAgent(n int) {
	w.t.Helper()
	w.started(n)
	b, err := os.ReadFile(filepath.Join(w.dir, "pids"))
	if err != nil {
		w.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Fields(string(b))[n-1])
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}
