//go:build linux

package processes

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
)

// waitAgent notes its process when it is asked, and answers when there is a file
// `go`. The agent that is ready for the next room notes nothing.
var waitAgent = strings.Replace(slowAgent, ">>runs\n", ">>runs\n  echo $$ >>pids\n", 1)

// TestDeviceKeys: sealed keys need their passphrase, from a file for a service.
// A rotated session key needs nothing: the other device follows. All are
// processes.
func TestDeviceKeys(t *testing.T) {
	w := newTwo(t, slowAgent)
	w.bob.write("go", "")
	w.stopShare()
	seal := exec.Command("moot", "device", "seal")
	seal.Dir, seal.Env, seal.Stdin = w.bob.dir, w.bob.env, strings.NewReader("correct horse\n")
	if out, err := seal.CombinedOutput(); err != nil || !strings.Contains(string(out), "sealed with a passphrase") {
		t.Fatalf("%v\n%s", err, out)
	}
	keys := filepath.Join(w.bob.data(), "device", "keys.json")
	if b, err := os.ReadFile(keys); err != nil || strings.Contains(string(b), "idk") || !strings.Contains(string(b), "argon2id") {
		t.Errorf("the keys are not sealed: %v\n%s", err, b)
	}
	if out, err := w.bob.moot("share"); err == nil || !strings.Contains(out, "RELAY-PASSPHRASE") {
		t.Errorf("shared without the passphrase: %v\n%s", err, out)
	}
	if out, err := w.bob.moot("peers", "ls"); err != nil || !strings.Contains(out, "ann") {
		t.Errorf("the peers cannot be listed without the passphrase: %v\n%s", err, out)
	}
	w.bob.write("phrase", "correct horse\n")
	w.bob.env = append(w.bob.env, "MOOT_DEVICE_PASSPHRASE="+filepath.Join(w.bob.dir, "phrase"))
	w.converse()

	before, err := os.ReadFile(keys)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := w.bob.moot("device", "rotate"); err == nil || !strings.Contains(out, "RELAY-ONLINE") {
		t.Errorf("rotated while the share runs: %v\n%s", err, out)
	}
	w.stopShare()
	id := w.bob.device()
	if out, err := w.bob.moot("device", "rotate"); err != nil || !strings.Contains(out, "sealed with a passphrase") || !strings.Contains(out, id) {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := w.bob.moot("device", "rotate"); err == nil || !strings.Contains(out, "RELAY-ROTATED") {
		t.Errorf("a key that no peer knows yet was replaced: %v\n%s", err, out)
	}
	if after, err := os.ReadFile(keys); err != nil || string(after) == string(before) {
		t.Error("the key file is as before", err)
	}
	w.converse() // the other device follows
	w.converse() // and shows that it has the key
	w.stopShare()
	if out, err := w.bob.moot("device", "rotate"); err != nil { // it knows the key now
		t.Errorf("%v\n%s", err, out)
	}
	w.converse()
	w.stopShare()
	if out, err := w.bob.moot("device", "seal", "--remove"); err != nil || !strings.Contains(out, "not sealed") {
		t.Errorf("%v\n%s", err, out)
	}
}

// stopShare ends the share as an owner does.
func (w *two) stopShare() {
	w.t.Helper()
	if err := w.share.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	if code := w.share.end(); code != app.ExitOK {
		w.t.Fatalf("share ended with %d\n%s", code, w.share.stderr)
	}
}

// converse starts the share if it has ended, and runs a room to its end.
func (w *two) converse() {
	w.t.Helper()
	if w.share.ProcessState != nil {
		w.startShare()
	}
	if out, _ := w.ann.moot("run", "--headless"); !strings.Contains(out, "answered") || !strings.Contains(out, "limit maxTurns: 2 turns granted") {
		w.t.Fatalf("the room did not run to its end:\n%s", out)
	}
}

// TestPeerRemovedAtWork: the work of an agent for a device ends when the device
// is removed, its process too, and the audit says so.
func TestPeerRemovedAtWork(t *testing.T) {
	w := newTwo(t, waitAgent)
	host := w.ann.start("run", "--headless", "-o", "jsonl")
	w.bob.started(1)
	w.waitFor(func() bool { return w.runs() == 1 }, "the agent is not asked")
	if out, err := w.bob.moot("peers", "rm", "ann"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	audit := func() string {
		b, err := os.ReadFile(filepath.Join(w.bob.data(), "audit.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	w.waitFor(func() bool { return strings.Contains(audit(), `"status":"cancelled","reason":"RELAY-PEER"`) }, "the audit does not say that the work was ended")
	w.bob.gone("pids")
	if text := audit(); strings.Contains(text, `"status":"posted"`) || !strings.Contains(text, `"status":"granted"`) || !strings.Contains(text, `"mode":"full_auto"`) {
		t.Errorf("the audit says what has not happened:\n%s", text)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until another process has done something that only a file tells.
func (w *two) waitFor(done func() bool, what string) {
	w.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatal(what)
		}
	}
}

// TestDeviceRevoked: a revoked device is not paired again, whatever invite it
// has, until the revocation is undone; and a relay that reads its list again
// disconnects it.
func TestDeviceRevoked(t *testing.T) {
	w := newTwo(t, slowAgent)
	w.stopShare()
	bob := w.bob.device()
	list := filepath.Join(w.ann.dir, "devices")
	w.ann.write("devices", "# ours\n"+w.ann.device()+"\n"+bob+"\n")
	port := freePort(t)
	private := w.ann.start("relay", "--listen", "127.0.0.1:"+port, "--devices", "devices", "--metrics", "127.0.0.1:0", "-o", "jsonl")
	at := private.ready(t)
	connected := func(n string) func() bool {
		return func() bool { return strings.Contains(counters(t, at.Metrics), "moot_relay_devices "+n+"\n") }
	}
	share := w.bob.start("share", "--relay", at.URL)
	share.until(t, "profile  reviewer")
	w.waitFor(connected("1"), "the share is not connected")
	if out, err := w.ann.moot("device", "revoke", "bob", "--devices", list); err != nil || !strings.Contains(out, "revoked "+bob) {
		t.Fatalf("%v\n%s", err, out)
	}
	if b, err := os.ReadFile(list); err != nil || strings.Contains(string(b), bob) || !strings.Contains(string(b), "# ours\n"+w.ann.device()) {
		t.Errorf("the relay's list: %v\n%s", err, b)
	}
	if err := private.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	w.waitFor(connected("0"), "the relay has not disconnected the device")
	if out, err := w.ann.moot("peers", "ls", "-o", "json"); err != nil || strings.TrimSpace(out) != "[]" {
		t.Errorf("%v\n%s", err, out)
	}
	if err := share.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	share.end()
	open := "ws://127.0.0.1:" + w.port
	invite, host := w.ann.inviteAt(t, open)
	if out, err := w.bob.moot("join", "--yes", invite); err == nil || !strings.Contains(out, "INVITE-REFUSED") {
		t.Errorf("a revoked device was paired: %v\n%s", err, out)
	}
	_ = host.Process.Kill() // it has mostly ended
	if host.end(); !strings.Contains(host.stderr.String(), "was revoked, so it is not paired again") {
		t.Errorf("the owner is not told why:\n%s", host.stderr)
	}
	if out, err := w.ann.moot("device", "revoke", "--undo", bob); err != nil || !strings.Contains(out, "may be paired again") {
		t.Errorf("%v\n%s", err, out)
	}
	invite, _ = w.ann.inviteAt(t, open)
	if out, err := w.bob.moot("join", "--yes", invite); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
