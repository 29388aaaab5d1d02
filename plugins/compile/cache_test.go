package compile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/plugins/guest"
	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// entryFiles returns the files of a cache.
func entryFiles(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if len(f.Name()) == keyLength {
			all = append(all, filepath.Join(dir, f.Name()))
		}
	}
	return all
}

// prepare loads a module and closes it again.
func prepare(c *Compiler, trusted bool, module []byte) error {
	load := c.Untrusted
	if trusted {
		load = c.Trusted
	}
	m, err := load(context.Background(), "test", guest.Digest(module), module)
	if err != nil {
		return err
	}
	return m.Close()
}

// damages are changes of a file of n bytes.
func damages(n int) map[string]func(b []byte) []byte {
	all := map[string]func(b []byte) []byte{
		"empty":  func([]byte) []byte { return nil },
		"longer": func(b []byte) []byte { return append(b, 0) },
	}
	for i := 0; i < n; i += 1 + n/40 {
		all[fmt.Sprint("byte ", i)] = func(b []byte) []byte { b[i] ^= 1 << (i % 8); return b }
		all[fmt.Sprint("cut at ", i)] = func(b []byte) []byte { return b[:i] }
	}
	return all
}

// TestDamagedEntry: whatever is damaged in the cache, a policy is loaded. The
// entry is made again, so that the next load finds it.
func TestDamagedEntry(t *testing.T) {
	if guest.Engine(false) != guest.EngineCompiler {
		t.Skip("wazero has no compiler for this platform")
	}
	for _, trusted := range []bool{true, false} {
		dir := t.TempDir()
		module := w.Answering("{}")
		c := open(t, Config{CacheDir: dir})
		if err := prepare(c, trusted, module); err != nil {
			t.Fatal(err)
		}
		path := entryFiles(t, dir)[0]
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, damage := range damages(len(good)) {
			if err := os.WriteFile(path, damage(append([]byte(nil), good...)), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := prepare(c, trusted, module); err != nil {
				t.Errorf("trusted %v, %s: %v", trusted, name, err)
			}
			if e := c.cache.get(guest.Digest(module)); e == nil || e.code == nil {
				t.Errorf("trusted %v, %s: the entry was not made again", trusted, name)
			}
		}
	}
}

// TestEveryFlip: no entry with a flipped byte, or without its last bytes, is
// used.
func TestEveryFlip(t *testing.T) {
	e := &entry{entryHeader: entryHeader{Key: "key", Metered: "m", Name: "wazero/x"}, code: []byte("some code"), snapshot: []byte("a snapshot")}
	good := e.encode()
	if d, err := decodeEntry(good, "key"); err != nil || string(d.code) != "some code" || string(d.snapshot) != "a snapshot" {
		t.Fatal(err, d)
	}
	for i := range good {
		for bit := range 8 {
			good[i] ^= 1 << bit
			if _, err := decodeEntry(good, "key"); err == nil {
				t.Errorf("bit %d of byte %d", bit, i)
			}
			good[i] ^= 1 << bit
		}
		if _, err := decodeEntry(good[:i], "key"); err == nil {
			t.Errorf("the first %d bytes", i)
		}
	}
}

// TestSwappedEntry: the entry of one module under the name of another is not
// used, and is deleted.
func TestSwappedEntry(t *testing.T) {
	dir := t.TempDir()
	c := open(t, Config{CacheDir: dir})
	one, other := w.Answering("{}"), w.Answering(w.Spoken)
	for _, m := range [][]byte{one, other} {
		if err := prepare(c, false, m); err != nil {
			t.Fatal(err)
		}
	}
	from, _, _ := c.cache.path(guest.Digest(one))
	to, _, _ := c.cache.path(guest.Digest(other))
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	if e := c.cache.get(guest.Digest(other)); e != nil {
		t.Error("the entry of another module is used")
	}
	if _, err := os.Stat(to); !os.IsNotExist(err) {
		t.Errorf("it was not deleted: %v", err)
	}
	if err := prepare(c, false, other); err != nil {
		t.Error(err)
	}
}

// TestForeignCache: a folder or a file that other users can write to, or that
// belongs to one, is not used. Policies load without it.
func TestForeignCache(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("this system has no modes of files")
	}
	module := w.Answering("{}")
	digest := guest.Digest(module)
	changes := map[string]func(path string) error{
		"group":  func(path string) error { return chmodMore(path, 0o020) },
		"others": func(path string) error { return chmodMore(path, 0o002) },
	}
	if os.Geteuid() == 0 { // only root can give a file away
		changes["owner"] = func(path string) error { return os.Chown(path, 12345, -1) }
	}
	for name, change := range changes {
		for _, folder := range []bool{false, true} {
			dir := t.TempDir()
			c := open(t, Config{CacheDir: dir})
			if err := prepare(c, false, module); err != nil {
				t.Fatal(err)
			}
			path := dir
			if !folder {
				path = entryFiles(t, dir)[0]
			}
			if c.cache.get(digest) == nil {
				t.Fatal("the entry is not used before")
			}
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if _, _, err := CheckCache(dir); err == nil {
				t.Errorf("%s, folder %v: not reported", name, folder)
			}
			if c.cache.get(digest) != nil {
				t.Errorf("%s, folder %v: the entry is used", name, folder)
			}
			if err := prepare(c, false, module); err != nil {
				t.Errorf("%s, folder %v: %v", name, folder, err)
			}
			if err := CheckFolder(dir); (err != nil) != folder {
				t.Errorf("%s, folder %v: %v", name, folder, err)
			}
			if n, _, err := CheckCache(dir); (err != nil) != folder || n != 1 { // the file was made again
				t.Errorf("%s, folder %v: %d entries, %v", name, folder, n, err)
			}
		}
	}
}

