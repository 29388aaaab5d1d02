package jetstream_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// nodeVariable has the options of the server that this program then is.
const nodeVariable = "JETSTREAM_TEST_NODE"

// nodeOptions are the options that differ between the servers of a test.
type nodeOptions struct {
	Name, Dir, Routes string
	Port, ClusterPort int
	SyncAlways        bool
}

// runNode runs a server until standard input ends, which it does with the test.
func runNode(options string) int {
	var n nodeOptions
	if err := json.Unmarshal([]byte(options), &n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	o := server.Options{
		ServerName: n.Name, Host: "127.0.0.1", Port: n.Port, JetStream: true, StoreDir: n.Dir,
		SyncAlways: n.SyncAlways, SyncInterval: 2 * time.Minute, NoLog: true, NoSigs: true,
		JetStreamMaxStore: 4 << 30, JetStreamMaxMemory: 64 << 20,
	}
	if n.ClusterPort != 0 {
		o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: n.ClusterPort}
		o.Routes = server.RoutesFromStr(n.Routes)
	}
	one, err := newServer(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	one.Start()
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// A process is a server that can be killed.
type process struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	address string
}

// startProcess starts a server, as an argument of the command if there is one.
func startProcess(t testing.TB, o *server.Options, command ...string) *process {
	t.Helper()
	options, err := json.Marshal(nodeOptions{Name: o.ServerName, Dir: o.StoreDir, Routes: o.RoutesStr, Port: o.Port, ClusterPort: o.Cluster.Port, SyncAlways: o.SyncAlways})
	if err != nil {
		t.Fatal(err)
	}
	command = append(command, os.Args[0])
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), nodeVariable+"="+string(options))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &process{cmd: cmd, stdin: stdin, address: fmt.Sprintf("127.0.0.1:%d", o.Port)}
}

func (p *process) listens() bool {
	c, err := net.DialTimeout("tcp", p.address, time.Second)
	if err == nil {
		c.Close()
	}
	return err == nil
}

func (p *process) stop() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
	p.stdin.Close()
}
