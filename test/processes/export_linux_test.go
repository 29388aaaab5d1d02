package processes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// exportCalls are the system calls that an export makes on the log and on the file that
// it writes, and the errors with which they fail in TestExportFaults.
var exportCalls = []string{
	"open,openat:error=EIO", "open,openat:error=EMFILE", "stat,lstat,fstat,newfstatat:error=EIO", "fcntl:error=ENOLCK", "read,pread64:error=EIO",
	"write,pwrite64:error=ENOSPC", "write,pwrite64:error=EIO", "ftruncate:error=EIO", "mmap:error=ENOMEM", "fchown:error=EPERM", "close:error=EIO",
}

// TestExportFaults exports a room while one system call on the log or on the new file
// fails, once or from there on: the first, second, third call of each thread and so on,
// until there is none. A successful export is whole. Another one has said why, with a
// code, and has left no file. The log stays intact. MOOT_IO_CALLS=all fails every call;
// otherwise it is the first of each kind.
func TestExportFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes under strace")
	}
	most := 1
	if os.Getenv("MOOT_IO_CALLS") == "all" {
		most = 1 << 20
	}
	x := newExporter(t)
	runs, met, failed := 0, 0, 0
	for _, fault := range exportCalls {
		for n, without := 1, 0; n <= most && without < 2; n++ {
			without++
			for _, when := range []string{fmt.Sprint(n), fmt.Sprintf("%d+", n)} {
				injected, ok := x.export(fault + ":when=" + when)
				runs++
				if injected {
					met++
					without = 0
				}
				if !ok {
					failed++
				}
			}
		}
	}
	if out, err := x.w.moot("transcript", "verify", x.id); err != nil {
		t.Errorf("the log is damaged: %v\n%s", err, out)
	}
	if met < runs/4 || failed == 0 {
		t.Errorf("of %d runs %d met the fault and %d failed by it: the test tests nothing", runs, met, failed)
	}
	t.Logf("%d exports, %d with a call that failed, %d of them ended in errors and without a file; no panic, no other export than the whole one", runs, met, failed)
}

// An exporter exports one room again and again.
type exporter struct {
	t      *testing.T
	w      *workbench
	strace func(w *workbench, options []string, args ...string) *running
	id     string
	whole  []byte
}

func newExporter(t *testing.T) *exporter {
	t.Helper()
	x := &exporter{t: t, w: newWorkbench(t, nil), strace: findStrace(t)}
	file, err := filepath.Abs("../../transcripts/testdata/manager-worker.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	out, err := x.w.moot("transcript", "import", file)
	if x.id = anyRoom.FindString(out); err != nil || x.id == "" {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, ok := x.export("fsync:error=EIO"); !ok { // an export syncs nothing
		t.Fatal("an export without a fault fails")
	}
	if x.whole, err = os.ReadFile(x.file()); err != nil || len(x.whole) < 10_000 {
		t.Fatalf("%d bytes, %v", len(x.whole), err)
	}
	return x
}

func (x *exporter) file() string { return filepath.Join(x.w.dir, "out.jsonl") }

// export exports the room with a fault. It returns whether the fault came to pass, and
// whether the export has succeeded.
func (x *exporter) export(fault string) (injected, ok bool) {
	x.t.Helper()
	if err := os.Remove(x.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.t.Fatal(err)
	}
	calls, _, _ := strings.Cut(fault, ":")
	optional := "?" + strings.ReplaceAll(calls, ",", ",?") // a processor may lack some
	options := []string{"-e", "trace=" + optional, "-e", "inject=" + optional + fault[len(calls):], "-P", x.file(), "-P", x.w.data()}
	for _, name := range []string{sqlite.FileName, sqlite.FileName + "-wal", sqlite.FileName + "-shm", sqlite.HeadsName, "log.lock"} {
		options = append(options, "-P", filepath.Join(x.w.data(), name))
	}
	r := x.strace(x.w, options, "transcript", "export", x.id, "--out", x.file())
	code := r.end()
	x.judge(fault, code, r.stderr.String())
	b, err := os.ReadFile(x.w.trace())
	if err != nil {
		x.t.Fatal(err)
	}
	return bytes.Contains(b, []byte("(INJECTED)")), code == app.ExitOK
}

// judge checks what an export has left.
func (x *exporter) judge(fault string, code int, stderr string) {
	x.t.Helper()
	got, err := os.ReadFile(x.file())
	switch {
	case strings.Contains(stderr, "panic:") || strings.Contains(stderr, "fatal error:") || code < 0:
		x.t.Errorf("%s: exit code %d\n%s", fault, code, stderr)
	case code == app.ExitOK && (err != nil || x.whole != nil && !bytes.Equal(got, x.whole)):
		x.t.Errorf("%s: a successful export of %d bytes, want %d; %v", fault, len(got), len(x.whole), err)
	case code != app.ExitOK && !errors.Is(err, fs.ErrNotExist):
		x.t.Errorf("%s: a failed export has left %d bytes, %v", fault, len(got), err)
	case code != app.ExitOK && !strings.Contains(stderr, "error:"):
		x.t.Errorf("%s: exit code %d without an error\n%s", fault, code, stderr)
	}
}
