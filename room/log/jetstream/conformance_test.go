package jetstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/jetstream"
	"github.com/folkmoot/moot/room/log/logtest"
	"go.uber.org/goleak"
)

// TestMain checks that no goroutine of the engine is left. The servers leave some of theirs.
func TestMain(m *testing.M) {
	if node := os.Getenv(nodeVariable); node != "" {
		os.Exit(runNode(node))
	}
	code := m.Run()
	if left := goleak.Find(); code == 0 && left != nil && strings.Contains(left.Error(), "room/log/jetstream.(*DB)") {
		fmt.Fprintln(os.Stderr, left)
		code = 1
	}
	os.Exit(code)
}

func TestConformance(t *testing.T) {
	s := startServers(t, 1)
	logtest.Run(t, logtest.Engine{
		Shared: true,
		Open:   s.open,
		Flip:   func(t testing.TB, dir string, needle []byte) { s.flip(needle) },
	})
}

func TestMembers(t *testing.T) {
	s := startServers(t, 1)
	logtest.RunMembers(t, logtest.MembersEngine{
		Open: func(t testing.TB, dir string, lease time.Duration) logtest.MembersLog {
			prefix := filepath.Base(filepath.Dir(dir)) // of the case
			s.openAs(t, prefix).Close()                // makes the streams
			d, err := jetstream.Open(t.Context(), jetstream.Config{URL: s.url(), Prefix: prefix, Lease: lease, Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
		Freeze: func(l logtest.MembersLog) (thaw func()) { return l.(*jetstream.DB).Freeze() },
	})
}

// open opens the log of a case of the suite. A case begins with an empty log in streams
// that have been used: to make them takes longer than most cases.
func (s *servers) open(t testing.TB, dir string) log.Log {
	t.Helper()
	if dir != s.dir {
		s.openAs(t, "suite").Close()
		for stream, filter := range map[string]string{"index": "suite.head.*", "keep": ">", "ledger": ">", "room-0": ">", "room-1": ">"} {
			s.request("$JS.API.STREAM.PURGE.suite-"+stream, fmt.Sprintf(`{"filter":%q}`, filter))
		}
		s.request("$JS.API.STREAM.PURGE.suite-index", `{"filter":"suite.lock.*"}`)
		// The rooms of all cases have the same names, and a replica that has not purged yet
		// would answer with events of the case before.
		s.wait("all replicas to purge", func() bool {
			for _, one := range s.all {
				if one.(embedded).messages(t, "suite-keep", "suite-ledger", "suite-room-0", "suite-room-1") > 0 {
					return false
				}
			}
			return true
		})
		s.dir = dir
	}
	return s.openAs(t, "suite")
}

// openAs opens the log with that prefix.
func (s *servers) openAs(t testing.TB, prefix string) *jetstream.DB {
	t.Helper()
	return s.openAt(t, s.url(), prefix)
}

func (s *servers) openAt(t testing.TB, url, prefix string) *jetstream.DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for {
		d, err := jetstream.Open(ctx, jetstream.Config{URL: url, Prefix: prefix, Streams: 2, Timeout: time.Minute})
		if err == nil {
			return d
		}
		if ctx.Err() != nil || errors.Is(err, log.ErrCorrupt) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond) // the cluster elects leaders
	}
}

// flip stops the server, changes one bit where needle is stored, and starts it.
func (s *servers) flip(needle []byte) {
	s.t.Helper()
	s.stop(0)
	if found := s.flipFiles(0, needle); found == 0 {
		s.t.Fatalf("%q is in no file", needle)
	}
	s.start(0)
}

// flipFiles changes one bit wherever needle is in the messages of a stopped server.
func (s *servers) flipFiles(i int, needle []byte) (found int) {
	s.t.Helper()
	err := filepath.WalkDir(s.opts[i].StoreDir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".blk") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for at := bytes.Index(b, needle); at >= 0; at = bytes.Index(b, needle) {
			b[at] ^= 1
			found++
		}
		return os.WriteFile(path, b, 0o600)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}
