package sqlite_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room/log/sqlite"
)

// strace returns the command line under which a child's calls on the log's
// files have a fault injected, and skips the test where that is not possible.
func strace(t *testing.T, dir, inject string) []string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		lacking(t, "strace is needed to inject faults into system calls")
	}
	if err := exec.Command(path, "-qq", "-o", "/dev/null", "true").Run(); err != nil {
		lacking(t, "strace may not trace processes here")
	}
	line := []string{path, "-f", "-qq", "-o", filepath.Join(t.TempDir(), "trace"), "-e", "inject=" + inject}
	calls, _, _ := strings.Cut(inject, ":")
	line = append(line, "-e", "trace="+calls)
	for _, suffix := range []string{"", "-wal"} {
		line = append(line, "-P", filepath.Join(dir, sqlite.FileName)+suffix)
	}
	return line
}

// TestFaults makes one system call on the log's files fail, or kills the process in
// it, at many points. No acknowledged event may be lost, nothing may be acknowledged
// after a failure, and the failure must have its code.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes under strace")
	}
	for _, c := range []struct {
		name, inject string
		codes        []string // any of them; none: the process dies
		points       []int
	}{
		{"sync fails once", "fsync,fdatasync:error=EIO", []string{"LOG-IO"}, []int{1, 2, 4, 7}},
		{"disk full", "pwrite64:error=ENOSPC", []string{"LOG-FULL"}, []int{1, 5, 16}},
		{"disk full for good", "pwrite64:error=ENOSPC:when=%d+", []string{"LOG-FULL"}, []int{9}},
		{"quota", "pwrite64:error=EDQUOT", []string{"LOG-FULL", "LOG-IO"}, []int{8}},
		{"write fails", "pwrite64:error=EIO", []string{"LOG-IO"}, []int{3, 12}},
		{"file too large", "pwrite64:error=EFBIG", []string{"LOG-IO"}, []int{7}},
		{"read-only", "pwrite64:error=EROFS", []string{"LOG-IO", "LOG-READONLY"}, []int{6}},
		{"killed in a write", "pwrite64:signal=SIGKILL", nil, []int{1, 2, 4, 7, 11, 14, 20}},
		{"killed in a sync", "fsync,fdatasync:signal=SIGKILL", nil, []int{1, 3, 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fired := 0
			for _, point := range c.points {
				if faulty(t, c.inject, point, c.codes) {
					fired++
				}
			}
			if fired == 0 {
				t.Error("no fault came to pass: the test tests nothing")
			}
		})
	}
}

// faulty runs one child with a fault at the point-th call of a thread, and
// reports whether the fault occurred.
func faulty(t *testing.T, inject string, point int, codes []string) bool {
	t.Helper()
	dir := t.TempDir()
	d := open(t, dir)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(inject, "when=") {
		inject = fmt.Sprintf(inject, point)
	} else {
		inject = fmt.Sprintf("%s:when=%d", inject, point)
	}
	line := strace(t, dir, inject)
	c := command(t, dir, roleSome, line...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var acked []ack
	failures := acks(out, func(a ack) { acked = append(acked, a) })
	died := c.Wait() != nil
	checkFailures(t, inject, failures, acked, codes)
	after := open(t, dir)
	defer after.Close()
	holds(t, after, acked)
	if err := after.Check(t.Context()); err != nil {
		t.Errorf("%s: %v", inject, err)
	}
	return len(failures) > 0 || died && codes == nil
}

// checkFailures checks what a child printed: from the first failure on there
// are only failures, all with a code.
func checkFailures(t *testing.T, inject string, failures []string, acked []ack, codes []string) {
	t.Helper()
	if len(failures) > 0 && len(failures)+len(acked) != 12 && !(len(acked) == 0 && len(failures) == 1) {
		t.Errorf("%s: %d acknowledged and %d failed of 12", inject, len(acked), len(failures))
	}
	for i, failure := range failures {
		name, dead := strings.CutSuffix(failure, " handle-failed")
		known := false
		for _, want := range codes {
			known = known || name == want
		}
		if !known || !dead && len(acked) > 0 {
			t.Errorf("%s: failure %d is %q, want one of %v", inject, i, failure, codes)
		}
	}
}
