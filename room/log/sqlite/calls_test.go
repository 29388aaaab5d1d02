package sqlite_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/room/log/sqlite"
)

// ioCalls are the system calls that the engine makes on its files and its folder, and
// the errors with which they fail in TestEveryCall.
var ioCalls = []struct {
	calls  string
	errors []string
	dead   bool // the handle acknowledges nothing after such a failure of an append
}{
	{"open,openat", []string{"EIO", "EMFILE"}, false},
	{"stat,lstat,fstat,newfstatat", []string{"EIO"}, false},
	{"fcntl", []string{"ENOLCK"}, false},
	{"flock", []string{"EIO"}, false},
	{"read,pread64", []string{"EIO"}, false},
	{"pwrite64", []string{"ENOSPC", "EIO"}, true},
	{"write", []string{"ENOSPC"}, true},
	{"fsync,fdatasync", []string{"EIO"}, true},
	{"ftruncate", []string{"EIO"}, false},
	{"mmap", []string{"ENOMEM"}, false},
	{"unlink,unlinkat,rename,renameat", []string{"EIO"}, false},
	{"fchown,fchmod", []string{"EPERM"}, false},
	{"close", []string{"EIO"}, false},
}

// fewPoints is up to which call TestEveryCall goes unless MOOT_IO_CALLS is "all": a call
// in the recovery, mostly.
const fewPoints = 2

// TestEveryCall lets a process open the log of a killed one, which recovers it, and
// append to it, while one of its calls on the files fails, once or from there on. That is
// done for the first, second, third call of each thread and so on, until there is none.
// No process may panic, nothing acknowledged may be lost, and each failure must have a
// code. MOOT_IO_CALLS=all fails every call; otherwise it is the first ones of each kind.
func TestEveryCall(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes under strace")
	}
	most := fewPoints
	if os.Getenv("MOOT_IO_CALLS") == "all" {
		most = 1 << 20
	}
	dir := t.TempDir()
	acked := slices.Clip(killed(t, dir, 30, 0)) // each process appends to its own copy
	var runs, met, failed atomic.Int64
	t.Run("calls", func(t *testing.T) {
		for _, c := range ioCalls {
			for _, errno := range c.errors {
				t.Run(c.calls+" "+errno, func(t *testing.T) {
					t.Parallel()
					for n, without := 1, 0; n <= most && without < 2; n++ {
						without++
						for _, when := range []string{fmt.Sprint(n), fmt.Sprintf("%d+", n)} {
							r := failing(t, dir, acked, c.calls+":error="+errno+":when="+when, c.dead)
							runs.Add(1)
							if r.met {
								met.Add(1)
								without = 0
							}
							if r.failures > 0 {
								failed.Add(1)
							}
						}
					}
				})
			}
		}
	})
	if met.Load() < runs.Load()/4 || failed.Load() == 0 {
		t.Errorf("of %d runs %d met the fault and %d failed by it: the test tests nothing", runs.Load(), met.Load(), failed.Load())
	}
	t.Logf("%d runs, %d with a call that failed, %d of them ended in errors; no panic, no acknowledged event lost", runs.Load(), met.Load(), failed.Load())
}

// A faultyRun is what came of a process whose calls fail.
type faultyRun struct {
	met      bool // a call has failed
	failures int  // failures that the process reported
}

// failing runs one process on a copy of a folder with a fault.
func failing(t *testing.T, from string, acked []ack, inject string, dead bool) faultyRun {
	t.Helper()
	dir := t.TempDir()
	defer os.RemoveAll(dir) // before the test ends: there are hundreds
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	calls, _, _ := strings.Cut(inject, ":")
	optional := "?" + strings.ReplaceAll(calls, ",", ",?") // a processor may lack some
	trace := filepath.Join(t.TempDir(), "trace")
	line := []string{"strace", "-f", "-qq", "-o", trace, "-e", "trace=" + optional, "-e", "inject=" + optional + inject[len(calls):]}
	for _, name := range []string{"", sqlite.FileName, sqlite.FileName + "-wal", sqlite.FileName + "-shm", sqlite.HeadsName, "log.lock"} {
		line = append(line, "-P", filepath.Join(dir, name))
	}
	strace(t, dir, "fsync") // skips the test where it is not possible
	c := command(t, dir, roleSome, line...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if text := stderr.String(); strings.Contains(text, "panic:") || strings.Contains(text, "fatal error:") || err != nil && c.ProcessState.ExitCode() != 1 {
		t.Errorf("%s: %v\n%s", inject, err, text)
	}
	failures := acksInOrder(t, inject, out, &acked, dead)
	after := open(t, dir)
	defer after.Close()
	holds(t, after, acked)
	if err := after.Check(t.Context()); err != nil {
		t.Errorf("%s: %v", inject, err)
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	return faultyRun{bytes.Contains(b, []byte("(INJECTED)")), failures}
}

// acksInOrder adds the acknowledged events of a process, and returns the number of its
// failures. Each must have a code. With dead nothing is acknowledged after the first.
func acksInOrder(t *testing.T, inject string, out []byte, acked *[]ack, dead bool) (failures int) {
	t.Helper()
	for line := range strings.Lines(string(out)) {
		text, failure := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "failed ")
		if failure {
			failures++
			if strings.HasPrefix(text, "NONE") {
				t.Errorf("%s: a failure without a code", inject)
			}
			continue
		}
		var a ack
		if _, err := fmt.Sscanln(line, new(string), &a.room, &a.seq, &a.id); err == nil && strings.HasPrefix(line, "ack ") {
			*acked = append(*acked, a)
			if dead && failures > 0 {
				t.Errorf("%s: event %d is acknowledged after a failure", inject, a.seq)
			}
		}
	}
	return failures
}
