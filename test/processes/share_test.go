//go:build unix

package processes

import (
	"encoding/json"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/relaycmd"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// slowAgent writes down each time that it is asked, and answers when there is
// a file `go`.
const slowAgent = `while read -r line; do
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  echo "$id" >>runs
  until [ -e go ]; do sleep 0.02; done
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"answered"}\n' "$id"
done
`

const sharedRoom = `version: room/v1
oneToOne: true
objective: Try it.
participants:
  - {id: mine, profile: orchestrator, mode: full_auto, endpoint: {kind: scripted, lines: [hello, and again]}}
  - {id: theirs, mode: full_auto, endpoint: {kind: relay, peer: bob, profile: reviewer}}
policy: {use: alternate, settings: {first: mine}}
limits: {maxTurns: 2}
`

// two are the owners of two devices, paired through a relay that is a process
// of its own, as everything else.
type two struct {
	t        *testing.T
	ann, bob *workbench
	port     string
	relay    *running
	share    *running
}

func newTwo(t *testing.T, agent string) *two {
	t.Helper()
	w := newOwners(t, agent)
	w.startRelay()
	w.pair()
	w.startShare()
	return w
}

// newOwners returns the owners without a relay.
func newOwners(t *testing.T, agent string) *two {
	t.Helper()
	w := &two{t: t, ann: newWorkbench(t, map[string]string{"room.yaml": sharedRoom}), bob: newWorkbench(t, map[string]string{"agent.sh": agent})}
	for _, b := range []*workbench{w.ann, w.bob} {
		b.env = append(b.env, "MOOT_CONFIG="+filepath.Join(b.dir, "config.yaml"))
		b.write("config.yaml", "")
	}
	w.port = freePort(t)
	return w
}

// takenPorts are the results of freePort.
var takenPorts sync.Map

// freePort is a port that a relay can come back to. It is below those that the system
// chooses for other listeners and connections, so none of them gets it meanwhile.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(20_000 + rand.IntN(10_000))
		if _, taken := takenPorts.LoadOrStore(port, true); taken {
			continue
		}
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("there is no free port")
	return ""
}

func (w *workbench) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *two) startRelay() {
	w.t.Helper()
	w.relay = startRelay(w.t, w.ann, w.port)
}

func (w *two) startShare() {
	w.t.Helper()
	w.share = w.bob.start("share")
	w.share.until(w.t, "profile  reviewer")
}

// pair pairs the devices, and has each allow the other.
func (w *two) pair() {
	w.t.Helper()
	host := w.ann.start("invite", "--auto", "--name", "ann", "--relay", "ws://127.0.0.1:"+w.port, "-o", "jsonl")
	var p relaycmd.Pairing
	if err := json.Unmarshal([]byte(host.until(w.t, "invite")), &p); err != nil {
		w.t.Fatal(err)
	}
	if out, err := w.bob.moot("join", "--yes", "--name", "bob", p.Invite); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	if code := host.end(); code != app.ExitOK {
		w.t.Fatalf("invite ended with %d\n%s", code, host.stderr)
	}
	w.allow(w.ann.device(), w.bob.device())
}

// allow has the device of each owner allow the other's.
func (w *two) allow(ann, bob string) {
	w.t.Helper()
	w.ann.write("config.yaml", "profiles:\n  - {name: orchestrator, allowSharedAgentCalls: true, allowedSharedDeviceIds: ["+bob+"]}\n")
	w.bob.write("config.yaml", "profiles:\n  - {name: reviewer, allowSharedAgentCalls: true, allowedSharedDeviceIds: ["+ann+"], endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}\n")
}

// device is the workbench's device id.
func (w *workbench) device() string {
	w.t.Helper()
	cmd := exec.Command("moot", "peers", "self")
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Fields(string(out))[0]
}

// runs is how often the shared agent was asked.
func (w *two) runs() int {
	b, err := os.ReadFile(filepath.Join(w.bob.dir, "runs"))
	if err != nil {
		return 0
	}
	return strings.Count(string(b), "\n")
}

// working waits until the shared agent works.
func (w *two) working() {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); w.runs() == 0; {
		if time.Now().After(deadline) {
			w.t.Fatalf("the shared agent was not asked\nshare: %s", w.share.stderr)
		}
		time.Sleep(5 * time.Millisecond) // the agent is a shell script: a file is all it can tell
	}
}

func (r *running) kill(t *testing.T) {
	t.Helper()
	if err := r.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if code := r.end(); code != -1 {
		t.Fatalf("killed, it ended with %d", code)
	}
}

