//go:build unix

package processes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/postgres"
	"github.com/folkmoot/moot/room/log/postgres/pgtest"
)

// A cluster is nodes of one log in PostgreSQL, each with a data folder of its own.
type cluster struct {
	t     *testing.T
	log   log.Log
	nodes []*clusterNode
}

type clusterNode struct {
	*workbench
	*daemon
}

// newCluster starts n nodes. Agents have turns of that duration.
func newCluster(t *testing.T, n int, turn time.Duration) *cluster {
	t.Helper()
	var script strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&script, "delay %v\nsay The word is %c%c%c.\n", turn, 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
	}
	benches := make([]*workbench, n)
	for i := range benches {
		benches[i] = newWorkbench(t, map[string]string{"talk.txt": script.String()})
	}
	return startNodes(t, benches...)
}

// startNodes starts a node in each workbench.
func startNodes(t *testing.T, benches ...*workbench) *cluster {
	t.Helper()
	s := pgtest.Start(t)
	c := &cluster{t: t}
	for _, w := range benches {
		w.env = append(w.env, "MOOT_LOG="+s.URL(""))
		c.nodes = append(c.nodes, &clusterNode{workbench: w})
	}
	var starting sync.WaitGroup
	for _, x := range c.nodes {
		starting.Go(x.launch)
	}
	starting.Wait()
	db, err := postgres.Open(postgres.Config{URL: s.URL(""), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		db.Close()
		for _, x := range c.nodes {
			_ = x.Process.Kill()
			x.end()
		}
	})
	c.log = db
	return c
}

func (x *clusterNode) launch() { x.daemon = x.serve("--listen", "none", "--node", "127.0.0.1:0") }

// nodeRoom is a room with two agents that talk in turns.
const nodeRoom = `version: room/v1
name: %s
policy: {use: round-robin}
onRestart: %s
limits: {maxTurns: 2000, maxDuration: 2h, sameText: 12, sameTextOf: 12}
participants:
  - {id: A, mode: full_auto, endpoint: {kind: scripted, script: talk.txt}}
  - {id: B, mode: full_auto, endpoint: {kind: scripted, script: talk.txt}}
`

// call sends a request to a node by its socket.
func (x *clusterNode) call(method, path string, in, out any) (status int, err error) {
	var body []byte
	if in != nil {
		if body, err = json.Marshal(in); err != nil {
			return 0, err
		}
	}
	ctx, cancel := context.WithTimeout(x.t.Context(), 3*time.Minute)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, "http://moot"+path, strings.NewReader(string(body)))
	if err != nil {
		return 0, err
	}
	q.Header.Set("Content-Type", "application/json")
	resp, err := x.socket.Do(q)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s\n%s", method, path, resp.Status, text)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	return resp.StatusCode, err
}

// create makes a room at a node.
func (x *clusterNode) create(yaml string) (id string) {
	x.t.Helper()
	var made api.Created
	if _, err := x.call(http.MethodPost, "/api/rooms", api.Create{YAML: yaml, Dir: x.dir}, &made); err != nil {
		x.t.Fatalf("%v\n%s", err, x.stderr)
	}
	return made.Room
}

// places returns the node of each room, as a node lists them.
func (x *clusterNode) places() map[string]string {
	x.t.Helper()
	var rooms []api.RoomBrief
	if _, err := x.call(http.MethodGet, "/api/rooms", nil, &rooms); err != nil {
		x.t.Fatal(err)
	}
	at := map[string]string{}
	for _, b := range rooms {
		at[b.Room] = b.Node
	}
	return at
}

// state folds the log of a room.
func (c *cluster) state(id string) *room.State {
	c.t.Helper()
	s := &room.State{}
	for e, err := range log.Scan(c.t.Context(), c.log, id, log.Pos{}) {
		if err != nil {
			c.t.Fatal(err)
		}
		s.Apply(e.Event)
	}
	return s
}

// count counts the events of a type in a room.
func (c *cluster) count(id string, types ...string) (n int) {
	c.t.Helper()
	for e, err := range log.Scan(c.t.Context(), c.log, id, log.Pos{}) {
		if err != nil {
			c.t.Fatal(err)
		}
		if slices.Contains(types, e.Event.Body.Type()) {
			n++
		}
	}
	return n
}

// await waits until all rooms are as done says.
func (c *cluster) await(what string, ids []string, done func(*room.State) bool) {
	c.t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for _, id := range ids {
		for {
			s := c.state(id)
			if done(s) {
				break
			}
			if time.Now().After(deadline) {
				for _, x := range c.nodes {
					c.t.Logf("stderr of %s:\n%s", x.at.Node, x.stderr)
				}
				for e, err := range log.Scan(c.t.Context(), c.log, id, log.Pos{}) {
					c.t.Logf("%v %T %+v %v", e.Event.At, e.Event.Body, e.Event.Body, err)
				}
				c.t.Fatalf("room %s is %s at event %d with %d turns, not %s", id, s.Phase, s.Seq, s.Tally.Turns, what)
			}
			time.Sleep(10 * time.Millisecond) // another process writes the log
		}
	}
}

// goOn waits until all rooms have had some more turns.
func (c *cluster) goOn(ids []string) {
	c.t.Helper()
	had := map[string]int{}
	for _, id := range ids {
		had[id] = c.state(id).Tally.Turns
	}
	c.await("going on", ids, func(s *room.State) bool {
		if s.Phase != room.PhaseLive {
			c.t.Fatalf("room %s is %s: %s", s.Spec.Room, s.Phase, s.Ending.Reason)
		}
		return s.Tally.Turns >= had[s.Spec.Room]+2
	})
}

