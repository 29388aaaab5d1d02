//go:build unix

package postgres_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/postgres"
	"github.com/folkmoot/moot/room/log/postgres/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	s := pgtest.Start(t)
	logtest.Run(t, logtest.Engine{
		Shared: true,
		Open:   func(t testing.TB, dir string) log.Log { return open(t, s, schemaOf(dir)) },
		Flip:   func(t testing.TB, dir string, needle []byte) { flip(t, s, schemaOf(dir), needle) },
	})
}

func TestMembers(t *testing.T) {
	s := pgtest.Start(t)
	logtest.RunMembers(t, logtest.MembersEngine{
		Open: func(t testing.TB, dir string, lease time.Duration) logtest.MembersLog {
			open(t, s, schemaOf(dir)).Close() // makes the tables
			d, err := postgres.Open(postgres.Config{URL: s.URL(schemaOf(dir)), Lease: lease, RetryFor: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
		Freeze: func(l logtest.MembersLog) (thaw func()) { return l.(*postgres.DB).Freeze() },
	})
}

// schemaOf names the tables of a folder of the suite.
func schemaOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "s" + hex.EncodeToString(sum[:8])
}

// open opens the log in a schema, with short times.
func open(t testing.TB, s *pgtest.Server, schema string) *postgres.DB {
	t.Helper()
	exec(t, s, "", "create schema if not exists "+schema)
	d, err := postgres.Open(postgres.Config{URL: s.URL(schema), Poll: 2 * time.Millisecond, RetryFor: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// exec executes a statement in a schema.
func exec(t testing.TB, s *pgtest.Server, schema, sql string, args ...any) (changed int64) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), s.URL(schema))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	tag, err := c.Exec(context.Background(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return tag.RowsAffected()
}

// flip changes one bit where needle is stored.
func flip(t testing.TB, s *pgtest.Server, schema string, needle []byte) {
	t.Helper()
	var changed int64
	for _, c := range []struct{ table, column string }{{"moot_events", "raw"}, {"moot_blobs", "content"}, {"moot_snapshots", "data"}} {
		changed += exec(t, s, schema, fmt.Sprintf(`update %[1]s set %[2]s = set_byte(%[2]s, position($1 in %[2]s) - 1, get_byte(%[2]s, position($1 in %[2]s) - 1) # 1)
			where position($1 in %[2]s) > 0`, c.table, c.column), needle)
	}
	if changed == 0 {
		t.Fatalf("%q is not stored", needle)
	}
}
