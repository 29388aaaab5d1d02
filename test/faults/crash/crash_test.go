package crash_test

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log/sqlite"
	"github.com/folkmoot/moot/test/faults/crash"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(recordDir); dir != "" {
		if err := record(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// recording runs a process under strace and returns its calls.
func recording(t *testing.T) []crash.Call {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(strace, "-qq", "-o", "/dev/null", "true").Run()
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("strace is needed to record system calls: ", err)
		}
		t.Skip("strace is needed to record system calls: ", err)
	}
	dir, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(strace, "-f", "-qq", "-y", "-xx", "-s", "1000000", "-o", trace, "-e", crash.Calls, self)
	c.Env = append(os.Environ(), recordDir+"="+dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, out)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls, err := crash.Parse(f, dir)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(calls, func(c crash.Call) bool { return c.Kind != crash.Print && transient(c.Path) })
}

// A moment is a step of the recording: a call begins, or a sync ends.
type moment struct {
	call crash.Call
	line int
	end  bool
}

func moments(calls []crash.Call) []moment {
	var all []moment
	for _, c := range calls {
		m := moment{c, c.Start, false}
		if c.Kind == crash.Sync {
			m.line, m.end = c.End, true
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.line, b.line) })
	return all
}

// expected has the states that a thing may have: the acknowledged one, and the one of
// a change that has begun.
type expected map[string][]string

// print applies lines of the recorded process.
func (e expected) print(text string) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 3 && f[0] == "begin":
			e[f[1]] = []string{acknowledged(e[f[1]]), f[2]}
		case len(f) == 2 && f[0] == "done":
			e[f[1]] = e[f[1]][len(e[f[1]])-1:]
		}
	}
}

func acknowledged(states []string) string {
	if len(states) == 0 {
		return absent
	}
	return states[0]
}

// A task is one image to check.
type task struct {
	where string
	image crash.Image
	want  expected
}

// enumerate calls f with limit images of a recording, fewer if it has no more or f returns
// false. The first ones are of all barriers.
func enumerate(calls []crash.Call, limit int, random *rand.Rand, f func(task) bool) {
	e := enumeration{moments: moments(calls), random: random, seed: maphash.MakeSeed(), seen: map[uint64]bool{}, f: f}
	for before := -1; !e.stopped && len(e.seen) < limit && len(e.seen) > before; {
		before = len(e.seen)
		e.limit = min(limit, max(20_000, 10*before))
		e.pass()
	}
}

// An enumeration finds the images of a recording, each once.
type enumeration struct {
	moments []moment
	limit   int
	random  *rand.Rand
	seed    maphash.Seed
	seen    map[uint64]bool
	f       func(task) bool
	stopped bool // by f
}

// pass goes through the recording once. Each barrier gets a part of the images that are missing.
func (e *enumeration) pass() {
	barriers := 1
	for _, m := range e.moments {
		if m.end {
			barriers++
		}
	}
	disk, want := crash.NewDisk(), expected{}
	for _, m := range e.moments {
		switch {
		case m.call.Kind == crash.Print:
			want.print(string(m.call.Data))
		case m.end:
			e.images(fmt.Sprintf("line %d, before the sync of %s ends", m.line, m.call.Path), disk, want, barriers)
			barriers--
			disk.Synced(m.call)
		default:
			disk.Begin(m.call)
		}
	}
	e.images("at the end", disk, want, barriers)
}

func (e *enumeration) images(where string, disk *crash.Disk, want expected, barriers int) {
	wanted := maps.Clone(want)
	share := (e.limit - len(e.seen) + barriers - 1) / barriers
	disk.Images(share, e.random, func(name string, image crash.Image) bool {
		key := sum(e.seed, image, wanted)
		if e.stopped || e.seen[key] {
			return false
		}
		e.seen[key] = true
		e.stopped = !e.f(task{where + ": " + name, image, wanted})
		return true
	})
}

// sum identifies an image and what is expected of it.
func sum(seed maphash.Seed, image crash.Image, want expected) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, name := range slices.Sorted(maps.Keys(image)) {
		fmt.Fprintf(&h, "%s %d ", name, len(image[name]))
		h.Write(image[name])
	}
	for _, thing := range slices.Sorted(maps.Keys(want)) {
		fmt.Fprint(&h, thing, want[thing])
	}
	return h.Sum64()
}

// transient reports whether a file is made again after a restart of the machine: locks,
// and the index of the write-ahead log.
func transient(name string) bool {
	return strings.HasSuffix(name, "-shm") || strings.HasPrefix(name, "locks/") || strings.HasSuffix(name, ".lock")
}

// TestCrashImages opens the images that a power failure may leave of a recorded run. In
// each, every acknowledged change is there, changes are there as a whole or not at all, the chains
// are valid, and rooms take events. $MOOT_CRASH_IMAGES is the number of images; -timeout
// ends it earlier.
func TestCrashImages(t *testing.T) {
	limit := 20_000
	if testing.Short() {
		limit = 300
	}
	if n, err := strconv.Atoi(os.Getenv("MOOT_CRASH_IMAGES")); err == nil {
		limit = n
	}
	calls := recording(t)
	checked, wrong := checkAll(t, calls, limit, func(where string, err error, kept string) { t.Errorf("%s: %v%s", where, err, kept) })
	t.Logf("%d calls, %d images, %d wrong", len(calls), checked, wrong)
	if deadline, ok := t.Deadline(); checked < limit*9/10 && !(ok && time.Until(deadline) < 2*spare) {
		t.Errorf("only %d images", checked)
	}
}

// TestCrashImagesOfLostSync pretends that the syncs of the write-ahead log did nothing:
// acknowledged events are lost then, and the check must find it.
func TestCrashImagesOfLostSync(t *testing.T) {
	calls := slices.DeleteFunc(recording(t), func(c crash.Call) bool {
		return c.Kind == crash.Sync && c.Path == sqlite.FileName+"-wal"
	})
	if checked, wrong := checkAll(t, calls, 300, func(string, error, string) {}); wrong < checked/10 {
		t.Errorf("of %d images %d are found to be wrong", checked, wrong)
	}
}

// spare is the time before the end of -timeout at which no further images are made.
const spare = time.Minute

// checkAll checks at most limit images of a recording, fewer when -timeout ends. It
// reports the first wrong ones.
func checkAll(t *testing.T, calls []crash.Call, limit int, report func(where string, err error, kept string)) (checked, wrong int) {
	var all, bad atomic.Int64
	tasks := make(chan task, 16)
	c := newChecker()
	var wg sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		dir := filepath.Join(scratch(t), "data")
		wg.Go(func() {
			for task := range tasks {
				n := all.Add(1)
				if n%50_000 == 0 {
					t.Logf("%d images", n)
				}
				if err := c.check(dir, task, n%64 == 0); err != nil && bad.Add(1) <= 10 {
					report(task.where, err, keep(task.image))
				}
			}
		})
	}
	deadline, ends := t.Deadline()
	enumerate(calls, limit, rand.New(rand.NewPCG(17, 17)), func(task task) bool {
		tasks <- task
		return !ends || time.Until(deadline) > spare
	})
	close(tasks)
	wg.Wait()
	t.Logf("%d images, repaired to %d different folders", all.Load(), len(c.read))
	return int(all.Load()), int(bad.Load())
}

// scratch returns a folder for images, in memory if the machine has such a disk.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "moot-crash-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
