//go:build unix

package processes

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/roomlist"
	"github.com/folkmoot/moot/room"
)

// A workbench is a folder with a data folder, in which moot runs as a process of
// its own. The compiled policies are shared by all that a test makes.
type workbench struct {
	t   *testing.T
	dir string
	env []string
}

func newWorkbench(t *testing.T, files map[string]string) *workbench {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "MOOT_DATA="+filepath.Join(dir, "data"), "MOOT_CACHE="+sharedCache(t))
	return &workbench{t: t, dir: dir, env: env}
}

func (w *workbench) data() string { return filepath.Join(w.dir, "data") }

// A running moot. Its stdout is read line by line.
type running struct {
	*exec.Cmd
	lines  *bufio.Scanner
	stderr *bytes.Buffer
}

// start starts moot in the workbench.
func (w *workbench) start(args ...string) *running {
	w.t.Helper()
	cmd := exec.Command("moot", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return w.begin(cmd)
}

// begin starts cmd. Its stderr is kept, unless it goes elsewhere.
func (w *workbench) begin(cmd *exec.Cmd) *running {
	w.t.Helper()
	r := &running{Cmd: cmd, stderr: &bytes.Buffer{}}
	if cmd.Stderr == nil {
		cmd.Stderr = r.stderr
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has mostly ended long ago
		_ = cmd.Wait()
	})
	r.lines = bufio.NewScanner(out)
	r.lines.Buffer(nil, room.MaxEventBytes+1)
	return r
}

// until reads lines until one holds text.
func (r *running) until(t *testing.T, text string) string {
	t.Helper()
	line, err := r.wait(text)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// wait is until for goroutines other than the test's own.
func (r *running) wait(text string) (string, error) {
	for r.lines.Scan() {
		if strings.Contains(r.lines.Text(), text) {
			return r.lines.Text(), nil
		}
	}
	return "", fmt.Errorf("no line with %q; stderr:\n%s", text, r.stderr)
}

// end reads the rest and returns the exit code, -1 for a killed process.
func (r *running) end() int {
	for r.lines.Scan() {
	}
	_ = r.Wait() // the code says it
	return r.ProcessState.ExitCode()
}

// gone waits until no process has an id of those that agents wrote to a file.
func (w *workbench) gone(file string) {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, file))
	if err != nil {
		w.t.Fatal(err)
	}
	deadline := time.Now().Add(3 * time.Minute) // an agent may take 10 s until it is killed
	for field := range strings.FieldsSeq(string(b)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			w.t.Fatal(err)
		}
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			if time.Now().After(deadline) {
				w.t.Fatalf("agent %d has outlived moot", pid)
			}
			time.Sleep(10 * time.Millisecond) // nobody tells when a stranger's process ends
		}
	}
}

// zombie reports whether a process has ended and only waits to be reaped.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, ok := strings.Cut(string(b), ") ")
	return ok && strings.HasPrefix(rest, "Z")
}

// threeAgents is a room of three real processes, each of which notes its id.
const threeAgents = `version: room/v1
participants:
  - {id: A, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}
  - {id: B, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}
  - {id: C, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}
policy: {use: roundrobin}
limits: {maxTurns: 20}
`

// shellAgent answers in the frames of the one-to-one note, in plain shell.
const shellAgent = `echo $$ >>pids
while read -r line; do
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  n=${line#*'"turn_index":'}; n=${n%%[!0-9]*}
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"turn %s by %s"}\n' "$id" "$n" $$
done
`

// deafAgent answers nothing and does not let itself be asked to end.
const deafAgent = `echo $$ >>pids
trap '' TERM INT HUP
while :; do sleep 1; done
`

func TestInterrupt(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": "echo $$ >>pids\nread line\nread line\n"})
			r := w.start("run", "--headless", "-o", "jsonl")
			r.until(t, "turn.granted")
			w.started(1)
			if err := r.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			paused := r.until(t, "room.paused")
			if !strings.Contains(paused, `"cause":"person"`) {
				t.Errorf("paused by %s", paused)
			}
			if code := r.end(); code != app.ExitInterrupted {
				t.Errorf("exit code %d\n%s", code, r.stderr)
			}
			if !strings.Contains(r.stderr.String(), "press Ctrl-C again to quit now") {
				t.Errorf("stderr says nothing of a second signal: %s", r.stderr)
			}
			w.gone("pids")
		})
	}
}

// started waits until n agents have noted their ids.
func (w *workbench) started(n int) {
	w.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; {
		b, err := os.ReadFile(filepath.Join(w.dir, "pids"))
		if err == nil && strings.Count(string(b), "\n") >= n {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatal("the agents did not start")
		}
		time.Sleep(5 * time.Millisecond) // the agents are shell scripts: a file is all they can tell
	}
}

// A second signal does not wait for an agent that does not let go.
func TestInterruptTwice(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": deafAgent})
	r := w.start("run", "--headless", "-o", "jsonl")
	r.until(t, "turn.granted")
	w.started(1)
	for range 2 {
		if err := r.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if r.lines.Scan() { // the first is under way
			continue
		}
	}
	if code := r.end(); code != app.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, r.stderr)
	}
	w.gone("pids")
}

// A program that runs during a turn ends with moot, as does its child, even if both
// ignore signals and moot is killed.
func TestKilledCommand(t *testing.T) {
	room := strings.ReplaceAll(threeAgents, "kind: ndjson", "kind: command")
	w := newWorkbench(t, map[string]string{"room.yaml": room, "agent.sh": "(" + strings.ReplaceAll(deafAgent, "$$", "$(exec sh -c 'echo $PPID')") + ") &\n" + deafAgent})
	r := w.start("run", "--headless", "-o", "jsonl")
	r.until(t, "turn.granted")
	w.started(2)
	if err := r.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.end()
	w.gone("pids")
}

// A closed pipe, as of `| head`, pauses the room and is no hang.
func TestOutputClosed(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": shellAgent})
	cmd := exec.Command("moot", "run", "--headless", "-o", "jsonl")
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if err := cmd.Wait(); err == nil {
		t.Error("nobody reads the output, and moot says that all is well")
	}
}

// A room that a process runs is nobody else's; who it is is said.
func TestHeldRoom(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": deafAgent})
	r := w.start("run", "--headless", "-o", "jsonl")
	opened, err := room.UnmarshalEvent([]byte(r.until(t, "room.opened")))
	if err != nil {
		t.Fatal(err)
	}
	id := opened.Body.(room.Opened).Spec.Room
	r.until(t, "turn.granted")
	holder := strconv.Itoa(r.Process.Pid)
	for _, args := range [][]string{{"run", "--room", id, "--headless"}, {"rm", "--yes", id}, {"transcript", "redact", id, "1"}} {
		out, err := w.moot(args...)
		if err == nil || strings.Count(out, "held by process "+holder) != 1 || strings.Count(out, "-LOCKED]") != 1 {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	// Looking takes no lock.
	for _, args := range [][]string{{"ls"}, {"show", id}} {
		out, err := w.moot(args...)
		if err != nil || !strings.Contains(out, "process "+holder) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	if err := r.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.end()
	out, err := w.moot("ls")
	if err != nil || !strings.Contains(out, roomlist.Interrupted) {
		t.Errorf("after a kill: %v\n%s", err, out)
	}
}

// moot runs moot to its end.
func (w *workbench) moot(args ...string) (string, error) {
	cmd := exec.Command("moot", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}
