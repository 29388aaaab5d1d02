package local

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/folkmoot/moot/problem"
)

// shortDir returns a folder whose path is short on every system.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "moot")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "data")
}

// greet makes a listener send a line to each connection.
func greet(t *testing.T, l *Listener, line string) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, line) // a probe does not read it
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
}

func received(t *testing.T, s Socket) string {
	t.Helper()
	c, err := s.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestListenAndFind(t *testing.T) {
	data := shortDir(t)
	if _, err := FindDaemon(data); !errors.Is(err, ErrNone) {
		t.Errorf("a daemon in no folder: %v", err)
	}
	if all, err := Find(data); err != nil || all != nil {
		t.Errorf("sockets in no folder: %v, %v", all, err)
	}
	own, err := Listen(data)
	if err != nil {
		t.Fatal(err)
	}
	greet(t, own, "process")
	if _, err := FindDaemon(data); !errors.Is(err, ErrNone) {
		t.Errorf("a daemon that was not started: %v", err)
	}
	daemon, err := ListenDaemon(data)
	if err != nil {
		t.Fatal(err)
	}
	greet(t, daemon, "daemon")
	all, err := Find(data)
	if err != nil || len(all) != 2 || !all[0].Daemon() || all[1].PID != os.Getpid() {
		t.Fatalf("found %+v, %v", all, err)
	}
	if got := received(t, all[0]) + " " + received(t, all[1]); got != "daemon process" {
		t.Errorf("received %q", got)
	}
	if pid := DaemonPID(data); pid != os.Getpid() {
		t.Errorf("the daemon is process %d", pid)
	}
	found, err := FindProcess(data, os.Getpid())
	if err != nil || found != all[1] {
		t.Errorf("found %+v, %v", found, err)
	}
	if err := daemon.Close(); err != nil {
		t.Error(err)
	}
	daemon.Release()
	if _, err := FindDaemon(data); !errors.Is(err, ErrNone) {
		t.Errorf("a daemon that has ended: %v", err)
	}
	if pid := DaemonPID(data); pid != 0 {
		t.Errorf("the daemon that has ended is process %d", pid)
	}
	if _, err := all[0].Dial(t.Context()); !errors.Is(err, ErrNone) {
		t.Errorf("dialled a daemon that has ended: %v", err)
	}
	if _, err := os.Lstat(daemon.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

func TestSecondDaemon(t *testing.T) {
	data := shortDir(t)
	first, err := ListenDaemon(data)
	if err != nil {
		t.Fatal(err)
	}
	greet(t, first, "first")
	_, err = ListenDaemon(data)
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != "SERVER-RUNNING" || !errors.Is(err, ErrRunning) || !strings.Contains(p.What, strconv.Itoa(os.Getpid())) {
		t.Fatalf("a second daemon: %v", err)
	}
	if s, err := FindDaemon(data); err != nil || received(t, s) != "first" {
		t.Errorf("the first one does not answer: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := ListenDaemon(data); !errors.Is(err, ErrRunning) {
		t.Errorf("a second daemon while the rooms of the first come to rest: %v", err)
	}
	first.Release()
	next, err := ListenDaemon(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

// stale leaves the socket of a process that was killed.
func stale(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(path, 0o600), l.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestStaleSockets(t *testing.T) {
	data := shortDir(t)
	dir, err := makeFolder(data)
	if err != nil {
		t.Fatal(err)
	}
	other := os.Getpid() + 1
	stale(t, filepath.Join(dir, daemonName))
	stale(t, filepath.Join(dir, strconv.Itoa(os.Getpid())+suffix))
	stale(t, filepath.Join(dir, strconv.Itoa(other)+suffix))
	stale(t, filepath.Join(dir, strconv.Itoa(os.Getpid())+suffix+newSuffix))
	if _, err := FindDaemon(data); !errors.Is(err, ErrNone) {
		t.Errorf("a daemon that was killed: %v", err)
	}
	if _, err := FindProcess(data, other); !errors.Is(err, ErrNone) {
		t.Errorf("a process that was killed: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, strconv.Itoa(other)+suffix)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its socket is left: %v", err)
	}
	own, err := Listen(data)
	if err != nil {
		t.Fatal(err)
	}
	greet(t, own, "own")
	daemon, err := ListenDaemon(data)
	if err != nil {
		t.Fatal(err)
	}
	greet(t, daemon, "daemon")
	if all, err := Find(data); err != nil || len(all) != 2 || received(t, all[0]) != "daemon" || received(t, all[1]) != "own" {
		t.Errorf("found %+v, %v", all, err)
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the modes of files say nothing on Windows")
	}
	data := shortDir(t)
	l, err := ListenDaemon(data)
	if err != nil {
		t.Fatal(err)
	}
	greet(t, l, "daemon")
	dir := filepath.Dir(l.Path())
	for path, want := range map[string]fs.FileMode{dir: fs.ModeDir | 0o700, l.Path(): fs.ModeSocket | 0o600, filepath.Join(dir, "daemon.lock"): 0o600} {
		if st, err := os.Lstat(path); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, want %v (%v)", path, st.Mode(), want, err)
		}
	}
	found, err := FindDaemon(data)
	if err != nil {
		t.Fatal(err)
	}
	for mode := range fs.FileMode(0o100) { // every right of others
		if mode == 0 {
			continue
		}
		refuses(t, data, found, l.Path(), mode|0o600, 0o600)
		refuses(t, data, found, dir, mode|0o700, 0o700)
	}
}

// refuses checks that nothing connects while a file has that mode.
func refuses(t *testing.T, data string, s Socket, path string, mode, before fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Dial(t.Context()); codeOf(err) != "SERVER-SOCKET" {
		t.Errorf("dialled with %s %v: %v", filepath.Base(path), mode, err)
	}
	if _, err := FindDaemon(data); codeOf(err) != "SERVER-SOCKET" {
		t.Errorf("found with %s %v: %v", filepath.Base(path), mode, err)
	}
	if err := os.Chmod(path, before); err != nil {
		t.Fatal(err)
	}
}

func codeOf(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Code
	}
	return ""
}

// TestUnsafeFolder refuses a folder that another user could have made.
func TestUnsafeFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the modes of files say nothing on Windows")
	}
	for name, make := range map[string]func(dir string) error{
		"a link":         func(dir string) error { return os.Symlink(os.TempDir(), dir) },
		"a file":         func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"open to others": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o755)) },
		"another user's": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, os.Getuid()+1, -1)) },
	} {
		t.Run(name, func(t *testing.T) {
			data := shortDir(t)
			if err := os.Mkdir(data, 0o700); err != nil {
				t.Fatal(err)
			}
			dir, err := Folder(data)
			if err != nil {
				t.Fatal(err)
			}
			if err := make(dir); errors.Is(err, fs.ErrPermission) {
				t.Skip("only root can make a folder of another user")
			} else if err != nil {
				t.Fatal(err)
			}
			if _, err := Listen(data); codeOf(err) != "SERVER-SOCKET" {
				t.Errorf("listens: %v", err)
			}
			if _, err := ListenDaemon(data); codeOf(err) != "SERVER-SOCKET" {
				t.Errorf("listens as the daemon: %v", err)
			}
			if _, err := FindDaemon(data); codeOf(err) != "SERVER-SOCKET" {
				t.Errorf("finds: %v", err)
			}
			if _, err := Find(data); codeOf(err) != "SERVER-SOCKET" {
				t.Errorf("finds: %v", err)
			}
		})
	}
}

