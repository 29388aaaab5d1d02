// Package cluster tests several nodes of `moot serve` under faults: processes, servers, disks
// and networks fail while agents talk and people post over the HTTP API. At the end the log
// must hold each acknowledged message once, in one chain, and no turn may have run twice.
//
// A long run needs root, ip and nft: each node and each server of NATS is then a machine with a
// network, a disk and process ids of its own. Several runs may go on next to each other, with
// different seeds:
//
//	MOOT_CLUSTER_FAULTS=100 MOOT_CLUSTER_SEED=7 go test ./test/cluster -run NATS -v -timeout 3h
package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/folkmoot/moot/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"moot": cli.Main, natsCommand: natsServer})
}

// TestFaultsOnPostgres injects some faults into three nodes whose log is in PostgreSQL, and
// more of more kinds in a long run.
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

// Variables of the environment.
const (
	faultsVariable = "MOOT_CLUSTER_FAULTS" // number of faults of a long run
	seedVariable   = "MOOT_CLUSTER_SEED"   // of its random choices; 0 by default
)

func runFaults(t *testing.T, start func(*cluster) servers, faults int) {
	n, err := strconv.Atoi(os.Getenv(faultsVariable))
	long := err == nil
	if long {
		faults = n
	}
	seed, _ := strconv.ParseUint(os.Getenv(seedVariable), 10, 64)
	dir, err := os.MkdirTemp("", "moot-cluster")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if long && t.Failed() {
			t.Logf("what the processes have printed and stored is below %s", dir)
			return
		}
		_ = os.RemoveAll(dir) // an agent may end later than its node
	})
	c := &cluster{t: t, dir: dir, long: long, isolated: long && os.Getuid() == 0, seed: seed, rand: rand.New(rand.NewPCG(seed, 1)), think: "0.2"}
	rooms := 3
	if long {
		rooms, c.think = 6, "2" // a turn starts a process: long turns leave the processors to other clusters
	}
	if c.isolated {
		c.makeNetwork()
	}
	c.servers = start(c)
	c.startNodes(3)
	c.startRooms(rooms)
	c.injectAll(faults)
	c.stopPeople()
	c.stopNodes()
	c.check()
	t.Log(c.report.String())
}

// A cluster is three nodes, the servers of their log, and rooms in which people post.
type cluster struct {
	t        *testing.T
	dir      string
	long     bool
	isolated bool // each node is a machine with a network and a disk of its own
	network  int  // the number of the network of these machines
	seed     uint64
	rand     *rand.Rand
	think    string // seconds that an agent needs for a turn
	servers  servers
	nodes    []*node
	meetings []*meeting
	end      chan struct{} // closed when the people stop
	people   sync.WaitGroup
	report   report
	lag      lag
}

// servers keep the log.
type servers interface {
	// url is the address of the log for the nodes.
	url() string
	// open opens the log for reading.
	open() roomLog
	// faults are the kinds of faults of the servers.
	faults() []fault
	// recovered returns when the servers are again as they were before a fault.
	recovered()
}

// A fault is a kind of fault. It calls progress while it lasts, or when it has ended if
// nothing can go on before.
type fault struct {
	name   string
	inject func(progress func())
}

// A target is a node or a server, into which faults are injected.
type target interface {
	start()
	kill()
	running() bool
	freeze()
	thaw()
	startUnder(program ...string)
	cut(bool)
	fillDisk() (free func())
}

// faultsOf are the kinds of faults of nodes or of servers, of which pick chooses one.
func (c *cluster) faultsOf(what string, pick func() target) []fault {
	kinds := []fault{
		{what + " killed", func(progress func()) { t := pick(); t.kill(); progress(); t.start() }},
		{what + " frozen", func(progress func()) { t := pick(); t.freeze(); progress(); c.holdLease(); t.thaw() }},
	}
	if !c.long {
		return kinds
	}
	if walltime := c.walltime(); walltime != "" {
		kinds = append(kinds, fault{what + " with a clock that jumps", func(progress func()) {
			t := pick()
			t.kill()
			t.startUnder(walltime, "0,86400,-86400,315360000")
			progress()
			c.holdLease()
			t.kill()
			t.start()
		}})
	}
	if c.isolated {
		kinds = append(kinds,
			fault{what + " cut off", func(progress func()) { t := pick(); t.cut(true); progress(); c.holdLease(); t.cut(false) }},
			fault{what + " with a full disk", func(progress func()) {
				t := pick()
				free := t.fillDisk()
				progress()
				c.holdLease()
				free()
				if !t.running() { // a server ends when it cannot store
					t.start()
				}
			}})
	}
	return kinds
}

func (c *cluster) faults() []fault {
	pick := func() *node { return c.nodes[c.rand.IntN(len(c.nodes))] }
	restart := fault{"node restarted", func(progress func()) { n := pick(); n.stop(); n.start(); progress() }}
	all := append(c.faultsOf("node", func() target { return pick() }), restart)
	return append(all, c.servers.faults()...)
}

// holdLease waits in a long run until the lease of a node has ended, also of one that holds no
// room.
func (c *cluster) holdLease() {
	if c.long {
		time.Sleep(7 * time.Second)
	}
}

// injectAll injects faults. Each kind comes once before one comes again, in another order each time.
func (c *cluster) injectAll(count int) {
	kinds := c.faults()
	var measuring sync.WaitGroup
	defer measuring.Wait()
	ctx, stop := context.WithCancel(c.t.Context())
	defer stop()
	measuring.Go(func() { c.lag.run(ctx) })
	for i := range count {
		if i%len(kinds) == 0 {
			c.rand.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		}
		c.inject(kinds[i%len(kinds)])
		if c.t.Failed() {
			return
		}
		if c.long && i%10 == 9 {
			c.t.Logf("%s, seed %d: %d faults, stalls %s; load %s", time.Now().Format(time.TimeOnly), c.seed, i+1, c.report.stalls.all(), load())
		}
	}
}

// inject injects a fault, and measures the longest time in which a room acknowledged nothing
// until all is well again.
func (c *cluster) inject(f fault) {
	for _, m := range c.meetings {
		m.watch()
	}
	c.lag.reset()
	f.inject(func() { c.progress(f.name) })
	c.servers.recovered()
	c.progress("after " + f.name)
	var longest time.Duration
	for _, m := range c.meetings {
		longest = max(longest, m.stall())
	}
	c.report.stalls.add(f.name, longest)
	lag := c.lag.reset()
	if lag < calm {
		c.report.calm.add(f.name, longest)
	}
	if c.long {
		c.t.Logf("%s, seed %d: %s: no progress for %.1f s, lag %.1f s; load %s", time.Now().Format(time.StampMilli), c.seed, f.name, longest.Seconds(), lag.Seconds(), load())
	}
}

// calm is the lag up to which the machine was not so busy that it caused a stall.
const calm = 500 * time.Millisecond

// progress waits until each room has acknowledged a message after now.
func (c *cluster) progress(what string) {
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
}

// load returns the load of this machine.
func load() string {
	b, _ := os.ReadFile("/proc/loadavg") // for messages only
	return strings.TrimSpace(string(b))
}

// stderr returns what the nodes have printed.
func (c *cluster) stderr() (text string) {
	for _, n := range c.nodes {
		b, _ := os.ReadFile(filepath.Join(n.dir, "stderr"))
		text += fmt.Sprintf("%s:\n%.4000s\n", n.name, b[max(0, len(b)-4000):])
	}
	return text
}
