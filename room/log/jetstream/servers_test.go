package jetstream_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// servers are NATS servers in this process, a cluster if there are several.
type servers struct {
	t    testing.TB
	opts []server.Options
	all  []*server.Server // nil for one that is stopped
}

// startServers starts servers that sync every write. They end with the test.
func startServers(t testing.TB, n int) *servers {
	t.Helper()
	s := &servers{t: t, all: make([]*server.Server, n)}
	ports := freePorts(t, n)
	var routes []string
	for _, port := range ports {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	for i := range n {
		o := server.Options{
			ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(),
			SyncAlways: true, SyncInterval: 2 * time.Minute, NoLog: true, NoSigs: true,
			JetStreamMaxStore: 4 << 30, JetStreamMaxMemory: 64 << 20,
		}
		if n > 1 {
			o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i]}
			o.Routes = server.RoutesFromStr(strings.Join(routes, ","))
		}
		s.opts = append(s.opts, o)
	}
	for i := range n { // all at once: one alone waits for a majority
		s.launch(i)
	}
	for i := range n {
		s.listens(i)
		s.opts[i].Port = s.all[i].Addr().(*net.TCPAddr).Port
	}
	t.Cleanup(func() {
		for i := range s.all {
			s.stop(i)
		}
	})
	s.wait("a leader of the cluster", func() bool { return n == 1 || s.leader() >= 0 && s.peers() == n })
	return s
}

// freePorts returns ports on which nothing listens.
func freePorts(t testing.TB, n int) (ports []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// launch starts a server, which listens where it did before.
func (s *servers) launch(i int) {
	s.t.Helper()
	o := s.opts[i] // a copy: the server changes its options
	o.Routes = slices.Clone(o.Routes)
	one, err := server.NewServer(&o)
	if err != nil {
		s.t.Fatal(err)
	}
	one.Start()
	s.all[i] = one
}

// listens waits until a server takes connections.
func (s *servers) listens(i int) {
	s.t.Helper()
	s.wait("a server to listen", func() bool { return s.all[i].ReadyForConnections(time.Second) })
}

// start starts a server and waits until it takes connections.
func (s *servers) start(i int) {
	s.t.Helper()
	s.launch(i)
	s.listens(i)
}

// stop shuts a server down.
func (s *servers) stop(i int) {
	if s.all[i] != nil {
		s.all[i].Shutdown()
		s.all[i].WaitForShutdown()
		s.all[i] = nil
	}
}

// leader returns the server that leads the cluster, -1 if none does.
func (s *servers) leader() int {
	for i, one := range s.all {
		if one != nil && one.JetStreamIsLeader() {
			return i
		}
	}
	return -1
}

// peers is how many servers the leader knows to take streams.
func (s *servers) peers() int {
	if i := s.leader(); i >= 0 {
		return len(s.all[i].JetStreamClusterPeers())
	}
	return 0
}

// wait waits for something that is expected to happen.
func (s *servers) wait(what string, happened func() bool) {
	s.t.Helper()
	for limit := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			s.t.Fatalf("waiting for %s", what)
		}
	}
}

// url returns the address of all servers.
func (s *servers) url() string {
	var all []string
	for i := range s.opts {
		all = append(all, fmt.Sprintf("nats://127.0.0.1:%d", s.opts[i].Port))
	}
	return strings.Join(all, ",")
}
