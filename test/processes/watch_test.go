//go:build unix

package processes

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/relaycmd"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// steadyAgent answers its nth request when there is a file `go<n>`, and keeps
// what it was asked.
const steadyAgent = `n=0
while read -r line; do
  n=$((n+1))
  printf '%s\n' "$line" >>asked
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  until [ -e "go$n" ]; do sleep 0.02; done
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"answer %s"}\n' "$id" "$id"
done
`

const watchedRoom = `version: room/v1
objective: Try it.
participants:
  - {id: a, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}
  - {id: b, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}
observers: [{peer: bob}]
policy: {use: roundrobin}
limits: {maxTurns: 8}
`

// watchers are a host and those who watch, each a data folder, and a relay.
type watchers struct {
	t     *testing.T
	ann   *workbench
	port  string
	relay *running
}

func newWatchers(t *testing.T) *watchers {
	t.Helper()
	w := &watchers{t: t, ann: newWorkbench(t, map[string]string{"room.yaml": watchedRoom, "agent.sh": steadyAgent})}
	w.ann.env = append(w.ann.env, "MOOT_CONFIG="+os.DevNull)
	w.port = freePort(t)
	w.startRelay()
	return w
}

func (w *watchers) startRelay() {
	w.t.Helper()
	w.relay = startRelay(w.t, w.ann, w.port)
}

// guest is a device that ann has invited.
func (w *watchers) guest(name string, invite ...string) *workbench {
	w.t.Helper()
	b := newWorkbench(w.t, nil)
	b.env = append(b.env, "MOOT_CONFIG="+os.DevNull)
	host := w.ann.start(append([]string{"invite", "--auto", "--name", "ann", "--relay", "ws://127.0.0.1:" + w.port, "-o", "jsonl"}, invite...)...)
	var p relaycmd.Pairing
	if err := json.Unmarshal([]byte(host.until(w.t, "invite")), &p); err != nil {
		w.t.Fatal(err)
	}
	if out, err := b.moot("join", "--yes", "--name", name, p.Invite); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	if code := host.end(); code != app.ExitOK {
		w.t.Fatalf("invite ended with %d\n%s", code, host.stderr)
	}
	return b
}

// answers lets each of the two agents answer up to its nth request.
func (w *watchers) answers(upTo int) {
	w.t.Helper()
	for n := range upTo {
		w.ann.write("go"+strconv.Itoa(n+1), "")
	}
}

// exitOf is the exit code of a moot that has ended.
func exitOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return app.ExitOK
}

// A diary holds the events that a spectator saw, over several processes.
type diary struct {
	t    *testing.T
	seqs []int64
}

// next takes one line.
func (d *diary) next(r *running) (b room.Body, ok bool) {
	d.t.Helper()
	if !r.lines.Scan() {
		return nil, false
	}
	e, err := room.UnmarshalEvent(r.lines.Bytes())
	if err != nil {
		d.t.Fatal(err)
	}
	d.seqs = append(d.seqs, e.Seq)
	return e.Body, true
}

// until takes lines until there is an event of that type.
func (d *diary) until(r *running, want room.Body) {
	d.t.Helper()
	for {
		switch b, ok := d.next(r); {
		case !ok:
			d.t.Fatalf("no %s was seen\n%s", want.Type(), r.stderr)
		case b.Type() == want.Type():
			return
		}
	}
}

// write takes lines until some messages were posted, or to the end.
func (d *diary) write(r *running, messages int) {
	d.t.Helper()
	for n := 0; n != messages; n++ {
		if messages > 0 {
			d.until(r, room.MessagePosted{})
		} else if _, ok := d.next(r); !ok {
			return
		}
	}
}

func (d *diary) last() string { return strconv.FormatInt(d.seqs[len(d.seqs)-1], 10) }

