package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/cluster"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/room/log"
)

// nodeCommand is the first argument of a process of rooms. The second one is its nodeSetup.
const nodeCommand = "node"

// openTime bounds how long the servers of a new cluster need until they keep rooms.
const openTime = time.Minute

// runNode runs rooms as the calls on the standard input say, until it ends. The rooms are not
// brought to rest, as their data is removed next.
func runNode(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("node needs a setup")
	}
	var s nodeSetup
	if err := json.Unmarshal([]byte(args[0]), &s); err != nil {
		return err
	}
	defer profiled(s.Profile)()
	n := &nodeCalls{h: &loadHost{dir: s.Dir}, heap: s.Heap}
	if err := n.open(ctx, s); err != nil {
		return err
	}
	calls := rpc.NewServer()
	if err := calls.RegisterName("Node", n); err != nil {
		return err
	}
	calls.ServeConn(stdio{os.Stdin, os.Stdout})
	return nil
}

// stdio is the connection between a process of rooms and the one that has started it.
type stdio struct {
	io.ReadCloser
	io.WriteCloser
}

func (s stdio) Close() error { return errors.Join(s.ReadCloser.Close(), s.WriteCloser.Close()) }

// nodeCalls are the calls that a process of rooms answers.
type nodeCalls struct {
	h    *loadHost
	node *cluster.Node // nil for a process alone
	heap string        // file of a profile of the heap, which each measurement replaces; "" is none
}

// open opens the host as `moot serve` does, with --node or --cluster where there are other
// processes.
func (n *nodeCalls) open(ctx context.Context, s nodeSetup) error {
	w, err := n.h.wiring()
	if err != nil {
		return err
	}
	w.AllRooms, w.Settings.LogURL = true, s.LogURL
	if s.Machine != "" {
		if w.Cluster, err = w.StartCluster(s.Machine); err != nil {
			return err
		}
		if err := awaitLog(w); err != nil {
			return err
		}
	}
	if s.Nodes > 1 {
		return n.join(ctx, w, s.Nodes)
	}
	n.h.Host, err = w.OpenHost()
	return err
}

// awaitLog waits until the servers of the cluster keep rooms.
func awaitLog(w moot.Wiring) error {
	for end := time.Now().Add(openTime); ; time.Sleep(200 * time.Millisecond) {
		l, err := w.OpenLog(false)
		if err == nil {
			return l.Close()
		}
		if time.Now().After(end) {
			return err
		}
	}
}

// join opens the host as a node, and returns when all nodes are there: a room is not moved
// then.
func (n *nodeCalls) join(ctx context.Context, w moot.Wiring, nodes int) error {
	l, err := cluster.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	w.Node = func(registry log.Members, _ func(string) string) (moot.Node, error) {
		n.node, err = cluster.Join(ctx, cluster.Config{Members: registry, Address: l.Addr().String()})
		if err != nil {
			return nil, err
		}
		return n.node, nil
	}
	if n.h.Host, err = w.OpenHost(); err != nil {
		return err
	}
	n.h.owns = n.node.Owns
	rooms := server.New(server.Config{Host: n.h.Host})
	go n.node.Run(ctx, func() { n.h.DropLost(ctx) }) // these end with the process
	go n.node.Mover(n.h.Host).Run(ctx)
	go func() {
		_ = rooms.Serve(ctx, n.node.Secure(l), n.node.Handler(n.h.Host, rooms.NodeHandler()))
	}()
	for changed := n.node.Changed(); len(n.node.Peers()) < nodes-1; changed = n.node.Changed() {
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// An Opening says which rooms are opened.
type Opening struct {
	Kind  string // of their agents
	Rooms int
}

// Open opens rooms. Those whose agents wait are open when an agent of each is asked.
func (n *nodeCalls) Open(o Opening, _ *struct{}) error {
	before := n.h.turns.Load()
	_, err := n.h.openAll(context.Background(), o.Rooms, o.Kind, forever)
	if err != nil || o.Kind != "waits" {
		return err
	}
	return n.h.reach(context.Background(), before+int64(o.Rooms))
}

// A Span of time is observed, in which agents think for Think.
type Span struct{ Think, For time.Duration }

// Observed is what a process has measured in a span of time.
type Observed struct {
	Gaps, Writes []time.Duration // as in an observation
	Appends      int64
	Took, Used   time.Duration // Used is of the processor
}

// Observe measures what the rooms do.
func (n *nodeCalls) Observe(s Span, seen *Observed) error {
	n.h.think.Store(int64(s.Think))
	o, used := &observation{}, processor()
	seen.Took = n.h.observe(context.Background(), o, s.For)
	seen.Used = processor() - used
	o.mu.Lock()
	defer o.mu.Unlock()
	seen.Gaps, seen.Writes, seen.Appends = o.gaps, o.writes, o.appends.Load()
	return nil
}

// Held is the memory of a process, in bytes.
type Held struct{ Heap, Resident uint64 }

// Memory returns the heap with the stacks, and what is resident.
func (n *nodeCalls) Memory(_ struct{}, m *Held) error {
	m.Heap, m.Resident = memory()
	return writeHeap(n.heap)
}

// A nodeProcess is a process of rooms.
type nodeProcess struct {
	cmd   *exec.Cmd
	calls *rpc.Client
}

// nodes are the processes that share a log.
type nodes []*nodeProcess

// startNodes starts the processes, which answer calls when they are ready.
func startNodes(ctx context.Context, setups []nodeSetup) (all nodes, err error) {
	for _, s := range setups {
		n, err := startNode(ctx, s)
		if err != nil {
			return nil, errors.Join(err, all.end())
		}
		all = append(all, n)
	}
	return all, nil
}

func startNode(ctx context.Context, s nodeSetup) (*nodeProcess, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	setup, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, nodeCommand, string(setup))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &nodeProcess{cmd, rpc.NewClient(stdio{out, in})}, nil
}

// end ends the processes.
func (all nodes) end() (err error) {
	for _, n := range all {
		err = errors.Join(err, n.calls.Close())
	}
	for _, n := range all {
		err = errors.Join(err, n.cmd.Wait())
	}
	return err
}

// call calls all processes at the same time. args are those for process i; replies are in the
// order of the processes.
func call[A, R any](all nodes, method string, args func(i int) A) ([]R, error) {
	replies, errs := make([]R, len(all)), make([]error, len(all))
	var calling sync.WaitGroup
	for i, n := range all {
		calling.Go(func() { errs[i] = n.calls.Call("Node."+method, args(i), &replies[i]) })
	}
	calling.Wait()
	return replies, errors.Join(errs...)
}