// once checks that the turn of the shared agent ended as wanted, once, and
// that the agent was asked once.
func (w *two) once(id string, want func(room.Body) bool) {
	w.t.Helper()
	db := w.ann.open()
	defer db.Close()
	granted, ends, wanted := 0, 0, 0
	for e, err := range log.Scan(w.t.Context(), db, id, log.Pos{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		if b, ok := e.Event.Body.(room.TurnGranted); ok && b.Turn == 2 {
			granted++
		}
		if endOf(e.Event) == 2 {
			ends++
			if want(e.Event.Body) {
				wanted++
			} else {
				w.t.Errorf("turn 2 ended with %+v", e.Event.Body)
			}
		}
	}
	if granted != 1 || ends != 1 || wanted != 1 || w.runs() != 1 {
		w.t.Errorf("turn 2 was granted %d times, ended %d times, %d as wanted; the agent ran %d times", granted, ends, wanted, w.runs())
	}
}

func posted(b room.Body) bool {
	m, ok := b.(room.MessagePosted)
	return ok && m.Message.Text == "answered"
}

// TestSharedRelayKilled: the relay is killed and started again in the middle of
// a turn. The turn goes on, and nothing that the relay saw or logged says
// anything.
func TestSharedRelayKilled(t *testing.T) {
	w := newTwo(t, slowAgent)
	r := w.ann.start("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{r.until(t, "room.opened")})
	w.working()
	w.relay.kill(t)
	for _, secret := range []string{"hello", "Try it.", "reviewer", id, w.bob.device(), w.ann.device()} {
		if strings.Contains(w.relay.stderr.String(), secret) {
			t.Errorf("the relay's log holds %q", secret)
		}
	}
	w.startRelay()
	w.bob.write("go", "")
	if code := r.end(); code != app.ExitLimit {
		t.Errorf("exit code %d\n%s", code, r.stderr)
	}
	w.once(id, posted)
}

// TestSharedShareKilled: the share is killed in the middle of a turn and
// started again. The turn fails, once, and the agent is not asked again.
func TestSharedShareKilled(t *testing.T) {
	w := newTwo(t, slowAgent)
	r := w.ann.start("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{r.until(t, "room.opened")})
	w.working()
	w.share.kill(t)
	w.startShare()
	if code := r.end(); code != app.ExitLimit {
		t.Errorf("exit code %d\n%s", code, r.stderr)
	}
	w.once(id, func(b room.Body) bool {
		f, ok := b.(room.TurnFailed)
		return ok && f.Code == room.FailInterrupted && strings.Contains(f.Error, "RELAY-INTERRUPTED")
	})
}

// TestSharedHostKilled: the host is killed in the middle of a turn, and the
// answer comes while nobody is there. Opened again, the room asks the same
// again, and has it.
func TestSharedHostKilled(t *testing.T) {
	w := newTwo(t, slowAgent)
	r := w.ann.start("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{r.until(t, "room.opened")})
	w.working()
	r.kill(t)
	w.bob.write("go", "")
	again := w.ann.start("run", "--headless", "-o", "jsonl", "--room", id)
	if code := again.end(); code != app.ExitLimit {
		t.Errorf("exit code %d\n%s\nshare: %s", code, again.stderr, w.share.stderr)
	}
	w.once(id, posted)
	book, err := os.ReadFile(filepath.Join(w.bob.data(), "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"requester":"ann"`, `"profile":"reviewer"`, `"status":"granted"`, `"turn":2`} {
		if !strings.Contains(string(book), want) {
			t.Errorf("the share's host log lacks %s:\n%s", want, book)
		}
	}
}

// TestShareEnds: told to end, a share ends well, and says what the relay has
// brought; a second one finds it and is told that the profile is shared.
func TestShareEnds(t *testing.T) {
	w := newTwo(t, slowAgent)
	out, err := w.bob.moot("share")
	if err == nil || !strings.Contains(out, "SHARE-TWICE") {
		t.Errorf("a second share: %v\n%s", err, out)
	}
	if err := w.share.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := w.share.end(); code != app.ExitOK {
		t.Errorf("exit code %d\n%s", code, w.share.stderr)
	}
	w.bob.env = append(w.bob.env, "MOOT_LOG_LEVEL=debug")
	w.startShare()
	if err := w.share.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.share.end()
	for line := range strings.Lines(w.share.stderr.String()) {
		if strings.Contains(line, "counts of the relay's frames") && strings.Contains(line, "dropped=0") && strings.Contains(line, "last=true") {
			return
		}
	}
	t.Errorf("no counts at the end:\n%s", w.share.stderr)
}

// TestRunShares: a process runs its own room and shares agents at the same time.
func TestRunShares(t *testing.T) {
	w := newTwo(t, slowAgent)
	if err := w.share.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.share.end()
	w.bob.write("own.yaml", `version: room/v1
participants:
  - {id: a, mode: full_auto, endpoint: {kind: ndjson, command: [sh, -c, "while [ ! -e end ]; do sleep 0.05; done"]}}
policy: {use: roundrobin}
`)
	own := w.bob.start("run", "own.yaml", "--share", "--headless", "-o", "jsonl")
	own.until(t, "turn.granted")
	r := w.ann.start("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{r.until(t, "room.opened")})
	w.working()
	w.bob.write("go", "")
	if code := r.end(); code != app.ExitLimit {
		t.Errorf("exit code %d\n%s", code, r.stderr)
	}
	w.once(id, posted)
	w.bob.write("end", "")
	own.end()
}

// TestTrySh runs the example of two owners.
func TestTrySh(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("the example's agents need python3")
	}
	moot, err := exec.LookPath("moot")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("./examples/shared/try.sh")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "MOOT="+moot, "MOOT_CACHE="+sharedCache(t))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"paired with ann", "Bob's agent", "In the query string, so it is in the access log.", "## Transcript"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("nothing of %q:\n%s", want, out)
		}
	}
}
