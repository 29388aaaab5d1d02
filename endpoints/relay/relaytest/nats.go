package relaytest

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A NATS is a NATS server in this process that can be stopped and started again.
type NATS struct {
	t    testing.TB
	opts server.Options
	user string // and its password, as in a URL
	s    *server.Server
}

// StartNATS starts a server on a loopback address, until the test ends. Clients
// need the password if it is not empty, and may then use the subjects of relays
// only.
func StartNATS(t testing.TB, password string) *NATS {
	t.Helper()
	n := &NATS{t: t, opts: server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, MaxPending: 256 << 20, WriteDeadline: time.Minute}}
	if password != "" {
		may := &server.SubjectPermission{Allow: []string{"*.relay.>"}}
		n.user = "relay:" + password + "@"
		n.opts.Users = []*server.User{{Username: "relay", Password: password, Permissions: &server.Permissions{Publish: may, Subscribe: may}}}
	}
	n.Start()
	n.opts.Port = n.s.Addr().(*net.TCPAddr).Port
	t.Cleanup(n.Stop)
	return n
}

// URL returns the address of the server for the relays of a group.
func (n *NATS) URL(group string) string {
	return fmt.Sprintf("nats://%s127.0.0.1:%d/%s", n.user, n.opts.Port, group)
}

// Start starts the server again, on the same address.
func (n *NATS) Start() {
	n.t.Helper()
	o := n.opts // NewServer changes it
	s, err := server.NewServer(&o)
	if err != nil {
		n.t.Fatal(err)
	}
	s.Start()
	for limit := time.Now().Add(2 * time.Minute); !s.ReadyForConnections(time.Second); {
		if time.Now().After(limit) {
			n.t.Fatal("the NATS server does not listen")
		}
	}
	n.s = s
}

// Stop stops the server. Its connections end.
func (n *NATS) Stop() {
	if n.s != nil {
		n.s.Shutdown()
		n.s.WaitForShutdown()
		n.s = nil
	}
}