// TestLongPath uses a folder below that for temporary files.
func TestLongPath(t *testing.T) {
	base := shortDir(t)
	data := filepath.Join(base, strings.Repeat("long", 40), "data")
	l, err := ListenDaemon(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(l.Path())) })
	greet(t, l, "far")
	if len(l.Path()) > maxPath || !strings.HasPrefix(l.Path(), os.TempDir()) {
		t.Errorf("the socket is %s", l.Path())
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(data, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for _, path := range []string{data, link} {
		if s, err := FindDaemon(path); err != nil || received(t, s) != "far" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if s, err := Folder(filepath.Join(base, strings.Repeat("long", 41), "data")); err != nil || s == filepath.Dir(l.Path()) {
		t.Errorf("another data folder has the sockets in %s, %v", s, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	t.Setenv("TMPDIR", filepath.Join(base, strings.Repeat("tmp", 40)))
	if _, err := Folder(data); codeOf(err) != "SERVER-SOCKET" {
		t.Errorf("a path that is too long: %v", err)
	}
}

func TestParseName(t *testing.T) {
	for name, want := range map[string]int{"1.sock": 1, "4294967295.sock": 4294967295, "daemon.sock": 0} {
		if s, ok := parseName("d", name); !ok || s.PID != want {
			t.Errorf("%s: %+v, %v", name, s, ok)
		}
	}
	for _, name := range []string{"", "sock", ".sock", "0.sock", "-1.sock", "+1.sock", "01.sock", "1.sock.new", "daemon.lock", "x.sock", "99999999999999999999.sock"} {
		if s, ok := parseName("d", name); ok {
			t.Errorf("%q is taken for %+v", name, s)
		}
	}
}

// TestDial prefers the daemon to the process that holds a room.
func TestDial(t *testing.T) {
	data := shortDir(t)
	dialled := func(holder int) string {
		c, err := Dial(t.Context(), data, holder)
		if errors.Is(err, ErrNone) {
			return "none"
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		b, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var got []string
	try := func() { got = append(got, dialled(0), dialled(os.Getpid()), dialled(os.Getpid()+1)) }
	try()
	own, err := Listen(data)
	if err != nil {
		t.Fatal(err)
	}
	greet(t, own, "process")
	try()
	daemon, err := ListenDaemon(data)
	if err != nil {
		t.Fatal(err)
	}
	greet(t, daemon, "daemon")
	try()
	daemon.Close()
	try()
	if want := "none none none none process none daemon daemon daemon none process none"; strings.Join(got, " ") != want {
		t.Errorf("dialled %v, want %s", got, want)
	}
}
