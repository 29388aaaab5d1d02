//go:build unix

// Package pgtest starts a PostgreSQL server for tests and measurements, in a folder of its
// own, on a unix socket.
package pgtest

import (
	"errors"
	"fmt"
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
	owner *syscall.Credential // nil for the user of this program
	args  []string
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has ended
}

// ErrMissing says that PostgreSQL is not installed.
var ErrMissing = errors.New("PostgreSQL is not installed (Debian: apt-get install postgresql)")

// Start starts a server with further arguments such as -c name=value, and ends it with the
// test. Where PostgreSQL is not installed, the test is skipped, and fails in CI.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s, err := Run("", args...)
	switch {
	case errors.Is(err, ErrMissing) && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err) // in CI, `.ci/run tools` installs it
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Run starts a server for a program that is no test, in a new folder below dir; "" is the
// folder for temporary files. It is [ErrMissing] where PostgreSQL is not installed. The
// caller must Stop the server.
func Run(dir string, args ...string) (*Server, error) {
	bin, ok := binaries()
	if !ok {
		return nil, ErrMissing
	}
	s := &Server{bin: bin, args: args}
	err := s.prepare(dir)
	if err == nil {
		err = s.start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// Stop ends the server with its other processes, and removes its folder.
func (s *Server) Stop() error {
	return errors.Join(s.end(syscall.SIGQUIT), os.RemoveAll(s.dir))
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
func (s *Server) prepare(parent string) (err error) {
	if s.dir, err = os.MkdirTemp(parent, "pg"); err != nil { // short: the path of a socket has 107 bytes at most
		return err
	}
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(Password), 0o600); err != nil {
		return err
	}
	if os.Getuid() == 0 {
		if s.owner, err = other(); err != nil {
			return err
		}
		if err := errors.Join(os.Chown(s.dir, int(s.owner.Uid), int(s.owner.Gid)), os.Chown(secret, int(s.owner.Uid), int(s.owner.Gid))); err != nil {
			return err
		}
	}
	if out, err := s.command("initdb", "-D", s.data(), "-U", "moot", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--locale=C", "-N").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	single := s.command("postgres", "--single", "-D", s.data(), "postgres")
	single.Stdin = strings.NewReader("create database moot;\n")
	if out, err := single.CombinedOutput(); err != nil {
		return fmt.Errorf("creating the database: %w\n%s", err, out)
	}
	return nil
}

// other returns a user that is not root.
func other() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner, Setpgid: true}
	return cmd
}

// Launch starts the server and waits until it takes connections.
func (s *Server) Launch(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) start() error {
	for {
		text, ok, err := s.launch()
		switch {
		case ok || err != nil:
			return err
		case !strings.Contains(text, "shared memory block"): // processes of a server that was killed have not ended yet
			return fmt.Errorf("the server has ended:\n%s", text)
		}
	}
}

// launch starts the server, and returns what it has printed if it has ended.
func (s *Server) launch() (output string, ok bool, err error) {
	s.cmd = s.command("postgres", append([]string{"-D", s.data(), "-k", s.dir, "-c", "listen_addresses="}, s.args...)...)
	file, err := os.Create(filepath.Join(s.dir, "output"))
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	s.cmd.Stdout, s.cmd.Stderr = file, file
	if err := s.cmd.Start(); err != nil {
		return "", false, err
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
			return string(text), false, nil
		case <-time.After(20 * time.Millisecond):
		}
	}
	return "", true, nil
}

// Kill kills the server. Its other processes notice that and end.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.end(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func (s *Server) end(signal syscall.Signal) error {
	if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.ended
	return nil
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
