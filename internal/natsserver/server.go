package natsserver

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/flock"
	"github.com/folkmoot/moot/problem"
	"github.com/nats-io/nats-server/v2/server"
)

// Config says which server is started.
type Config struct {
	Folder *Folder
	Dir    string       // of the server's data; made if it is missing
	Log    *slog.Logger // nil discards
}

// A Server is a NATS server of this process. It is safe for concurrent use.
type Server struct {
	*Folder
	nats   *server.Server
	logger *logger
	unlock func()
	ended  chan struct{} // closed by Stop
	failed chan error
	tasks  sync.WaitGroup
}

// watchInterval is how often the server is asked whether it still keeps data.
const watchInterval = time.Second

// Start starts the server. It listens when Start returns, and looks for the other machines.
// The caller must Stop it.
func Start(c Config) (_ *Server, err error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, dataError(c.Dir, err)
	}
	unlock, ok, err := flock.TryLock(filepath.Join(c.Dir, "lock"))
	if err != nil {
		return nil, dataError(c.Dir, err)
	}
	if !ok {
		return nil, &problem.Error{Code: "SERVER-RUNNING", What: "a server of the cluster runs for this data folder already", Where: c.Dir, Fix: "end it first, or choose another data folder with --data"}
	}
	s := &Server{Folder: c.Folder, unlock: unlock, ended: make(chan struct{}), failed: make(chan error, 1)}
	s.logger = &logger{log: cmp.Or(c.Log, slog.New(slog.DiscardHandler)), fail: s.fail}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	for _, port := range []int{s.Self.Port, s.Self.Port + 1} {
		if err := s.free(port); err != nil {
			return nil, err
		}
	}
	ShortenElections()
	if s.nats, err = server.NewServer(s.options(c.Dir)); err != nil {
		return nil, serverError(c.Dir, err)
	}
	s.nats.SetLoggerV2(s.logger, false, false, false)
	s.nats.Start()
	if !s.nats.ReadyForConnections(time.Minute) || !s.nats.JetStreamEnabled() {
		err := serverError(c.Dir, errors.New("it does not start"))
		select {
		case err = <-s.failed: // the reason
		default:
		}
		s.nats.Shutdown()
		return nil, err
	}
	s.tasks.Go(s.watch)
	return s, nil
}

// free checks that no other program listens at a port, for a message that says so.
func (s *Server) free(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort(s.listenHost(), strconv.Itoa(port)))
	if err == nil {
		return l.Close()
	}
	return &problem.Error{
		Code: "SERVER-LISTEN", What: "the server of the cluster cannot listen", Where: net.JoinHostPort(s.listenHost(), strconv.Itoa(port)), Err: err,
		Fix: "end the program that uses the port, or change the address of " + s.Self.Name + " in cluster.yaml of all machines; behind address translation set listen: there",
	}
}

// options are those of a server that loses nothing that it has acknowledged, and that talks
// only to holders of the cluster's certificates.
func (s *Server) options(dir string) *server.Options {
	var routes []string
	for _, m := range s.others() {
		routes = append(routes, "nats://"+m.routes())
	}
	const handshake = 10 // seconds; the default of 2 is short for a busy machine
	return &server.Options{
		ServerName: s.Self.Name, NoSigs: true,
		Host: s.listenHost(), Port: s.Self.Port, ClientAdvertise: s.Self.clients(),
		TLSConfig: s.mutualTLS(), TLS: true, TLSVerify: true, TLSTimeout: handshake, AuthTimeout: handshake + 1,
		Cluster: server.ClusterOpts{
			Name: "moot", Host: s.listenHost(), Port: s.Self.Port + 1, Advertise: s.Self.routes(), NoAdvertise: true,
			TLSConfig: s.mutualTLS(), TLSTimeout: handshake, AuthTimeout: handshake + 1,
			PingInterval: 2 * time.Second, MaxPingsOut: 3,
		},
		Routes:    server.RoutesFromStr(strings.Join(routes, ",")),
		JetStream: true, StoreDir: dir, SyncAlways: true, SyncInterval: 2 * time.Minute,
		JetStreamMaxStore: 1 << 60, JetStreamMaxMemory: 256 << 20, // the disk is the limit; no stream is in memory
		DisableJetStreamBanner: true, LameDuckDuration: 3 * time.Second, LameDuckGracePeriod: time.Second,
	}
}

// InProcessConn connects a client of this process without the network.
func (s *Server) InProcessConn() (net.Conn, error) { return s.nats.InProcessConn() }

// Missing returns the machines to which there is no connection, and how many more of them
// the cluster needs to work.
func (s *Server) Missing() (names []string, needed int) {
	there := map[string]bool{}
	if z, err := s.nats.Routez(&server.RoutezOptions{}); err == nil {
		for _, r := range z.Routes {
			there[r.RemoteName] = true
		}
	}
	others := s.others()
	for _, m := range others {
		if !there[m.Name] {
			names = append(names, m.Name+" ("+m.routes()+")")
		}
	}
	return names, max(len(s.Machines)/2-(len(others)-len(names)), 0)
}

// Refused returns why the last connection between this machine and another one was refused,
// "" if none was.
func (s *Server) Refused() string { return s.logger.lastRefused() }

// Failed has the reason when the server can no longer keep data. The process must end then:
// the other machines go on.
func (s *Server) Failed() <-chan error { return s.failed }

// fail notes the first reason.
func (s *Server) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// watch sees that the server has given up its storage, as it does for good when the disk is full.
func (s *Server) watch() {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.ended:
			return
		case <-ticker.C:
		}
		if !s.nats.JetStreamEnabled() {
			s.fail(&problem.Error{
				Code: "CLUSTER-SERVER", What: "the server of the cluster has stopped to keep data; " + s.logger.lastError(), Where: s.Self.Name,
				Fix: "check the disk and its free space, and start moot again; the other machines go on meanwhile",
			})
			return
		}
	}
}

// Stop hands what the server leads to others, ends it, and waits for that. Clients of this process must
// have ended before.
func (s *Server) Stop() {
	close(s.ended)
	s.tasks.Wait()
	s.nats.LameDuckShutdown()
	s.nats.Shutdown() // a lame duck that has no listener any more does nothing
	s.nats.WaitForShutdown()
	s.unlock()
}

func dataError(dir string, err error) error {
	return &problem.Error{Code: "LOG-OPEN", What: "the folder of the cluster's data cannot be used", Where: dir, Fix: "choose another data folder with --data", Err: err}
}

func serverError(dir string, err error) error {
	return &problem.Error{
		Code: "CLUSTER-SERVER", What: "the server of the cluster cannot run: " + fmt.Sprint(err), Where: dir, Err: err,
		Fix: "check the addresses in cluster.yaml, the disk and its free space; --log-level info shows what the server does",
	}
}
