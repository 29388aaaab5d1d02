package cluster

import (
	"net"
	"net/url"
	"path/filepath"
	"time"

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
		l, err := net.Listen("tcp", c.addressOf(1)+":0")
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

// recovered returns at once: there is one server, which has started when its fault ends.
func (s *postgresServer) recovered() {}

func (s *postgresServer) faults() []fault {
	return []fault{{"primary killed", func(progress func()) {
		began := time.Now()
		s.Kill(s.c.t)
		s.Launch(s.c.t)
		if s.c.long {
			s.c.t.Logf("the primary was back after %.1f s", time.Since(began).Seconds())
		}
		progress()
	}}}
}