// TestForeignParent: a folder in which other users could put another one in the
// place of the cache, or of a folder above it, is not used. In a folder such as
// /tmp nobody can.
func TestForeignParent(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("this system has no modes of files")
	}
	changes := map[string]struct {
		change  func(path string) error
		private bool
	}{
		"as it is":      {func(string) error { return nil }, true},
		"read by all":   {func(path string) error { return os.Chmod(path, 0o755) }, true},
		"group":         {func(path string) error { return os.Chmod(path, 0o770) }, false},
		"others":        {func(path string) error { return os.Chmod(path, 0o707) }, false},
		"sticky":        {func(path string) error { return os.Chmod(path, 0o777|os.ModeSticky) }, true},
		"symbolic link": {func(path string) error { return moveBehindLink(path, 0o700) }, true},
		"link to group": {func(path string) error { return moveBehindLink(path, 0o770) }, false},
	}
	if os.Geteuid() == 0 { // only root can give a folder away
		for name, mode := range map[string]os.FileMode{"owner": 0o755, "owner, sticky": 0o777 | os.ModeSticky} {
			changes[name] = struct {
				change  func(path string) error
				private bool
			}{func(path string) error { return errors.Join(os.Chmod(path, mode), os.Chown(path, 12345, -1)) }, false}
		}
	}
	for name, c := range changes {
		parent := filepath.Join(t.TempDir(), "parent")
		dir := filepath.Join(parent, "between", "cache")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := c.change(parent); err != nil {
			t.Fatal(err)
		}
		if err := prepare(open(t, Config{CacheDir: dir}), false, w.Answering("{}")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, _, err := CheckCache(dir)
		if used := len(entryFiles(t, dir)) == 1; used != c.private || (err == nil) != c.private {
			t.Errorf("%s: the folder is used: %v, and reported: %v", name, used, err)
		}
	}
}

// moveBehindLink puts a symbolic link in the place of a folder, to the same one
// in a folder with these rights.
func moveBehindLink(path string, mode os.FileMode) error {
	to := path + "-elsewhere"
	return errors.Join(os.Mkdir(to, 0o700), os.Rename(path, filepath.Join(to, "folder")), os.Chmod(to, mode), os.Symlink(filepath.Join(to, "folder"), path))
}

// TestHomeIsTrusted: the folders above the user's own are not looked at.
func TestHomeIsTrusted(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("this system has no modes of files")
	}
	above := t.TempDir()
	home := filepath.Join(above, "home")
	dir := filepath.Join(home, "cache")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(above, 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := CheckFolder(dir); err == nil {
		t.Error("another user can replace the folder above")
	}
	t.Setenv("HOME", home)
	if err := CheckFolder(dir); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(home, 0o770); err != nil {
		t.Fatal(err)
	}
	if err := CheckFolder(dir); err == nil {
		t.Error("another user can write to the home folder")
	}
}

func chmodMore(path string, mode os.FileMode) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Chmod(path, st.Mode().Perm()|mode)
}

