//go:build unix

package processes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// frankAgent writes down what it is handed, and answers. With a file `once` it
// ends after each answer; a file `crash` it takes away, and ends before one.
const frankAgent = `while read -r line; do
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  printf '%s\n' "$line" >>frames
  echo $$ >>askedPids
  if [ -e crash ]; then rm crash; echo out of memory >&2; exit 3; fi
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"answered %s"}\n' "$id" "$(grep -c . frames)"
  [ ! -e once ] || exit 0
done
`

// pacedAgent answers whenever the test writes to the pipe `go`.
const pacedAgent = `n=0
while read -r line; do
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  read -r _ <go
  n=$((n+1))
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"question %s"}\n' "$id" $n
done
`

const pacedRoom = `version: room/v1
oneToOne: true
objective: Try it.
participants:
  - {id: mine, profile: orchestrator, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./paced.sh]}}
  - {id: theirs, mode: full_auto, remembers: true, endpoint: {kind: relay, peer: bob, profile: reviewer}}
policy: {use: alternate, settings: {first: mine}}
limits: {maxTurns: 6}
`

// paced is a room of two owners whose local agent speaks when it is told to.
type paced struct {
	*two
	run  *running
	id   string
	pipe *os.File
}

func newPaced(t *testing.T) *paced {
	t.Helper()
	p := &paced{two: newTwo(t, frankAgent)}
	p.ann.write("room.yaml", pacedRoom)
	p.ann.write("paced.sh", pacedAgent)
	path := filepath.Join(p.ann.dir, "go")
	err := syscall.Mkfifo(path, 0o600)
	if err == nil {
		p.pipe, err = os.OpenFile(path, os.O_RDWR, 0) // both ways, so that nobody need be there yet
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.pipe.Close() })
	return p
}

func (p *paced) begin() {
	p.t.Helper()
	p.run = p.ann.start("run", "--headless", "-o", "jsonl")
	p.id = roomOf(p.t, []string{p.run.until(p.t, "room.opened")})
}

// round has the local agent speak and waits for lines, in whatever order.
func (p *paced) round(lines ...string) {
	p.t.Helper()
	p.speak()
	for len(lines) > 0 {
		line, err := p.run.wait("")
		if err != nil {
			p.t.Fatalf("nothing of %q: %v\nshare: %s", lines, err, p.share.stderr)
		}
		lines = slices.DeleteFunc(lines, func(s string) bool { return strings.Contains(line, s) })
	}
}

func (p *paced) speak() {
	p.t.Helper()
	if _, err := p.pipe.WriteString("go\n"); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the room's end, and checks which turns failed.
func (p *paced) ends(failures ...string) {
	p.t.Helper()
	if code := p.run.end(); code != app.ExitLimit {
		p.t.Errorf("exit code %d\n%s\nshare: %s", code, p.run.stderr, p.share.stderr)
	}
	db := p.ann.open()
	defer db.Close()
	var failed []string
	for e, err := range log.Scan(p.t.Context(), db, p.id, log.Pos{}) {
		if err != nil {
			p.t.Fatal(err)
		}
		if b, ok := e.Event.Body.(room.TurnFailed); ok {
			failed = append(failed, fmt.Sprintf("%d %s: %s", b.Turn, b.Code, b.Error))
		}
	}
	if !slices.EqualFunc(failed, failures, strings.Contains) {
		p.t.Errorf("failed turns are %q, want %q", failed, failures)
	}
}

// frames are what the shared agent was handed, oldest first.
func (p *paced) frames() []string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.bob.dir, "frames"))
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// TestSharedShareRestarted: the agent of a share that was killed between two
// turns knows nothing any more. The first thing that it is handed is
// everything.
func TestSharedShareRestarted(t *testing.T) {
	p := newPaced(t)
	p.begin()
	p.round("answered 1")
	p.round("answered 2")
	p.share.kill(t)
	p.startShare()
	p.run.until(t, "seat.forgot")
	p.speak()
	p.ends()
	frames := p.frames()
	if len(frames) != 3 {
		t.Fatalf("the agent was asked %d times", len(frames))
	}
	if !strings.Contains(frames[1], `"history":[]`) {
		t.Errorf("an agent that remembers was handed what it knows:\n%s", frames[1])
	}
	for _, said := range []string{"question 1", "answered 1", "question 2", "answered 2", "question 3"} {
		if !strings.Contains(frames[2], said) {
			t.Errorf("an agent that was restarted did not get %q:\n%s", said, frames[2])
		}
	}
}

// ended waits until the share has noticed the end of the process that answered the
// request n, which counts from 1. A request before that fails: the process may have got
// it. seat.forgot does not tell, as the answer of a new process gives it, too.
func (p *paced) ended(n int) {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.bob.dir, "askedPids"))
	if err != nil {
		p.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Fields(string(b))[n-1])
	if err != nil {
		p.t.Fatal(err)
	}
	for deadline := time.Now().Add(3 * time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) { // until the share reaps it
		if time.Now().After(deadline) {
			p.t.Fatalf("process %d of the agent has not ended", pid)
		}
	}
}

// TestSharedAgentEnds: an agent that ends after each answer is restarted for
// each request, and handed everything.
func TestSharedAgentEnds(t *testing.T) {
	p := newPaced(t)
	p.bob.write("once", "")
	p.begin()
	p.round("answered 1", "seat.forgot")
	p.ended(1)
	p.round("answered 2", "seat.forgot")
	p.ended(2)
	p.speak()
	p.ends()
	frames := p.frames()
	if len(frames) != 3 {
		t.Fatalf("the agent was asked %d times", len(frames))
	}
	said := []string{"question 1", "answered 1", "question 2", "answered 2", "question 3"}
	for i, frame := range frames {
		for _, s := range said[:2*i+1] {
			if !strings.Contains(frame, s) {
				t.Errorf("the agent's run %d was not handed %q:\n%s", i+1, s, frame)
			}
		}
	}
}

// TestSharedAgentCrashes: the turn of an agent that ends in it fails, and says
// that the agent is restarted; its next one holds everything. Its owner
// reads its last words, the room does not.
func TestSharedAgentCrashes(t *testing.T) {
	p := newPaced(t)
	p.ann.write("room.yaml", strings.Replace(pacedRoom, "maxTurns: 6", "maxTurns: 5", 1))
	p.begin()
	p.round("answered 1")
	p.bob.write("crash", "")
	p.speak()
	p.ends("4 interrupted: the remote agent's process has ended and is restarted")
	frames := p.frames()
	if len(frames) != 3 {
		t.Fatalf("the agent was asked %d times", len(frames))
	}
	for _, said := range []string{"question 1", "answered 1", "question 2"} {
		if !strings.Contains(frames[2], said) {
			t.Errorf("an agent that was restarted did not get %q:\n%s", said, frames[2])
		}
	}
	if err := p.share.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.share.end()
	if log := p.share.stderr.String(); !strings.Contains(log, "out of memory") || !strings.Contains(log, "restarted for the next request") {
		t.Errorf("the agent's owner is not told:\n%s", log)
	}
	if strings.Contains(p.run.stderr.String(), "out of memory") {
		t.Errorf("the room hears the agent's last words:\n%s", p.run.stderr)
	}
}
