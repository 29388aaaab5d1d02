//go:build unix

package processes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	placement "github.com/folkmoot/moot/internal/cluster"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// nodeSeat is a room of a session and an agent, which speak in turns.
const nodeSeat = `version: room/v1
name: seat
onRestart: %s
objective: Count.
policy: {use: round-robin}
limits: {maxTurns: 1000, maxDuration: 2h}
participants:
  - {id: me, kind: human}
  - {id: here, mode: full_auto, endpoint: {kind: session}}
  - {id: B, mode: full_auto, endpoint: {kind: scripted, script: talk.txt}}
`

// nodeRemote is a room in which an agent of another owner has the second turn, the last one.
const nodeRemote = `version: room/v1
oneToOne: true
objective: Try it.
onRestart: %s
participants:
  - {id: mine, profile: orchestrator, mode: full_auto, endpoint: {kind: scripted, lines: [hello, and again]}}
  - {id: theirs, mode: full_auto, endpoint: {kind: relay, peer: bob, profile: reviewer}}
policy: {use: alternate, settings: {first: mine}}
limits: {maxTurns: 2}
`

// A registry is a log.Members, whose name as a field is not that of its method.
type registry = log.Members

// unheld is the registry of a log of which no process holds a room.
type unheld struct{ registry }

func (unheld) HeldBy(context.Context, string) (string, error) { return "", nil }

// settled waits until a room is at the node to which it belongs, and returns that.
func (c *cluster) settled(id string) *clusterNode {
	c.t.Helper()
	device := func(string) string { return c.state(id).Spec.Device }
	var holder, owner string
	var problem error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) { // the nodes do not tell
		holder, problem = c.locate(c.log, id, device)
		if problem == nil {
			owner, problem = c.locate(unheld{c.log.(registry)}, id, device)
		}
		if i := slices.IndexFunc(c.nodes, func(x *clusterNode) bool { return x.at.Node == owner }); i >= 0 && holder == owner && c.held(id) {
			return c.nodes[i]
		}
	}
	for _, x := range c.nodes {
		c.t.Logf("stderr of %s:\n%s", x.at.Node, x.stderr)
	}
	c.t.Fatalf("room %s of node %q is at node %q: %v", id, owner, holder, problem)
	return nil
}

// locate returns the address of the node of a room.
func (c *cluster) locate(l any, id string, device func(string) string) (string, error) {
	at, err := placement.Locator(c.t.Context(), l, device)
	if err != nil || at == nil {
		return "", err
	}
	return at(c.t.Context(), id), nil
}

// held reports whether a process runs a room.
func (c *cluster) held(id string) bool {
	by, err := c.log.(registry).HeldBy(c.t.Context(), id)
	return err == nil && by != ""
}

// others returns the nodes but x.
func (c *cluster) others(x *clusterNode) []*clusterNode {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(y *clusterNode) bool { return x == y })
}

// end ends a node by a signal: SIGTERM drains it.
func (x *clusterNode) endBy(s syscall.Signal) {
	x.t.Helper()
	if err := x.Process.Signal(s); err != nil {
		x.t.Fatal(err)
	}
	if code := x.end(); s == syscall.SIGTERM && code != app.ExitOK {
		x.t.Fatalf("the node ended with %d\n%s", code, x.stderr)
	}
}

// try calls a route of a seat at a node until it is carried out.
func (x *clusterNode) try(id, seat, route string, in, out any, done func() bool) {
	x.t.Helper()
	call := byHTTP(x.socket, id, seat)
	code := ""
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		if code = call(x.t.Context(), route, in, out); code == "ok" && done() {
			return
		}
	}
	x.t.Fatalf("%s %s: %s\n%s", route, seat, code, x.stderr)
}

// turnOf awaits the turn of a seat at a node.
func (x *clusterNode) turnOf(id, seat string) (t api.Turn) {
	x.t.Helper()
	x.try(id, seat, "await", api.Await{Wait: "10s"}, &t, func() bool { return t.Turn })
	return t
}

// oneAnswer checks that the request of a turn was granted once and answered once, by an owner of
// the room after the one that granted it.
func (c *cluster) oneAnswer(id, participant, request string) {
	c.t.Helper()
	granted, posted, turn, epoch := 0, 0, 0, uint64(0)
	for e, err := range log.Scan(c.t.Context(), c.log, id, log.Pos{}) {
		if err != nil {
			c.t.Fatal(err)
		}
		switch b := e.Event.Body.(type) {
		case room.TurnGranted:
			if b.Request == request {
				granted, turn, epoch = granted+1, b.Turn, e.Event.Epoch
			} else if granted > 0 && posted == 0 {
				c.t.Errorf("event %d: turn %d begins while %s is open", e.Event.Seq, b.Turn, request)
			}
		case room.MessagePosted:
			if b.Turn == turn && b.Message.From == participant {
				if posted++; e.Event.Epoch <= epoch {
					c.t.Errorf("event %d: the answer is of epoch %d, as its request", e.Event.Seq, epoch)
				}
			}
		case room.TurnInterrupted, room.TurnFailed, room.ReplyLate, room.Paused:
			c.t.Errorf("event %d: %s %+v", e.Event.Seq, b.Type(), b)
		}
	}
	if granted != 1 || posted != 1 {
		c.t.Errorf("request %s was granted %d times and answered %d times", request, granted, posted)
	}
}