// TestEvict: the least recently used entries over the number and the size are
// removed, and what killed processes left.
func TestEvict(t *testing.T) {
	dir := t.TempDir()
	c := &cache{dir: dir, identity: func() (string, error) { return "test", nil }}
	start := time.Now().Add(-time.Hour)
	digest := func(i int) string { return guest.Digest([]byte{byte(i), byte(i >> 8)}) }
	put := func(i int, at time.Time) string {
		c.put(digest(i), &entry{entryHeader: entryHeader{Metered: "m"}, snapshot: []byte("s")})
		path, _, _ := c.path(digest(i))
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var paths []string
	for i := range maxModules + 5 {
		paths = append(paths, put(i, start.Add(time.Duration(i)*time.Second)))
		if i == 10 {
			c.get(digest(0)) // used: not the oldest any more
		}
	}
	c.evict()
	if n := len(entryFiles(t, dir)); n != maxModules {
		t.Errorf("%d entries, want %d", n, maxModules)
	}
	for i, gone := range map[int]bool{0: false, 1: true, 5: true, 6: false} {
		if _, err := os.Stat(paths[i]); os.IsNotExist(err) != gone {
			t.Errorf("entry %d: gone is not %v", i, gone)
		}
	}
	for _, path := range paths[maxModules:] { // each a third of the bound and more
		if err := os.Truncate(path, maxCacheBytes/3+1); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * keepWork)
	for _, name := range []string{workPrefix + "killed", workPrefix + "running"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(dir, workPrefix+"killed"), old, old); err != nil {
		t.Fatal(err)
	}
	c.evict()
	var bytes int64
	for _, path := range entryFiles(t, dir) {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		bytes += st.Size()
	}
	if bytes > maxCacheBytes || bytes < maxCacheBytes/2 {
		t.Errorf("%d bytes are left", bytes)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, workPrefix+"*")); len(left) != 1 || filepath.Base(left[0]) != workPrefix+"running" {
		t.Errorf("folders to compile in: %v", left)
	}
}

// TestRefusalIsRemembered: a module that is too expensive to compile is refused
// again without a worker, by other hosts too; not with higher limits, and not a
// day later.
func TestRefusalIsRemembered(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles for six seconds of the processor")
	}
	m := w.Policy().Finish()
	fill := append(append(append(w.I32Const(0), w.I32Const(7)...), w.I32Const(65536)...), w.Bulk(11, 0)...)
	m.Decide(nil, w.Repeat(20_000, fill), w.I64Const(0))
	bomb := m.Bytes()
	refused := func(c *Compiler, workers int, why string) {
		t.Helper()
		for range 2 {
			err := prepare(c, false, bomb)
			if e, ok := err.(*guest.Error); !ok || e.Code != guest.CodeCompile {
				t.Fatalf("%s: %v", why, err)
			}
		}
		if c.workers != workers {
			t.Errorf("%s: %d workers, want %d", why, c.workers, workers)
		}
	}
	dir := t.TempDir()
	refused(open(t, Config{CPUTime: time.Second}), 1, "without a cache")
	refused(open(t, Config{CacheDir: dir, CPUTime: time.Second}), 1, "cold")
	refused(open(t, Config{CacheDir: dir, CPUTime: time.Second}), 0, "remembered")
	refused(open(t, Config{CacheDir: dir, CPUTime: 2 * time.Second}), 1, "with a higher limit")
	old := time.Now().Add(-keepRefusal - time.Minute)
	for _, path := range entryFiles(t, dir) {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	refused(open(t, Config{CacheDir: dir, CPUTime: time.Second}), 1, "a day later")
}

// sharedCache names the folder that TestSharedCache's processes use.
const sharedCache = "FOLKMOOT_TEST_CACHE"

// TestLoader is a process of TestSharedCache.
func TestLoader(t *testing.T) {
	dir := os.Getenv(sharedCache)
	if dir == "" {
		t.Skip("TestSharedCache runs it")
	}
	for i := range 10 {
		for _, trusted := range []bool{true, false} {
			if err := prepare(open(t, Config{CacheDir: dir}), trusted, w.Answering(fmt.Sprint(i%3))); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSharedCache: several processes load the same modules from one cache, while
// its files are damaged and deleted.
func TestSharedCache(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestLoader$", "-test.count=1")
			cmd.Env = append(os.Environ(), sharedCache+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	go func() { wg.Wait(); close(done) }()
	for i := 0; ; i++ {
		select {
		case <-done:
			return
		default:
		}
		for _, path := range entryFiles(t, dir) {
			switch i % 3 {
			case 0:
				_ = os.Remove(path)
			case 1:
				_ = os.Truncate(path, 100)
			case 2:
				if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
					b[len(b)/2] ^= 1
					_ = os.WriteFile(path, b, 0o600)
				}
			}
		}
		time.Sleep(time.Millisecond) // a pause between damages, not a wait
	}
}

// FuzzDecodeEntry: whatever a file with a valid digest holds, its parts lie in
// it and its name leaves no folder.
func FuzzDecodeEntry(f *testing.F) {
	e := entry{entryHeader: entryHeader{Key: "key", Name: "a/b"}, code: []byte("code"), snapshot: []byte("s")}
	f.Add(e.encode()[len(entryMagic)+sha256.Size:])
	f.Add([]byte("\x20\x00\x00\x00" + `{"Key":"key","Code":-1,"Snapshot":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		e, err := decodeEntry(append(append([]byte(entryMagic), sum[:]...), body...), "key")
		if err == nil && (len(e.code)+len(e.snapshot) > len(body) || len(e.code) > 0 && !filepath.IsLocal(e.Name)) {
			t.Errorf("%+v", e.entryHeader)
		}
	})
}
