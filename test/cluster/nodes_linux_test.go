package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/folkmoot/moot/internal/cli/servecmd"
)

// A node is a process of `moot serve`, in a folder of its own.
type node struct {
	c     *cluster
	name  string
	dir   string
	net   string   // its network namespace; "" is that of the test
	addr  string   // for other nodes
	args  []string // before moot: a namespace to run in
	under []string // a program under which moot runs

	mu     sync.Mutex
	cmd    *exec.Cmd
	ended  chan struct{}
	client *http.Client // over its socket
}

func (c *cluster) startNodes(count int) {
	c.t.Cleanup(func() {
		for _, n := range c.nodes {
			n.kill()
		}
	})
	var starting sync.WaitGroup
	for i := range count {
		n := &node{c: c, name: fmt.Sprint("node", i), addr: "127.0.0.1:0", dir: filepath.Join(c.dir, fmt.Sprint("node", i))}
		if err := os.MkdirAll(n.dir, 0o700); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(n.dir, "agent.sh"), []byte(agent), 0o600); err != nil {
			c.t.Fatal(err)
		}
		if c.isolated {
			n.isolate(i)
		}
		c.nodes = append(c.nodes, n)
		starting.Go(n.start)
	}
	starting.Wait()
	if c.t.Failed() {
		c.t.FailNow()
	}
}

// start starts the process and waits until it serves.
func (n *node) start() {
	args := append(append(n.args[:len(n.args):len(n.args)], n.under...), "moot", "serve", "--listen", "none", "--node", n.addr, "-o", "jsonl")
	cmd := exec.Command(args[0], args[1:]...)
	moot, err := exec.LookPath("moot")
	if err != nil {
		n.c.t.Error(err)
		return
	}
	cmd.Dir = n.dir
	cmd.Env = append(os.Environ(), "HOME="+n.dir, "MOOT_DATA="+n.data(), "MOOT_LOG="+n.c.servers.url(),
		"MOOT_CACHE="+filepath.Join(filepath.Dir(filepath.Dir(moot)), "cache"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := os.OpenFile(filepath.Join(n.dir, "stderr"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		n.c.t.Error(err)
		return
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		n.c.t.Error(err)
		return
	}
	ended := make(chan struct{})
	lines := bufio.NewScanner(out)
	var at servecmd.Serving
	ready := lines.Scan() && json.Unmarshal(lines.Bytes(), &at) == nil
	go func() {
		for lines.Scan() {
		}
		_ = cmd.Wait() // it is ended by a signal
		close(ended)
	}()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cmd, n.ended = cmd, ended
	if !ready {
		n.c.t.Errorf("%s does not start", n.name)
		return
	}
	n.client = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", at.Socket)
		},
	}}
}

func (n *node) data() string { return filepath.Join(n.dir, "data") }

// post posts JSON to the node, and decodes the answer. status is 0 without an answer.
func (n *node) post(within time.Duration, path string, in, out any) (status int, err error) {
	ctx, cancel := context.WithTimeout(n.c.t.Context(), within)
	defer cancel()
	n.mu.Lock()
	client := n.client
	n.mu.Unlock()
	body, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://moot"+path, strings.NewReader(string(body)))
	if err != nil {
		return 0, err
	}
	q.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(q)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var answer json.RawMessage
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, err
	}
	if resp.StatusCode/100 != 2 {
		return resp.StatusCode, fmt.Errorf("%s: %s", resp.Status, answer)
	}
	if out != nil {
		err = json.Unmarshal(answer, out)
	}
	return resp.StatusCode, err
}

// signal signals the process and those that it has started in its group.
func (n *node) signal(s syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd != nil {
		_ = syscall.Kill(-n.cmd.Process.Pid, s) // it may have ended
	}
}

// kill kills the process. Its agents notice that and end.
func (n *node) kill() {
	n.signal(syscall.SIGKILL)
	n.wait()
}

