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
	"time"

	"github.com/folkmoot/moot/internal/cli/servecmd"
)

// A node is a process of `moot serve`, in a folder of its own.
type node struct {
	*machine
	dir    string
	listen string // address for other nodes
	client *http.Client
	lock   sync.Mutex // of client, which is for the socket of the process that runs
}

func (c *cluster) startNodes(count int) {
	var starting sync.WaitGroup
	for i := range count {
		name := fmt.Sprint("node", i)
		n := &node{dir: filepath.Join(c.dir, name), listen: "127.0.0.1:0"}
		n.machine = c.newMachine(name, 11+i, n.data(), "16m")
		if c.isolated {
			n.listen = n.address + ":8422"
		}
		if err := os.WriteFile(filepath.Join(n.dir, "agent.sh"), []byte(agent), 0o600); err != nil {
			c.t.Fatal(err)
		}
		c.nodes = append(c.nodes, n)
		starting.Go(n.start)
	}
	starting.Wait()
	if c.t.Failed() {
		c.t.FailNow()
	}
}

func (c *cluster) stopNodes() {
	var stopping sync.WaitGroup
	for _, n := range c.nodes {
		stopping.Go(n.stop)
	}
	stopping.Wait()
}

func (n *node) data() string { return filepath.Join(n.dir, "data") }

func (n *node) start() { n.startUnder() }

// startUnder starts the process under another program, and waits until it serves. As a
// service manager does, it starts it again if it ends, as it does while the servers of the log do not
// answer.
func (n *node) startUnder(program ...string) {
	var err error
	for range startTries {
		if err = n.launch(program); err == nil {
			return
		}
		n.kill()
	}
	n.c.t.Errorf("%s does not start: %v\n%s", n.name, err, n.c.stderr())
}

// startTries is how often a node is started that ends at once.
const startTries = 10

func (n *node) launch(under []string) error {
	moot, err := exec.LookPath("moot")
	if err != nil {
		return err
	}
	cmd := n.command(append(under, "moot", "serve", "--listen", "none", "--node", n.listen, "-o", "jsonl", "--log-level", "info"))
	cmd.Dir = n.dir
	cmd.Env = append(os.Environ(), "HOME="+n.dir, "MOOT_DATA="+n.data(), "MOOT_LOG="+n.c.servers.url(),
		"MOOT_CACHE="+filepath.Join(filepath.Dir(filepath.Dir(moot)), "cache"))
	stderr, err := os.OpenFile(filepath.Join(n.dir, "stderr"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer stderr.Close()
	fmt.Fprintf(stderr, "%s: the process starts\n", time.Now().Format(time.RFC3339Nano))
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	var at servecmd.Serving
	err = fmt.Errorf("it printed nothing")
	if lines.Scan() {
		err = json.Unmarshal(lines.Bytes(), &at)
	}
	n.runs(cmd, func() {
		for lines.Scan() {
		}
	})
	n.lock.Lock()
	defer n.lock.Unlock()
	n.client = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", at.Socket)
		},
	}}
	return err
}

// post posts JSON to the node, and decodes the answer. status is 0 without an answer.
func (n *node) post(ctx context.Context, path string, in, out any) (status int, err error) {
	n.lock.Lock()
	client := n.client
	n.lock.Unlock()
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
