package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/folkmoot/moot/internal/natsserver"
	"github.com/folkmoot/moot/room/log/jetstream"
)

// natsServers are three servers, each a process.
type natsServers struct {
	c   *cluster
	all []*natsMachine
}

// A natsMachine is a machine with a server.
type natsMachine struct {
	*machine
	options natsOptions
}

// natsOptions are the options that differ between servers.
type natsOptions struct {
	Name, Host, Dir, Routes string
	Port, ClusterPort       int
}

// natsCommand is the name of this program when it is a server. Its argument has its options.
const natsCommand = "natsnode"

// natsServer runs a server until standard input ends, which it does with the test, or until the
// server stores nothing any more, as after an error of its disk. A process of `moot serve
// --cluster` ends then, too.
func natsServer() {
	var n natsOptions
	err := json.Unmarshal([]byte(os.Args[1]), &n)
	var one *server.Server
	if err == nil {
		natsserver.ShortenElections() // as in `moot serve --cluster`
		one, err = server.NewServer(&server.Options{
			ServerName: n.Name, Host: n.Host, Port: n.Port, JetStream: true, StoreDir: n.Dir,
			SyncAlways: true, SyncInterval: 2 * time.Minute, NoLog: true, NoSigs: true,
			JetStreamMaxStore: 4 << 30, JetStreamMaxMemory: 64 << 20,
			Cluster: server.ClusterOpts{Name: "test", Host: n.Host, Port: n.ClusterPort, PingInterval: 2 * time.Second, MaxPingsOut: 3},
			Routes:  server.RoutesFromStr(n.Routes),
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	one.Start()
	if !one.ReadyForConnections(time.Minute) {
		os.Exit(1)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for one.JetStreamEnabled() {
		time.Sleep(time.Second)
	}
	os.Exit(1)
}

// testStreams is the number of streams of the log. The default of 64 would have three servers
// of each cluster send more heartbeats than messages.
const testStreams = 16

func startNATS(c *cluster) *natsServers {
	s := &natsServers{c: c}
	for i := range 3 {
		name := fmt.Sprint("nats", i)
		m := &natsMachine{machine: c.newMachine(name, 21+i, filepath.Join(c.dir, name), "512m")}
		m.options = natsOptions{Name: name, Host: m.address, Dir: m.disk, Port: 4222, ClusterPort: 6222}
		s.all = append(s.all, m)
	}
	s.choosePorts()
	for _, m := range s.all { // all at once: one alone waits for a majority
		m.start()
	}
	for { // until the streams are made
		d, err := jetstream.Open(c.t.Context(), jetstream.Config{URL: s.url(), Timeout: time.Minute, Streams: testStreams})
		if err == nil {
			d.Close()
			return s
		}
		if c.t.Context().Err() != nil {
			c.t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// choosePorts tells each server those of the others. Servers at one address have ports that are free.
func (s *natsServers) choosePorts() {
	var routes []string
	for _, m := range s.all {
		for _, port := range []*int{&m.options.Port, &m.options.ClusterPort} {
			if s.c.isolated {
				break
			}
			l, err := net.Listen("tcp", m.address+":0")
			if err != nil {
				s.c.t.Fatal(err)
			}
			defer l.Close()
			*port = l.Addr().(*net.TCPAddr).Port
		}
		routes = append(routes, fmt.Sprintf("nats://%s:%d", m.address, m.options.ClusterPort))
	}
	for _, m := range s.all {
		m.options.Routes = strings.Join(routes, ",")
	}
}

func (m *natsMachine) start() { m.startUnder() }

// startUnder starts the process under another program.
func (m *natsMachine) startUnder(program ...string) {
	options, err := json.Marshal(m.options)
	if err != nil {
		m.c.t.Fatal(err)
	}
	cmd := m.command(append(program, natsCommand, string(options))) // this program
	cmd.Stderr = os.Stderr
	_, err = cmd.StdinPipe() // open while the test runs
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		m.c.t.Errorf("%s does not start: %v", m.name, err)
		return
	}
	m.runs(cmd, func() {})
}

func (s *natsServers) url() string {
	var all []string
	for _, m := range s.all {
		all = append(all, fmt.Sprintf("nats://%s:%d", m.address, m.options.Port))
	}
	return strings.Join(all, ",")
}

func (s *natsServers) open() roomLog {
	d, err := jetstream.Open(s.c.t.Context(), jetstream.Config{URL: s.url(), ReadOnly: true, Timeout: time.Minute})
	if err != nil {
		s.c.t.Fatal(err)
	}
	return d
}

// faults are those of one server at a time: two of three are a majority.
func (s *natsServers) faults() []fault {
	return s.c.faultsOf("server", func() target { return s.all[s.c.rand.IntN(len(s.all))] })
}

// recovered waits until each stream has a leader and all its copies. A server that is back has
// missed messages, and may have others elect again; another fault before that would be one of
// two servers.
func (s *natsServers) recovered() {
	nc, err := nats.Connect(s.url(), nats.MaxReconnects(-1))
	if err != nil {
		s.c.t.Fatal(err)
	}
	defer nc.Close()
	js, err := nc.JetStream(nats.MaxWait(2 * time.Second))
	if err != nil {
		s.c.t.Fatal(err)
	}
	for began := time.Now(); !complete(js); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > 3*time.Minute {
			s.c.t.Fatal("the streams have lacked copies for 3 minutes")
		}
	}
}

// complete reports whether each stream has a leader, and copies at the other two servers that
// have all messages.
func complete(js nats.JetStreamContext) bool {
	streams, lacking := 0, false
	for info := range js.Streams() {
		streams++
		if info.Cluster == nil || info.Cluster.Leader == "" || len(info.Cluster.Replicas) != 2 {
			lacking = true
			continue
		}
		for _, replica := range info.Cluster.Replicas {
			lacking = lacking || !replica.Current || replica.Offline
		}
	}
	return streams >= testStreams && !lacking
}
