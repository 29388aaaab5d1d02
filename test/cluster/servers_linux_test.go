package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/folkmoot/moot/room/log/jetstream"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/postgres"
	"github.com/folkmoot/moot/room/log/postgres/pgtest"
)

// A postgresServer is one primary.
type postgresServer struct {
	*pgtest.Server
	c       *cluster
	address string // of the primary for nodes with a network of their own; "" is its socket
}

func startPostgres(c *cluster) *postgresServer {
	s := &postgresServer{Server: pgtest.Start(c.t), c: c}
	if c.isolated {
		l, err := net.Listen("tcp", bridgeAddress+":0")
		if err != nil {
			c.t.Fatal(err)
		}
		s.address = l.Addr().String()
		logtest.Proxy(c.t, l, func() (net.Conn, error) { return net.Dial("unix", filepath.Join(s.Dir(), ".s.PGSQL.5432")) })
	}
	return s
}

func (s *postgresServer) url() string {
	if s.address == "" {
		return s.URL("")
	}
	u, err := url.Parse(s.URL(""))
	if err != nil {
		s.c.t.Fatal(err)
	}
	u.Host, u.RawQuery = s.address, ""
	return u.String()
}

func (s *postgresServer) open() roomLog {
	d, err := postgres.Open(postgres.Config{URL: s.URL(""), ReadOnly: true})
	if err != nil {
		s.c.t.Fatal(err)
	}
	return d
}

func (s *postgresServer) fail(during func()) {
	s.Kill(s.c.t)
	s.Launch(s.c.t)
	during()
}

// natsServers are three servers, each a process.
type natsServers struct {
	c     *cluster
	all   []natsOptions
	procs []*exec.Cmd
	stdin []io.Closer
}

// natsOptions are the options that differ between servers.
type natsOptions struct {
	Name, Host, Dir, Routes string
	Port, ClusterPort       int
}

// natsCommand is the name of this program when it is a server. Its argument has its options.
const natsCommand = "natsnode"

// natsServer runs a server until standard input ends, which it does with the test.
func natsServer() {
	var n natsOptions
	err := json.Unmarshal([]byte(os.Args[1]), &n)
	var one *server.Server
	if err == nil {
		one, err = server.NewServer(&server.Options{
			ServerName: n.Name, Host: n.Host, Port: n.Port, JetStream: true, StoreDir: n.Dir,
			SyncAlways: true, SyncInterval: 2 * time.Minute, NoLog: true, NoSigs: true,
			JetStreamMaxStore: 4 << 30, JetStreamMaxMemory: 64 << 20,
			Cluster: server.ClusterOpts{Name: "test", Host: n.Host, Port: n.ClusterPort}, Routes: server.RoutesFromStr(n.Routes),
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	one.Start()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func startNATS(c *cluster) *natsServers {
	s := &natsServers{c: c, procs: make([]*exec.Cmd, 3), stdin: make([]io.Closer, 3)}
	s.choosePorts()
	c.t.Cleanup(func() {
		for i := range s.all {
			s.kill(i)
		}
	})
	for i := range s.all { // all at once: one alone waits for a majority
		s.launch(i)
	}
	for { // until the streams are made
		d, err := jetstream.Open(c.t.Context(), jetstream.Config{URL: s.url(), Timeout: time.Minute})
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

func (s *natsServers) choosePorts() {
	host := "127.0.0.1"
	if s.c.isolated {
		host = bridgeAddress
	}
	var routes []string
	for i := range 3 {
		o := natsOptions{Name: fmt.Sprint("n", i), Host: host, Dir: filepath.Join(s.c.dir, fmt.Sprint("nats", i))}
		for _, port := range []*int{&o.Port, &o.ClusterPort} {
			l, err := net.Listen("tcp", host+":0")
			if err != nil {
				s.c.t.Fatal(err)
			}
			defer l.Close()
			*port = l.Addr().(*net.TCPAddr).Port
		}
		routes = append(routes, fmt.Sprintf("nats://%s:%d", host, o.ClusterPort))
		s.all = append(s.all, o)
	}
	for i := range s.all {
		s.all[i].Routes = strings.Join(routes, ",")
	}
}

func (s *natsServers) launch(i int) {
	options, err := json.Marshal(s.all[i])
	if err != nil {
		s.c.t.Fatal(err)
	}
	cmd := exec.Command(natsCommand, string(options)) // this program
	cmd.Stderr = os.Stderr
	if s.stdin[i], err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.c.t.Fatal(err)
	}
	s.procs[i] = cmd
}

func (s *natsServers) kill(i int) {
	if s.procs[i] == nil {
		return
	}
	_ = s.procs[i].Process.Kill() // it may have ended
	_ = s.procs[i].Wait()
	s.stdin[i].Close()
	s.procs[i] = nil
}

func (s *natsServers) url() string {
	var all []string
	for _, o := range s.all {
		all = append(all, fmt.Sprintf("nats://%s:%d", o.Host, o.Port))
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

func (s *natsServers) fail(during func()) {
	i := s.c.rand.IntN(3)
	s.kill(i)
	during()
	s.launch(i)
}
