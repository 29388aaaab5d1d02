package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAttachResumes kills the daemon again and again while a terminal is attached to a
// room, and messages are posted. The terminal sees each event once and in order.
func TestAttachResumes(t *testing.T) {
	const kills = 8
	work := t.TempDir()
	env := append(os.Environ(), "MOOT_DATA="+filepath.Join(work, "data"), "MOOT_CACHE="+sharedCache(t), "HOME="+work, "MOOT_CONFIG=", "MOOT_TOKEN=")
	moot := func(args ...string) *exec.Cmd {
		cmd := exec.Command("moot", args...)
		cmd.Dir, cmd.Env, cmd.Stderr = work, env, os.Stderr
		return cmd
	}
	output := func(args ...string) string {
		out, err := moot(args...).Output()
		if err != nil {
			t.Fatalf("moot %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	file := filepath.Join(work, "room.yaml")
	text := "version: room/v1\nobjective: test\nparticipants:\n  - {id: bot, endpoint: {kind: scripted, lines: [hello]}}\n  - {id: ann, kind: human}\npolicy: {use: mention}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	daemon := startDaemon(t, moot("serve", "--listen", "none"))
	id := output("run", file, "--detach")
	attached := moot("attach", id, "--no-input", "--quiet", "-o", "jsonl", "--last", "1000000")
	seen, err := attached.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := attached.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = attached.Process.Kill() }()
	lines := bufio.NewScanner(seen)
	lines.Buffer(nil, 1<<20)
	last := int64(0)
	until := func(what string) { // reads events up to one that has what
		t.Helper()
		for lines.Scan() {
			var e struct{ Seq int64 }
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatalf("%s: %v", lines.Text(), err)
			}
			if last++; e.Seq != last {
				t.Fatalf("event %d came, want %d", e.Seq, last)
			}
			if bytes.Contains(lines.Bytes(), []byte(what)) {
				return
			}
		}
		t.Fatalf("the output of attach ended before %q, after event %d", what, last)
	}
	for i := range kills {
		posted := fmt.Sprintf("message number %d", i)
		output("say", id, posted)
		until(posted)
		if err := daemon.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = daemon.Wait()
		daemon = startDaemon(t, moot("serve", "--listen", "none"))
	}
	output("stop", id)
	until("room.stopped")
	if err := attached.Wait(); err != nil {
		t.Errorf("attach: %v", err)
	}
}

// startDaemon starts cmd, a server, and waits until it is ready. It is killed at the
// end of the test.
func startDaemon(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = nil
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the server does not begin: %v", err)
	}
	return cmd
}
