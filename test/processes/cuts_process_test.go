//go:build unix

package processes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
)

// waitingAgent records each request and answers when the test writes to the
// pipe `go`.
const waitingAgent = `while read -r line; do
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  echo "$id" >>runs
  read -r _ <go
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"answered"}\n' "$id"
done
`

// A cut is a network that is dead for a while in the middle of a turn.
type cut struct {
	*two
	name    string
	lasts   time.Duration
	sides   []string // whose connection: "host", "share" or both
	forgets bool     // see way
	early   bool     // the agent answers while the network is dead
	ways    map[string]*way

	works chan struct{} // closed when the agent does
	done  chan struct{} // closed at the end; then what follows is set
	err   error
	room  string
}

// TestSharedCuts: the network between the relay and one side, or both, is cut
// for 59, 60, 61 and 120 s in the middle of a turn. The turn finishes once, and
// the agent was asked once. Everything but the network is a real process.
//
// All cuts run in parallel with each other and with the other tests of this
// package: they begin here, and the last test waits for them.
func TestSharedCuts(t *testing.T) {
	if testing.Short() {
		t.Skip("cuts take two minutes")
	}
	ways := map[string]*way{}
	var cuts []*cut
	for i, seconds := range []time.Duration{59, 60, 61, 120} {
		for k, sides := range [][]string{{"host", "share"}, {"host"}, {"share"}} {
			c := &cut{lasts: seconds * time.Second, sides: sides, forgets: (i+k)%2 == 0, early: i%2 == 0, ways: map[string]*way{}, works: make(chan struct{}), done: make(chan struct{})}
			c.name = fmt.Sprintf("%v-%s", c.lasts, strings.Join(sides, "+"))
			for _, side := range []string{"host", "share"} {
				c.ways[side] = &way{forgets: c.forgets}
				ways["/"+c.name+"/"+side] = c.ways[side]
			}
			cuts = append(cuts, c)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	relay := newWorkbench(t, nil)
	port := freePort(t)
	relay.start("relay", "--listen", "127.0.0.1:"+port, "--host", l.Addr().String(), "--plain", "--open", "--login-burst", "1000", "--max-per-address", "1000").
		until(t, "ws://")
	var work sync.WaitGroup
	t.Cleanup(work.Wait)
	work.Go(func() { serveWays(t.Context(), l, "127.0.0.1:"+port, ways) })
	for _, c := range cuts {
		c.pair(t, "ws://"+l.Addr().String()+"/"+c.name)
		work.Go(func() { c.err = c.run(t.Context(), cuts[0]); close(c.done) })
	}
	t.Parallel()
	for _, c := range cuts {
		t.Run(c.name, c.check)
	}
}

// pair makes two paired devices that allow each other, as invite and join do,
// but that each comes to the relay by its own way.
func (c *cut) pair(t *testing.T, url string) {
	t.Helper()
	c.two = &two{t: t, ann: newWorkbench(t, map[string]string{"room.yaml": sharedRoom}), bob: newWorkbench(t, map[string]string{"agent.sh": waitingAgent})}
	if err := syscall.Mkfifo(filepath.Join(c.bob.dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	ann, bob := c.ann.newDevice(), c.bob.newDevice()
	c.ann.befriend(ann, bob, "bob", url+"/host")
	c.bob.befriend(bob, ann, "ann", url+"/share")
	c.allow(ann.ID().String(), bob.ID().String())
}

func (w *workbench) newDevice() *identity.Device {
	w.t.Helper()
	w.env = append(w.env, "MOOT_CONFIG="+filepath.Join(w.dir, "config.yaml"))
	d, err := identity.LoadOrGenerate(filepath.Join(w.data(), "device", "keys.json"), nil, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// befriend stores another device, as a pairing would.
func (w *workbench) befriend(self, other *identity.Device, name, relay string) {
	w.t.Helper()
	peers, err := identity.OpenPeers(filepath.Join(w.data(), "device", "peers.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	mine := self.Record().NK
	secret := make([]byte, 32)
	p := identity.Peer{ID: other.ID(), Record: other.Record(), PairPSK: secret, Mine: mine[:], Name: name, Relay: relay, Created: time.Now().UTC()}
	if _, err := peers.Add(p); err != nil {
		w.t.Fatal(err)
	}
}

// run makes one cut and checks what follows. It runs in a goroutine of its own
// and returns failures as errors. The first cut compiles the policies for the
// others.
func (c *cut) run(ctx context.Context, first *cut) error {
	if c != first {
		select {
		case <-first.works:
		case <-first.done:
		}
	}
	share := c.bob.start("share")
	if _, err := share.wait("profile  reviewer"); err != nil {
		return err
	}
	host := c.ann.start("run", "--headless", "-o", "jsonl")
	opened, err := host.wait("room.opened")
	if err != nil {
		return err
	}
	e, err := room.UnmarshalEvent([]byte(opened))
	if err != nil {
		return err
	}
	c.room = e.Body.(room.Opened).Spec.Room
	pipe, err := os.OpenFile(filepath.Join(c.bob.dir, "go"), os.O_RDWR, 0) // both ways, so that nobody need be there yet
	if err != nil {
		return err
	}
	defer pipe.Close()
	if err := c.interrupt(ctx, pipe); err != nil {
		return err
	}
	ran := host.end()
	if err := share.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if code := share.end(); code != app.ExitOK || ran != app.ExitLimit {
		return fmt.Errorf("run ended with %d, share with %d\nrun: %s\nshare: %s", ran, code, host.stderr, share.stderr)
	}
	return nil
}

// interrupt cuts the network once the agent works, and restores it. The agent
// answers during the cut or directly after it.
func (c *cut) interrupt(ctx context.Context, pipe io.StringWriter) error {
	for deadline := time.Now().Add(5 * time.Minute); c.runs() == 0; {
		if time.Now().After(deadline) {
			return errors.New("the shared agent was not asked")
		}
		time.Sleep(50 * time.Millisecond) // the agent is a shell script: a file is all it can tell
	}
	close(c.works)
	answer, over := time.After(c.lasts), time.After(c.lasts)
	if c.early {
		answer = time.After(c.lasts / 2)
	}
	for _, side := range c.sides {
		c.ways[side].cut()
	}
	for answer != nil || over != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-answer:
			answer = nil
			if _, err := pipe.WriteString("go\n"); err != nil {
				return err
			}
		case <-over:
			over = nil
			for _, side := range c.sides {
				c.ways[side].restore()
			}
		}
	}
	return nil
}

func (c *cut) check(t *testing.T) {
	<-c.done
	if c.err != nil {
		t.Fatal(c.err)
	}
	c.t = t
	c.once(c.room, posted)
	for _, side := range c.sides {
		if n := c.ways[side].connections(); c.forgets && n < 2 {
			t.Errorf("the %s had %d connections: it was not cut", side, n)
		}
	}
}
