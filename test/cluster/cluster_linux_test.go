// Package cluster tests several nodes of `moot serve` under faults: processes, servers, disks
// and networks fail while agents talk and people post over the HTTP API. At the end the log
// must hold each acknowledged message once, in one chain, and no turn may have run twice.
package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/folkmoot/moot/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"moot": cli.Main, natsCommand: natsServer})
}

// TestFaultsOnPostgres injects some faults into three nodes whose log is in PostgreSQL. With
// MOOT_CLUSTER_FAULTS=1000 it injects as many, of more kinds: for root each node has a network
// and a disk of its own, which fail too. That needs ip, nft and about three hours.
func TestFaultsOnPostgres(t *testing.T) {
	runFaults(t, func(c *cluster) servers { return startPostgres(c) }, 5)
}

// TestFaultsOnNATS is TestFaultsOnPostgres with three servers of NATS, by hand only: such
// servers need half a minute to make the streams and to elect leaders.
func TestFaultsOnNATS(t *testing.T) {
	if os.Getenv(faultsVariable) == "" {
		t.Skip(faultsVariable + " is not set")
	}
	runFaults(t, func(c *cluster) servers { return startNATS(c) }, 0)
}

// faultsVariable is the number of faults of a long run.
const faultsVariable = "MOOT_CLUSTER_FAULTS"

func runFaults(t *testing.T, start func(*cluster) servers, faults int) {
	n, err := strconv.Atoi(os.Getenv(faultsVariable))
	long := err == nil
	if long {
		faults = n
	}
	dir, err := os.MkdirTemp("", "moot-cluster")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // an agent may end later than its node
	c := &cluster{t: t, dir: dir, isolated: long && os.Getuid() == 0, rand: rand.New(rand.NewPCG(uint64(faults), 1)), stalls: map[string][]time.Duration{}}
	if c.isolated {
		c.makeNetwork()
	}
	c.servers = start(c)
	c.startNodes(3)
	rooms := 3
	if long {
		rooms = 9
	}
	c.startRooms(rooms)
	kinds := c.kinds(long)
	for i := range faults {
		c.inject(kinds[i%len(kinds)])
		if t.Failed() {
			break
		}
		if long && i%10 == 9 {
			t.Logf("%d faults; %s", i+1, c.summary())
		}
	}
	c.stopPeople()
	c.stopNodes()
	c.check()
	t.Log(c.summary())
}

// A cluster is three nodes, the servers of their log, and rooms in which people post.
type cluster struct {
	t        *testing.T
	dir      string
	isolated bool // each node has a network and a disk of its own
	rand     *rand.Rand
	servers  servers
	nodes    []*node
	meetings []*meeting
	end      chan struct{} // closed when the people stop
	people   sync.WaitGroup
	stalls   map[string][]time.Duration // by kind of fault
}

// servers keep the log.
type servers interface {
	// url is the address of the log for the nodes.
	url() string
	// open opens the log for reading.
	open() roomLog
	// fail kills a server, calls during, and starts it again. Where there is one server,
	// during is called when it is back.
	fail(during func())
}

// A fault is a kind of fault. It calls progress while it lasts, or when it has ended if
// nothing can go on before.
type fault struct {
	name   string
	inject func(n *node, progress func())
}

func (c *cluster) kinds(long bool) []fault {
	kill := fault{"node killed", func(n *node, progress func()) { n.kill(); progress(); n.start() }}
	server := fault{"server killed", func(_ *node, progress func()) { c.servers.fail(progress) }}
	freeze := fault{"node frozen", func(n *node, progress func()) { n.freeze(); progress(); c.holdLease(long); n.thaw() }}
	restart := fault{"node restarted", func(n *node, progress func()) { n.stop(); n.start(); progress() }}
	if !long {
		return []fault{kill, restart, server, kill, freeze}
	}
	kinds := []fault{kill, freeze, server, kill, restart, server}
	if walltime := c.walltime(); walltime != "" {
		kinds = append(kinds, fault{"clock jumps", func(n *node, progress func()) {
			n.kill()
			n.under = []string{walltime, "0,86400,-86400,315360000"}
			n.start()
			n.under = nil
			progress()
		}})
	}
	if c.isolated {
		kinds = append(kinds,
			fault{"network cut", func(n *node, progress func()) { n.cut(true); progress(); c.holdLease(long); n.cut(false) }},
			fault{"disk full", func(n *node, progress func()) { free := n.fillDisk(); progress(); free() }})
	}
	return kinds
}

// holdLease waits in a long run until the lease of a node has ended, also of one that holds no
// room.
func (c *cluster) holdLease(long bool) {
	if long {
		time.Sleep(7 * time.Second)
	}
}

// inject injects a fault into a node and measures how long a room makes no progress.
func (c *cluster) inject(f fault) {
	n := c.nodes[c.rand.IntN(len(c.nodes))]
	f.inject(n, func() { c.stalls[f.name] = append(c.stalls[f.name], c.progress(f.name)) })
	c.progress("after " + f.name)
}

// progress waits until each room has acknowledged a message that was posted after now, and
// returns how long that takes.
func (c *cluster) progress(what string) time.Duration {
	began := time.Now()
	for _, m := range c.meetings {
		for !m.ackedSince(began) {
			if time.Since(began) > 3*time.Minute {
				c.t.Fatalf("%s: room %s has made no progress for 3 minutes\n%s", what, m.room, c.stderr())
			}
			if c.t.Failed() {
				c.t.FailNow()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return time.Since(began)
}

// summary says how long rooms were without progress, by kind of fault.
func (c *cluster) summary() string {
	text := ""
	var all []time.Duration
	for _, name := range slices.Sorted(maps.Keys(c.stalls)) {
		s := slices.Sorted(slices.Values(c.stalls[name]))
		all = append(all, s...)
		text += fmt.Sprintf("%s: %d, median %.1f s, longest %.1f s; ", name, len(s), s[len(s)/2].Seconds(), s[len(s)-1].Seconds())
	}
	slices.Sort(all)
	if len(all) == 0 {
		return "no faults"
	}
	acked := 0
	for _, m := range c.meetings {
		acked += m.count()
	}
	return fmt.Sprintf("%sall: p99 %.1f s, %d messages acknowledged", text, all[len(all)*99/100].Seconds(), acked)
}

// stderr returns what the nodes have printed.
func (c *cluster) stderr() (text string) {
	for _, n := range c.nodes {
		b, _ := os.ReadFile(filepath.Join(n.dir, "stderr"))
		text += fmt.Sprintf("%s:\n%.4000s\n", n.name, b[max(0, len(b)-4000):])
	}
	return text
}