// stop ends the process as an operator does: it hands over its rooms.
func (n *node) stop() {
	n.signal(syscall.SIGTERM)
	n.mu.Lock()
	ended := n.ended
	n.mu.Unlock()
	select {
	case <-ended:
	case <-time.After(5 * time.Minute):
		n.signal(syscall.SIGQUIT) // it prints its goroutines
		n.wait()
		n.c.t.Errorf("%s does not end", n.name)
	}
}

func (n *node) wait() {
	n.mu.Lock()
	ended := n.ended
	n.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

func (n *node) freeze() { n.signal(syscall.SIGSTOP) }
func (n *node) thaw()   { n.signal(syscall.SIGCONT) }

func (c *cluster) stopNodes() {
	var stopping sync.WaitGroup
	for _, n := range c.nodes {
		stopping.Go(n.stop)
	}
	stopping.Wait()
}

// run runs a program of the system.
func (c *cluster) run(program string, args ...string) {
	c.t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		c.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// Each isolated node has an address in this network. The servers have that of the bridge.
const (
	bridge        = "mootbr"
	bridgeAddress = "10.77.0.1"
)

// makeNetwork makes the bridge between the networks of the nodes.
func (c *cluster) makeNetwork() {
	_ = exec.Command("ip", "link", "del", bridge).Run() // of a test that was killed
	c.run("ip", "link", "add", bridge, "type", "bridge")
	c.t.Cleanup(func() { c.run("ip", "link", "del", bridge) })
	c.run("ip", "addr", "add", bridgeAddress+"/24", "dev", bridge)
	c.run("ip", "link", "set", bridge, "up")
}

// isolate gives the node a network namespace and a small disk.
func (n *node) isolate(i int) {
	c, ns := n.c, "moot"+fmt.Sprint(i)
	_ = exec.Command("ip", "netns", "del", ns).Run() // of a test that was killed
	_ = exec.Command("ip", "link", "del", ns).Run()
	c.run("ip", "netns", "add", ns)
	c.t.Cleanup(func() { n.kill(); c.run("ip", "netns", "del", ns) })
	c.run("ip", "link", "add", ns, "type", "veth", "peer", "name", "eth0", "netns", ns)
	c.run("ip", "link", "set", ns, "master", bridge, "up")
	address := fmt.Sprintf("10.77.0.%d", 11+i)
	for _, args := range [][]string{{"addr", "add", address + "/24", "dev", "eth0"}, {"link", "set", "eth0", "up"}, {"link", "set", "lo", "up"}} {
		c.run("ip", append([]string{"-n", ns}, args...)...)
	}
	n.net, n.addr, n.args = ns, address+":8422", []string{"ip", "netns", "exec", ns}
	if err := os.MkdirAll(n.data(), 0o700); err != nil {
		c.t.Fatal(err)
	}
	c.run("mount", "-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs", n.data())
	c.t.Cleanup(func() { n.kill(); c.run("umount", "-l", n.data()) })
}

// cut drops all packets of the node, or ends that.
func (n *node) cut(off bool) {
	rules := "delete table inet cut"
	if off {
		rules = `table inet cut {
			chain in { type filter hook input priority 0; iifname "eth0" drop; }
			chain out { type filter hook output priority 0; oifname "eth0" drop; }
		}`
	}
	n.c.run("ip", "netns", "exec", n.net, "nft", rules)
}

// fillDisk fills the disk of the node's data folder until free is called.
func (n *node) fillDisk() (free func()) {
	path := filepath.Join(n.data(), "filler")
	f, err := os.Create(path)
	if err != nil {
		n.c.t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); err != nil {
			break // it is full
		}
	}
	return func() { _ = unix.Unlink(path) }
}

// walltime builds the program under which the clock jumps.
func (c *cluster) walltime() string {
	path := filepath.Join(c.dir, "walltime")
	if out, err := exec.Command("go", "build", "-o", path, "../faults/walltime").CombinedOutput(); err != nil {
		c.t.Logf("the clock is left alone: %v\n%s", err, out)
		return ""
	}
	return path
}
