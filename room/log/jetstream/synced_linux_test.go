package jetstream_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
)

// TestSynced counts the writes to stable storage of three servers. With the setting that moot
// asks for, a majority of them has flushed each append before it is acknowledged. With the
// servers' default they acknowledge before that (nats-server issue 7564).
func TestSynced(t *testing.T) {
	if testing.Short() {
		t.Skip("servers elect leaders for seconds")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("strace is needed to see what servers flush")
	}
	const appends = 20
	for _, always := range []bool{true, false} {
		t.Run(fmt.Sprint("always=", always), func(t *testing.T) {
			got := flushes(t, strace, always, appends)
			t.Logf("%d appends, %d flushes on three servers", appends, got)
			if always != (got >= 2*appends) {
				t.Errorf("%d flushes for %d appends", got, appends)
			}
		})
	}
}

// flushes starts three servers under strace, appends to a room, and returns how often the
// servers have flushed the replicated log of its stream.
func flushes(t *testing.T, strace string, always bool, appends int) (n int) {
	s := &servers{t: t, processes: true, lazy: !always, traces: t.TempDir(), strace: strace}
	s.startAll(3)
	d := s.openAs(t, "synced")
	defer d.Close()
	at, _, err := d.Append(t.Context(), "r", log.Pos{}, time.Time{}, logtest.Event("0", "x"))
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Cluster struct {
			Group string `json:"raft_group"`
		}
	}
	if err := json.Unmarshal(s.request("$JS.API.STREAM.INFO."+d.PlaceOf("r"), ""), &info); err != nil || info.Cluster.Group == "" {
		t.Fatalf("the stream has no group: %v", err)
	}
	before := s.flushed(info.Cluster.Group)
	for i := range appends {
		if at, _, err = d.Append(t.Context(), "r", at, time.Time{}, logtest.Event(fmt.Sprint(i+1), "x")); err != nil {
			t.Fatal(err)
		}
	}
	return s.flushed(info.Cluster.Group) - before
}

// flushed counts the calls in the traces that have flushed a file of a group.
func (s *servers) flushed(group string) (n int) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.traces, "*"))
	if err != nil || len(files) != len(s.all) {
		s.t.Fatalf("%d traces of %d servers: %v", len(files), len(s.all), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, group) && strings.Contains(line, ".blk") {
				n++
			}
		}
	}
	return n
}