// TestNodes spreads rooms over three nodes, uses them through each, and kills one.
func TestNodes(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 100*time.Millisecond)
	a := c.nodes[0]
	var ids []string
	for i := range 9 {
		ids = append(ids, a.create(fmt.Sprintf(nodeRoom, "r"+strconv.Itoa(i), "continue")))
	}
	c.goOn(ids)
	spread := map[string]bool{}
	for deadline := time.Now().Add(time.Minute); len(spread) < 2 && time.Now().Before(deadline); {
		for _, at := range a.places() {
			spread[at] = true
		}
	}
	if len(spread) < 2 {
		t.Errorf("all rooms are at %v", spread)
	}
	for i, id := range ids {
		for j, x := range c.nodes {
			say := api.Command{ID: fmt.Sprintf("say-%d-%d", i, j), Do: "say", Text: "Hello from " + x.at.Node}
			for range 2 { // the second changes nothing
				if _, err := x.call(http.MethodPost, "/api/rooms/"+id+"/commands", say, nil); err != nil {
					t.Errorf("%v\n%s", err, x.stderr)
				}
			}
		}
	}
	if out, err := c.nodes[2].moot("ls"); err != nil || strings.Count(out, "(node 127.0.0.1:") == 0 {
		t.Errorf("moot ls: %v\n%s", err, out)
	}
	victim := c.nodes[1]
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.goOn(ids)
	for _, id := range ids {
		said := 0
		for e, err := range log.Scan(t.Context(), c.log, id, log.Pos{}) {
			if err != nil {
				t.Fatal(err)
			}
			if m, ok := e.Event.Body.(room.MessagePosted); ok && strings.HasPrefix(m.Message.Text, "Hello from") {
				said++
			}
		}
		if n := c.count(id, "turn.failed"); n > 0 || said != 3 {
			t.Errorf("room %s has %d failed turns and %d of 3 messages", id, n, said)
		}
	}
}

// TestRollingRestart restarts three nodes one after another while rooms are at work that
// pause when their process ends without handing them over. MOOT_TEST_ROOMS sets their number.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	rooms, turn := 6, 100*time.Millisecond
	if n, err := strconv.Atoi(os.Getenv("MOOT_TEST_ROOMS")); err == nil {
		rooms, turn = n, 2*time.Second
	}
	c := newCluster(t, 3, turn)
	var ids []string
	for i := range rooms {
		ids = append(ids, c.nodes[i%3].create(fmt.Sprintf(nodeRoom, "r"+strconv.Itoa(i), "pause")))
	}
	c.goOn(ids)
	for _, x := range c.nodes {
		x.stop(t)
		x.launch()
	}
	c.goOn(ids)
	moves := 0
	for _, id := range ids {
		moves += c.count(id, "room.claimed") - 1
		if n := c.count(id, "turn.failed", "turn.interrupted", "room.paused"); n > 0 {
			t.Errorf("room %s has %d turns that failed", id, n)
		}
	}
	t.Logf("%d rooms moved %d times", rooms, moves)
	if moves < rooms { // each was at some node
		t.Errorf("%d rooms moved only %d times", rooms, moves)
	}
}

// TestNodesDrainTogether ends three nodes at the same time while their rooms are at work, and
// starts them again. MOOT_TEST_DRAINS sets how often.
func TestNodesDrainTogether(t *testing.T) {
	t.Parallel()
	drains := 1
	if n, err := strconv.Atoi(os.Getenv("MOOT_TEST_DRAINS")); err == nil {
		drains = n
	}
	c := newCluster(t, 3, 100*time.Millisecond)
	for range drains {
		var ids []string // new ones: scripts begin again with a process, and repeat themselves
		for i := range 6 {
			ids = append(ids, c.nodes[i%3].create(fmt.Sprintf(nodeRoom, "r"+strconv.Itoa(i), "continue")))
		}
		c.goOn(ids)
		for _, x := range c.nodes {
			if err := x.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		var ending sync.WaitGroup
		for _, x := range c.nodes {
			ending.Go(func() {
				dump := time.AfterFunc(2*time.Minute, func() { _ = x.Process.Signal(syscall.SIGQUIT) })
				defer dump.Stop()
				if code := x.end(); code != app.ExitOK {
					t.Errorf("a node ended with %d\n%s", code, x.stderr)
				}
			})
		}
		ending.Wait()
		if t.Failed() {
			return
		}
		for _, x := range c.nodes {
			ending.Go(x.launch)
		}
		ending.Wait()
		c.goOn(ids)
		for _, id := range ids {
			stop := api.Command{ID: "stop", Do: "stop"}
			if _, err := c.nodes[0].call(http.MethodPost, "/api/rooms/"+id+"/commands", stop, nil); err != nil {
				t.Errorf("%v\n%s", err, c.nodes[0].stderr)
			}
		}
	}
}

// TestNodeNeedsServers checks the error of a node whose log is in files.
func TestNodeNeedsServers(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, nil)
	cmd := w.start("serve", "--listen", "none", "--node", "127.0.0.1:0")
	if code := cmd.end(); code != app.ExitUsage || !strings.Contains(cmd.stderr.String(), "NODE-LOG") {
		t.Errorf("exit code %d\n%s", code, cmd.stderr)
	}
}
