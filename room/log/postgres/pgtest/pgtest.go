//go:build unix

// Package pgtest starts a PostgreSQL server for tests, in a folder of its own, on a unix
// socket.
package pgtest

import (
	"errors"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Password is that of the user moot. No message, error or file may hold it.
const Password = "pw-5f1c0e7a9d"

// A Server is a PostgreSQL server with an empty database "moot".
type Server struct {
	dir   string
	bin   string
	owner *syscall.Credential // nil for the user of the tests
	args  []string
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has ended
}

// Start starts a server with further arguments such as -c name=value, and ends it with the
// test. Where PostgreSQL is not installed, the test is skipped, and fails in CI.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	bin, ok := binaries()
	if !ok && os.Getenv("CI") == "true" {
		t.Fatal("PostgreSQL is not installed: `.ci/run tools` does so")
	}
	if !ok {
		t.Skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
	}
	s := &Server{bin: bin, args: args}
	s.prepare(t)
	s.Launch(t)
	t.Cleanup(func() {
		s.end(t, syscall.SIGQUIT) // with its other processes
		if err := os.RemoveAll(s.dir); err != nil {
			t.Error(err)
		}
	})
	return s
}

// binaries returns the folder of the server's programs, the newest where there are several.
func binaries() (dir string, ok bool) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // Debian's
	slices.SortFunc(found, func(a, b string) int { return versionOf(a) - versionOf(b) })
	if path, err := exec.LookPath("pg_ctl"); err == nil && len(found) == 0 {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", false
	}
	return filepath.Dir(found[len(found)-1]), true
}

func versionOf(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// prepare makes the folder and the database. The server refuses to run as root: then it
// runs as another user.
func (s *Server) prepare(t testing.TB) {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg") // short: the path of a socket has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	s.dir = dir
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(Password), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		s.owner = other(t)
		if err := errors.Join(os.Chown(dir, int(s.owner.Uid), int(s.owner.Gid)), os.Chown(secret, int(s.owner.Uid), int(s.owner.Gid))); err != nil {
			t.Fatal(err)
		}
	}
	s.run(t, "initdb", "-D", s.data(), "-U", "moot", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--locale=C", "-N")
	single := s.command("postgres", "--single", "-D", s.data(), "postgres")
	single.Stdin = strings.NewReader("create database moot;\n")
	if out, err := single.CombinedOutput(); err != nil {
		t.Fatalf("creating the database: %v\n%s", err, out)
	}
}

// other returns a user that is not root.
func other(t testing.TB) *syscall.Credential {
	t.Helper()
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	t.Fatal("PostgreSQL does not run as root, and there is no user postgres or nobody")
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner, Setpgid: true}
	return cmd
}

func (s *Server) run(t testing.TB, program string, args ...string) {
	t.Helper()
	if out, err := s.command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// Launch starts the server and waits until it takes connections.
func (s *Server) Launch(t testing.TB) {
	t.Helper()
	for {
		text, ok := s.launch(t)
		switch {
		case ok:
			return
		case !strings.Contains(text, "shared memory block"): // processes of a server that was killed have not ended yet
			t.Fatalf("the server has ended:\n%s", text)
		}
	}
}

// launch starts the server, and returns what it has printed if it has ended.
func (s *Server) launch(t testing.TB) (output string, ok bool) {
	t.Helper()
	s.cmd = s.command("postgres", append([]string{"-D", s.data(), "-k", s.dir, "-c", "listen_addresses="}, s.args...)...)
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s.cmd.Stdout, s.cmd.Stderr = file, file
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait() // it is ended by a signal
		close(ended)
	}(s.cmd, s.ended)
	for s.command("pg_isready", "-q", "-h", s.dir).Run() != nil {
		select {
		case <-s.ended:
			text, _ := os.ReadFile(file.Name())
			return string(text), false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return "", true
}

// Kill kills the server. Its other processes notice that and end.
func (s *Server) Kill(t testing.TB) { s.end(t, syscall.SIGKILL) }

func (s *Server) end(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	<-s.ended
}

// URL returns the address of the database. Each search path is a log of its own; "" is the
// first one.
func (s *Server) URL(schema string) string { return s.URLAt(s.dir, schema) }

// URLAt is URL for a socket in another folder.
func (s *Server) URLAt(dir, schema string) string {
	query := url.Values{"host": {dir}}
	if schema != "" {
		query.Set("search_path", schema)
	}
	return (&url.URL{Scheme: "postgres", User: url.UserPassword("moot", Password), Path: "/moot", RawQuery: query.Encode()}).String()
}

// Dir returns the folder of the server's socket.
func (s *Server) Dir() string { return s.dir }
