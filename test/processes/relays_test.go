//go:build unix

package processes

import (
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/relaycmd"
)

// startRelay starts a relay on a port. MOOT_TEST_RELAYS=3 starts three that are one
// in its place, the first of which is returned; then the tests of a relay are those of
// a group.
func startRelay(t *testing.T, b *workbench, port string) *running {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("MOOT_TEST_RELAYS")); err == nil && n > 1 {
		g, had := relayGroups.Load(port)
		if !had {
			g = newRelayGroup(t, b, port, n)
			relayGroups.Store(port, g)
			return g.(*relayGroup).relays[0]
		}
		return g.(*relayGroup).start()
	}
	r := b.start("relay", "--listen", "127.0.0.1:"+port, "--open", "--log-level", "debug")
	r.until(t, "ws://")
	return r
}

// relayGroups are those that startRelay has made, by port.
var relayGroups sync.Map

// A relayGroup is several relays that are one, behind a load balancer that connects
// devices to each in turn.
type relayGroup struct {
	t      *testing.T
	b      *workbench
	host   string
	nats   *relaytest.NATS
	relays []*running
	at     []relaycmd.RunningRelay // of relays
	work   sync.WaitGroup

	mu      sync.Mutex
	targets []string
	next    int
	conns   []net.Conn
}

func newRelayGroup(t *testing.T, b *workbench, port string, n int) *relayGroup {
	t.Helper()
	g := &relayGroup{t: t, b: b, host: "127.0.0.1:" + port, nats: relaytest.StartNATS(t, "a-secret")}
	l, err := net.Listen("tcp", g.host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		g.closeConns()
		g.work.Wait()
	})
	for range n {
		g.start()
	}
	g.work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.work.Go(func() { g.balance(c) })
		}
	})
	return g
}

// start starts one more relay.
func (g *relayGroup) start() *running {
	g.t.Helper()
	address := "127.0.0.1:" + freePort(g.t)
	cmd := exec.Command("moot", "relay", "--listen", address, "--host", g.host, "--open", "--log-level", "debug", "--metrics", "127.0.0.1:0", "-o", "jsonl")
	cmd.Dir, cmd.Env = g.b.dir, append(slices.Clone(g.b.env), "MOOT_RELAY_NATS="+g.nats.URL("test"))
	r := g.b.begin(cmd)
	var at relaycmd.RunningRelay
	decodeLine(g.t, r.until(g.t, "url"), &at)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.relays, g.at, g.targets = append(g.relays, r), append(g.at, at), append(g.targets, address)
	return r
}

// balance connects a client to the next relay that listens.
func (g *relayGroup) balance(c net.Conn) {
	defer c.Close()
	relay := g.dial()
	if relay == nil {
		return
	}
	defer relay.Close()
	g.mu.Lock()
	g.conns = append(g.conns, c, relay)
	g.mu.Unlock()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(c, relay) // its end is the connection's
		c.Close()
	})
	_, _ = io.Copy(relay, c)
	relay.Close()
	back.Wait()
}

func (g *relayGroup) dial() net.Conn {
	g.mu.Lock()
	targets, first := g.targets, g.next
	g.next++
	g.mu.Unlock()
	for i := range targets {
		if c, err := net.Dial("tcp", targets[(first+i)%len(targets)]); err == nil {
			return c
		}
	}
	return nil
}

func (g *relayGroup) closeConns() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.conns {
		c.Close()
	}
}

// metric returns the sum of a metric over the relays that can be asked.
func (g *relayGroup) metric(name string) (sum int) {
	g.t.Helper()
	for i, at := range g.at {
		if g.relays[i].ProcessState != nil {
			continue
		}
		m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\d+)$`).FindStringSubmatch(counters(g.t, at.Metrics))
		if m == nil {
			g.t.Fatalf("there is no metric %s", name)
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			g.t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// awaitMetric waits until a metric is as wanted.
func (g *relayGroup) awaitMetric(name string, want func(int) bool) {
	g.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !want(g.metric(name)); time.Sleep(20 * time.Millisecond) { // metrics cannot be waited for
		if time.Now().After(deadline) {
			g.t.Fatalf("%s is %d", name, g.metric(name))
		}
	}
}

// TestSharedOverTwoRelays: two devices pair and take turns through two relays that
// are one. In the middle of a turn NATS is restarted, and then the relay is killed
// that the shared agent's device is connected to. The turn is answered once.
func TestSharedOverTwoRelays(t *testing.T) {
	w := newOwners(t, slowAgent)
	g := newRelayGroup(t, w.ann, w.port, 2)
	w.pair()
	w.startShare()
	r := w.ann.start("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{r.until(t, "room.opened")})
	w.working()
	if n := g.metric(`moot_relay_nats_frames_total{direction="in"}`); n == 0 {
		t.Error("no frame went from relay to relay")
	}
	g.nats.Stop()
	g.awaitMetric("moot_relay_nats_connected", func(n int) bool { return n == 0 })
	g.nats.Start()
	g.awaitMetric("moot_relay_nats_connected", func(n int) bool { return n == 2 })
	g.relays[0].kill(t)
	w.bob.write("go", "")
	if code := r.end(); code != app.ExitLimit {
		t.Errorf("exit code %d\n%s", code, r.stderr)
	}
	w.once(id, posted)
	if err := g.relays[1].Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := g.relays[1].end(); code != app.ExitOK {
		t.Errorf("a relay ended with %d", code)
	}
	for _, relay := range g.relays {
		for _, secret := range []string{"a-secret", "hello", "Try it.", "reviewer", id, w.bob.device(), w.ann.device()} {
			if strings.Contains(relay.stderr.String(), secret) {
				t.Errorf("the log of a relay holds %q", secret)
			}
		}
		if !strings.Contains(relay.stderr.String(), "not connected to NATS") {
			t.Errorf("a relay did not say that NATS was away:\n%s", relay.stderr)
		}
	}
}