// shown returns the events of a room that a spectator sees.
func (w *workbench) shown(id string) (seqs []int64, seats []room.Participant) {
	w.t.Helper()
	db := w.open()
	defer db.Close()
	for e, err := range log.Scan(w.t.Context(), db, id, log.Pos{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		if _, ok := e.Event.VisibleAt(room.UserVisible); ok {
			seqs = append(seqs, e.Event.Seq)
		}
		if b, ok := e.Event.Body.(room.Joined); ok {
			seats = append(seats, b.Participant)
		}
	}
	return seqs, seats
}

// TestWatchKilled: who watches, the relay and the host are killed one after the
// other in the middle of a room. Every event was seen once, and its end.
func TestWatchKilled(t *testing.T) {
	w := newWatchers(t)
	bob := w.guest("bob", "--grant", "observer")
	host := w.ann.start("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{host.until(t, "room.opened")})
	d := &diary{t: t}

	v := bob.start("watch", "ann", "-o", "jsonl")
	w.answers(1)
	d.write(v, 2)
	if err := v.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	d.write(v, -1) // what it had written
	v.end()

	w.answers(2)
	v = bob.start("watch", "ann", "-o", "jsonl", "--after", d.last(), "--room", id)
	d.write(v, 1)
	w.relay.kill(t)
	w.answers(3)
	w.startRelay()
	d.write(v, 3)

	host.kill(t)
	for n := range 3 {
		if err := os.Remove(filepath.Join(w.ann.dir, "go"+strconv.Itoa(n+1))); err != nil {
			t.Fatal(err)
		}
	}
	host = w.ann.start("run", "--headless", "-o", "jsonl", "--room", id)
	d.until(v, room.Resumed{})
	w.answers(8)
	d.write(v, -1)
	if code := v.end(); code != app.ExitOK {
		t.Errorf("who watched ended with %d\n%s", code, v.stderr)
	}
	if code := host.end(); code != app.ExitLimit {
		t.Errorf("the room ended with %d\n%s", code, host.stderr)
	}
	if want, _ := w.ann.shown(id); !reflect.DeepEqual(d.seqs, want) {
		t.Errorf("seen were %v\nwant %v", d.seqs, want)
	}
	if strings.Contains(w.relay.stderr.String(), id) {
		t.Error("the relay's log holds the room's id")
	}
}

// TestWatchFrozen: a spectator whose process is stopped delays neither the room
// nor other spectators, and gets every event when it continues.
func TestWatchFrozen(t *testing.T) {
	w := newWatchers(t)
	bob, carol := w.guest("bob", "--grant", "observer"), w.guest("carol", "--grant", "observer")
	w.ann.write("room.yaml", strings.Replace(watchedRoom, "{peer: bob}", "{peer: bob}, {peer: carol, level: user_redacted}", 1))
	host := w.ann.start("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{host.until(t, "room.opened")})
	slow, quick := &diary{t: t}, &diary{t: t}
	vs, vq := bob.start("watch", "ann", "-o", "jsonl"), carol.start("watch", "ann", "-o", "jsonl")
	slow.until(vs, room.Opened{})
	quick.until(vq, room.Opened{})
	if err := vs.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.answers(3)
	quick.write(vq, 6)
	if err := vs.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	slow.write(vs, 6)
	w.answers(8)
	slow.write(vs, -1)
	quick.write(vq, -1)
	for _, v := range []*running{vs, vq, host} {
		if code, want := v.end(), map[bool]int{true: app.ExitLimit, false: app.ExitOK}[v == host]; code != want {
			t.Errorf("it ended with %d, not %d\n%s", code, want, v.stderr)
		}
	}
	want, _ := w.ann.shown(id)
	if !reflect.DeepEqual(slow.seqs, want) || !reflect.DeepEqual(quick.seqs, want) {
		t.Errorf("seen were %v\nand %v\nwant %v", slow.seqs, quick.seqs, want)
	}
}

// TestWatchSays: a spectator's message is in the room, and the agent is told
// whose it is. A peer without the grant sees and says nothing. A removed peer
// sees nothing more.
func TestWatchSays(t *testing.T) {
	w := newWatchers(t)
	bob, eve := w.guest("bob", "--grant", "observer"), w.guest("eve")
	host := w.ann.start("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{host.until(t, "room.opened")})
	v := bob.start("watch", "ann", "-o", "jsonl", "--say", "what about the index?", "--say", "and the lock?", "--wait", "20s") // a handshake that is lost is repeated after 5 s
	v.until(t, `"text":"what about the index?"`)
	v.until(t, `"text":"and the lock?"`)
	out, err := eve.moot("watch", "ann", "--say", "me too")
	if exit := exitOf(err); exit != app.ExitAuth || !strings.Contains(out, "WATCH-DENIED") {
		t.Errorf("eve: %d\n%s", exit, out)
	}
	if out, err := bob.moot("watch", "eve"); exitOf(err) != app.ExitInput || !strings.Contains(out, "RELAY-PEER") {
		t.Errorf("an unpaired device: %v\n%s", err, out)
	}
	if out, err := w.ann.moot("peers", "rm", "bob"); err != nil {
		t.Fatal(err, out)
	}
	w.answers(8)
	seen := 0
	for v.lines.Scan() {
		if strings.Contains(v.lines.Text(), "message.posted") {
			seen++
		}
	}
	if code := v.end(); code != app.ExitFailure || !strings.Contains(v.stderr.String(), "RELAY-UNREACHABLE") || seen > 0 {
		t.Errorf("one who was removed saw %d messages and ended with %d\n%s", seen, code, v.stderr)
	}
	if code := host.end(); code != app.ExitLimit {
		t.Errorf("the room ended with %d\n%s", code, host.stderr)
	}
	_, seats := w.ann.shown(id)
	joined := seats[len(seats)-1]
	if want := (room.Participant{ID: "bob", Kind: policy.Human, Owner: "bob", Device: bob.device()}); len(seats) != 3 || !reflect.DeepEqual(joined, want) {
		t.Errorf("the seats are %+v", seats)
	}
	asked, err := os.ReadFile(filepath.Join(w.ann.dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"what about the index?", `"owner":"bob"`, `"device_id":"` + bob.device() + `"`} {
		if !strings.Contains(string(asked), want) {
			t.Errorf("the agent was not told %s:\n%s", want, asked)
		}
	}
	if strings.Contains(string(asked), "me too") {
		t.Error("eve was heard")
	}
	book, err := os.ReadFile(filepath.Join(w.ann.data(), "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"requester":"bob","room":"` + id + `","status":"watched"`, `"requester":"bob","room":"` + id + `","status":"said"`, `"requester":"eve","status":"refused","reason":"denied"`} {
		if !strings.Contains(string(book), want) {
			t.Errorf("the host log lacks %s:\n%s", want, book)
		}
	}
	if strings.Contains(string(book), "index") {
		t.Error("the host log holds what was said")
	}
}

// TestWatchTyped: each line of stdin is said, and its end ends nothing.
func TestWatchTyped(t *testing.T) {
	w := newWatchers(t)
	bob := w.guest("bob", "--grant", "observer")
	host := w.ann.start("run", "--headless", "-o", "jsonl")
	host.until(t, "room.opened")
	cmd := exec.Command("moot", "watch", "ann", "--quiet")
	cmd.Dir, cmd.Env = bob.dir, bob.env
	cmd.Stdin = strings.NewReader("first line\n\n  \nsecond \x1b[31mline\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &running{Cmd: cmd, lines: bufio.NewScanner(out), stderr: &stderr}
	for _, want := range []string{"bob · observer", "first line", "bob · observer", "second "} {
		if line := r.until(t, want); strings.Contains(line, "\x1b") {
			t.Errorf("it steers the terminal: %q", line)
		}
	}
	w.answers(8)
	r.until(t, "■ stopped")
	if code := r.end(); code != app.ExitOK || stderr.Len() > 0 {
		t.Errorf("it ended with %d\n%s", code, &stderr)
	}
	if code := host.end(); code != app.ExitLimit {
		t.Errorf("the room ended with %d\n%s", code, host.stderr)
	}
}

// TestWatchInvited: an invite that names a room is enough for that room; told
// to end, watch ends well.
func TestWatchInvited(t *testing.T) {
	w := newWatchers(t)
	w.guest("bob", "--grant", "observer")
	host := w.ann.start("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{host.until(t, "room.opened")})
	host.kill(t)
	carol := w.guest("carol", "--grant", "observer", "--room", id)
	dave := w.guest("dave", "--grant", "observer", "--room", "r_other")
	host = w.ann.start("run", "--headless", "-o", "jsonl", "--room", id)
	v := carol.start("watch", "ann", "-o", "jsonl", "--last", "1000")
	v.until(t, "room.resumed")
	if out, err := dave.moot("watch", "ann"); exitOf(err) != app.ExitAuth || !strings.Contains(out, "WATCH-DENIED") {
		t.Errorf("dave: %v\n%s", err, out)
	}
	if out, err := carol.moot("__complete", "watch", ""); err != nil || !strings.HasPrefix(out, "ann\n") {
		t.Errorf("completed is %q, %v", out, err)
	}
	if err := v.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := v.end(); code != app.ExitOK {
		t.Errorf("told to end it ended with %d\n%s", code, v.stderr)
	}
	w.answers(8)
	host.end()
}
