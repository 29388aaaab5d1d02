package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/folkmoot/moot/problem"
)

// connections is how many a process opens at most, unless the URL has pool_max_conns.
// Commits of several connections share one fsync of the server.
const connections = 16

// warning is the key of the last warning of the server in a connection's data.
const warning = "moot: warning"

// connect makes the pool of connections and the first connection.
func (d *DB) connect(ctx context.Context, url string) error {
	d.where = "the database"
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The cause is left out: it may quote the password.
		return &problem.Error{Code: "LOG-URL", Where: "log.url", What: "the URL of the database cannot be read", Fix: "write it like postgres://user@host:5432/database; a password belongs into ~/.pgpass or PGPASSWORD"}
	}
	d.where = fmt.Sprintf("database %s on %s", c.ConnConfig.Database, c.ConnConfig.Host)
	if !strings.Contains(url, "pool_max_conns") {
		c.MaxConns = connections
	}
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "moot"
	}
	c.ConnConfig.DialFunc = dial
	c.AfterConnect = d.checkServer
	c.ConnConfig.OnPgError = func(_ *pgconn.PgConn, e *pgconn.PgError) bool {
		// A primary that has become a standby: the next connection may find the new one.
		return !strings.EqualFold(e.Severity, "FATAL") && e.Code != readOnlyTransaction
	}
	c.ConnConfig.OnNotice = func(c *pgconn.PgConn, n *pgconn.Notice) {
		// A commit whose wait for the standbys was cancelled is reported as a warning.
		if strings.EqualFold(n.Severity, "WARNING") {
			c.CustomData()[warning] = n.Message
		}
	}
	if d.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return d.explain("connecting", err)
	}
	if err := d.pool.Ping(ctx); err != nil {
		d.pool.Close()
		return d.explain("connecting", err)
	}
	return nil
}

// A demand is a setting of the server without which a commit may be lost, or a name changed.
type demand struct {
	name string
	want []string
	why  string
	fix  string
}

// demands are checked on every connection. A server that does not know a setting passes.
// synchronous_commit decides whether a commit waits for its own disk and for the standbys.
var demands = []demand{
	{"synchronous_commit", []string{"on", "remote_apply"}, "it acknowledges commits before they are on stable storage", "alter role ... set synchronous_commit = on"},
	{"fsync", []string{"on"}, "a power failure can destroy the database", "set fsync = on in postgresql.conf"},
	{"full_page_writes", []string{"on"}, "a power failure can destroy the database", "set full_page_writes = on in postgresql.conf"},
	{"server_encoding", []string{"UTF8"}, "it cannot store every text", "create the database with encoding 'UTF8'"},
}

// checkServer refuses a server that does not keep what it acknowledges.
func (d *DB) checkServer(ctx context.Context, c *pgx.Conn) error {
	for _, m := range demands {
		var value string
		err := c.QueryRow(ctx, "show "+m.name, pgx.QueryExecModeSimpleProtocol).Scan(&value)
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == unknownSetting {
			continue
		}
		if err != nil {
			return err
		}
		if !slices.Contains(m.want, value) {
			return &problem.Error{
				Code: "LOG-UNSAFE", Where: d.where, Fix: m.fix,
				What: fmt.Sprintf("the database server has %s = %s: %s", m.name, value, m.why),
			}
		}
	}
	return nil
}