// TestNodeSeatGoesOn: a session has the turn while the node of its room drains or is killed.
// It answers the same request through any other node, whether it has awaited the turn there
// or not, and is not asked again.
func TestNodeSeatGoesOn(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 10*time.Millisecond)
	for _, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		onRestart := room.RestartContinue
		if end == syscall.SIGTERM {
			onRestart = room.RestartPause // it does not count for a room that moves
		}
		id := c.nodes[0].create(fmt.Sprintf(nodeSeat, onRestart))
		for _, awaits := range []bool{false, true} {
			owner := c.settled(id)
			others := c.others(owner)
			turn := others[0].turnOf(id, "here")
			owner.endBy(end)
			if awaits {
				if again := others[0].turnOf(id, "here"); again.Request != turn.Request || again.Epoch != turn.Epoch {
					t.Errorf("after %v the session is asked %s of epoch %d, not %s of %d", end, again.Request, again.Epoch, turn.Request, turn.Epoch)
				}
			}
			in := api.SeatAnswer{Request: turn.Request, Epoch: turn.Epoch, Text: "word " + turn.Request}
			var out api.SeatAnswered
			others[1].try(id, "here", "answer", in, &out, func() bool { return true })
			c.oneAnswer(id, "here", turn.Request)
			if code := byHTTP(others[0].socket, id, "here")(t.Context(), "answer", in, &out); code != "SEAT-ANSWERED" {
				t.Errorf("a second answer: %s", code)
			}
			owner.launch()
		}
	}
}

// newRemoteCluster makes three nodes, of which two have the device of ann, whose peer bob
// shares an agent.
func newRemoteCluster(t *testing.T) (*two, *cluster) {
	t.Helper()
	w := newTwo(t, slowAgent)
	standby := owner(t, nil)
	if out, err := exec.Command("cp", "-pR", w.ann.data(), standby.data()).CombinedOutput(); err != nil { // with the modes
		t.Fatalf("%v\n%s", err, out)
	}
	config, err := os.ReadFile(filepath.Join(w.ann.dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	standby.write("config.yaml", string(config))
	return w, startNodes(t, w.ann, standby, owner(t, nil))
}

// asked waits until the agent of bob has been asked n times, and returns the last request.
func (w *two) asked(n int) (request string) {
	w.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) { // the agent is a shell script: a file is all it can tell
		if w.runs() < n {
			continue
		}
		b, err := os.ReadFile(filepath.Join(w.bob.dir, "runs"))
		if err != nil {
			w.t.Fatal(err)
		}
		return strings.Fields(string(b))[n-1]
	}
	w.t.Fatalf("the shared agent was asked %d times, not %d\nshare: %s", w.runs(), n, w.share.stderr)
	return ""
}

// TestNodeRemoteSeatGoesOn: an agent on another owner's device has the turn while the node that is
// online drains or is killed. The next node with the keys of the device gets its one answer
// under the same request, and the agent is asked once. Rooms that are made at any node of the
// device run where it is online, and its node that comes back alone goes on with them.
func TestNodeRemoteSeatGoesOn(t *testing.T) {
	t.Parallel()
	w, c := newRemoteCluster(t)
	device := w.ann.device()
	for n, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		onRestart := room.RestartContinue
		if end == syscall.SIGTERM {
			onRestart = room.RestartPause
		}
		_ = os.Remove(filepath.Join(w.bob.dir, "go")) // not there at first
		id := c.nodes[n].create(fmt.Sprintf(nodeRemote, onRestart))
		request := w.asked(n + 1)
		owner := c.settled(id)
		if at := c.state(id).Spec.Device; at != device || owner == c.nodes[2] {
			t.Fatalf("the room of device %s is at %s", at, owner.at.Node)
		}
		owner.endBy(end)
		if next := c.settled(id); next == owner || next == c.nodes[2] {
			t.Fatalf("the room is at %s", next.at.Node)
		}
		w.bob.write("go", "")
		c.await("stopped by its limit", []string{id}, func(s *room.State) bool { return s.Phase == room.PhaseStopped })
		c.oneAnswer(id, "theirs", request)
		if w.runs() != n+1 {
			t.Errorf("the agent was asked %d times for %d turns", w.runs(), n+1)
		}
		owner.launch()
	}
	c.waitsForDevice(w)
}

// waitsForDevice checks that a room of a device waits while no node has the device, and that its
// turn in flight goes on then.
func (c *cluster) waitsForDevice(w *two) {
	c.t.Helper()
	c.nodes[1].endBy(syscall.SIGKILL)
	only, stranger := c.nodes[0], c.nodes[2]
	if err := os.Remove(filepath.Join(w.bob.dir, "go")); err != nil {
		c.t.Fatal(err)
	}
	n := w.runs()
	id := only.create(fmt.Sprintf(nodeRemote, room.RestartPause))
	request := w.asked(n + 1)
	only.endBy(syscall.SIGTERM)
	say := api.Command{ID: "say", Do: "say", Text: "Is there someone?"}
	if _, err := stranger.call("POST", "/api/rooms/"+id+"/commands", say, nil); err == nil || !strings.Contains(err.Error(), "NODE-DEVICE") {
		c.t.Errorf("a node of another device: %v", err)
	}
	w.bob.write("go", "")
	only.launch()
	c.await("stopped by its limit", []string{id}, func(s *room.State) bool { return s.Phase == room.PhaseStopped })
	c.oneAnswer(id, "theirs", request)
	if w.runs() != n+1 {
		c.t.Errorf("the agent was asked %d times for one turn", w.runs()-n)
	}
}
