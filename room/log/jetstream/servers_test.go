package jetstream_test

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// servers are NATS servers, a cluster if there are several.
type servers struct {
	t         testing.TB
	processes bool // each is a process, which can be killed
	opts      []server.Options
	all       []running // nil for one that is stopped
	dir       string    // of the case of the suite that runs

	lazy           bool   // acknowledge before a write is on stable storage
	strace, traces string // the program under which processes run, and where its output goes; empty without it
}

// A running server is one of this process or a process.
type running interface {
	listens() bool
	stop()
}

type embedded struct{ *server.Server }

func (e embedded) listens() bool { return e.ReadyForConnections(time.Second) }

func (e embedded) stop() {
	e.Shutdown()
	e.WaitForShutdown()
}

// messages returns how many messages this server itself has in streams.
func (e embedded) messages(t testing.TB, streams ...string) (n uint64) {
	t.Helper()
	info, err := e.Jsz(&server.JSzOptions{Streams: true})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, account := range info.AccountDetails {
		for _, stream := range account.Streams {
			if slices.Contains(streams, stream.Name) {
				n += stream.State.Msgs
				found++
			}
		}
	}
	if found != len(streams) {
		t.Fatalf("the server has %d of the streams %v", found, streams)
	}
	return n
}

// startServers starts servers in this process that sync every write. They end with the
// test.
func startServers(t testing.TB, n int) *servers {
	t.Helper()
	s := &servers{t: t}
	s.startAll(n)
	return s
}

// startProcesses starts servers that stop kills.
func startProcesses(t testing.TB, n int) *servers {
	t.Helper()
	s := &servers{t: t, processes: true}
	s.startAll(n)
	return s
}

func (s *servers) startAll(n int) {
	t := s.t
	t.Helper()
	s.all = make([]running, n)
	ports := freePorts(t, 2*n)
	var routes []string
	for _, port := range ports[:n] {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	for i := range n {
		o := server.Options{
			ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: ports[n+i], JetStream: true, StoreDir: t.TempDir(),
			SyncAlways: !s.lazy, SyncInterval: 2 * time.Minute, NoLog: true, NoSigs: true,
			JetStreamMaxStore: 4 << 30, JetStreamMaxMemory: 64 << 20,
		}
		if n > 1 {
			o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i]}
			o.RoutesStr = strings.Join(routes, ",")
			o.Routes = server.RoutesFromStr(o.RoutesStr)
		}
		s.opts = append(s.opts, o)
	}
	t.Cleanup(func() {
		for i := range s.all {
			s.stop(i)
		}
	})
	for i := range n { // all at once: one alone waits for a majority
		s.launch(i)
	}
	for i := range n {
		s.listens(i)
	}
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
	if s.processes {
		s.all[i] = startProcess(s.t, &s.opts[i], s.tracing(i)...)
		return
	}
	one, err := newServer(s.opts[i])
	if err != nil {
		s.t.Fatal(err)
	}
	one.Start()
	s.all[i] = embedded{one}
}

// tracing is the command that records the flushes of a process.
func (s *servers) tracing(i int) []string {
	if s.strace == "" {
		return nil
	}
	return []string{s.strace, "-f", "-qq", "-y", "-e", "trace=fsync,fdatasync", "-o", filepath.Join(s.traces, fmt.Sprint(i))}
}

// newServer makes a server. It changes its options, which are a copy.
func newServer(o server.Options) (*server.Server, error) {
	o.Routes = slices.Clone(o.Routes)
	return server.NewServer(&o)
}

// listens waits until a server takes connections.
func (s *servers) listens(i int) {
	s.t.Helper()
	s.wait("a server to listen", s.all[i].listens)
}

// start starts a server and waits until it takes connections.
func (s *servers) start(i int) {
	s.t.Helper()
	s.launch(i)
	s.listens(i)
}

// stop shuts a server down, or kills its process.
func (s *servers) stop(i int) {
	if s.all[i] != nil {
		s.all[i].stop()
		s.all[i] = nil
	}
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
