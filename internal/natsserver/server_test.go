package natsserver

import (
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/nats-io/nats.go"
)

// machines returns three machines on ports of this one that are free.
func machines(t *testing.T) (all []Machine) {
	t.Helper()
	for _, name := range []string{"one", "two", "three"} {
		all = append(all, Machine{Name: name, Host: "127.0.0.1", Port: freePort(t)})
	}
	if err := check(all); err != nil {
		return machines(t) // they overlap
	}
	return all
}

// freePort returns a port that is free with the two after it. It is below those that the system
// gives to others.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		if free(port) && free(port+1) && free(port+2) {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		l.Close()
	}
	return err == nil
}

// startIn starts the server of a folder. It ends with the test.
func startIn(t *testing.T, folder string) *Server {
	t.Helper()
	f, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(Config{Folder: f, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// await waits for what is expected to happen.
func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for limit := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("waiting for %s", what)
		}
	}
}

func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	dir := filepath.Join(t.TempDir(), "keys")
	all := machines(t)
	if err := Init(dir, all, false); err != nil {
		t.Fatal(err)
	}
	one := startIn(t, filepath.Join(dir, "one"))
	if names, needed := one.Missing(); len(names) != 2 || needed != 1 || !strings.HasPrefix(names[0], "three (127.0.0.1:") {
		t.Errorf("alone: %v are missing, %d needed", names, needed)
	}
	two := startIn(t, filepath.Join(dir, "two"))
	await(t, "the other machine", func() bool { names, needed := one.Missing(); return len(names) == 1 && needed == 0 })
	// The folders are made again by another authority: neither routes nor clients get in.
	strange := filepath.Join(t.TempDir(), "keys")
	if err := Init(strange, all, false); err != nil {
		t.Fatal(err)
	}
	three := startIn(t, filepath.Join(strange, "three"))
	await(t, "a refusal", func() bool { return three.Refused() != "" && (one.Refused() != "" || two.Refused() != "") })
	if names, needed := three.Missing(); len(names) != 2 || needed != 1 {
		t.Errorf("a machine with other keys has company: %v missing, %d needed", names, needed)
	}
	connect(t, one.Folder, one.Folder, true)
	connect(t, three.Folder, one.Folder, false)
	if c, err := nats.Connect("nats://"+one.Self.clients(), nats.Secure(&tls.Config{RootCAs: one.roots})); err == nil {
		c.Close()
		t.Error("a client without a certificate was let in")
	}
	if c, err := nats.Connect("nats://" + one.Self.clients()); err == nil {
		c.Close()
		t.Error("a client without TLS was let in")
	}
}

// connect connects to a machine with the keys of another folder.
func connect(t *testing.T, with, to *Folder, want bool) {
	t.Helper()
	keys := with.TLS()
	keys.RootCAs = to.roots
	c, err := nats.Connect("nats://"+to.Self.clients(), nats.Secure(keys), nats.Timeout(time.Minute))
	if err == nil {
		c.Close()
	}
	if (err == nil) != want {
		t.Errorf("connecting: %v, want %v", err, want)
	}
}

func TestFolderRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		code   string
		holds  string
	}{
		"another name":     {replace(settingsFile, "name: one", "name: four"), "CLUSTER-MACHINES", `"four"`},
		"an even number":   {replace(settingsFile, "machines:", "machines:\n  four: 10.0.0.4"), "CLUSTER-MACHINES", "4 machines"},
		"an unknown key":   {replace(settingsFile, "name: one", "name: one\nport: 3"), "CLUSTER-FOLDER", ""},
		"a bad port":       {replace(settingsFile, ":8430", ":84300"), "CLUSTER-MACHINES", "10.0.0.1:84300"},
		"another address":  {replace(settingsFile, "10.0.0.1", "10.0.0.9"), "CLUSTER-CERT", "refuse"},
		"no settings":      {remove(settingsFile), "CLUSTER-FOLDER", ""},
		"no key":           {remove(keyFile), "CLUSTER-FOLDER", ""},
		"no authority":     {replace(authorityFile, "BEGIN", "END"), "CLUSTER-FOLDER", ""},
		"a readable key":   {func(t *testing.T, dir string) { chmod(t, filepath.Join(dir, keyFile), 0o644) }, "CLUSTER-FOLDER", "other users"},
		"the same address": {replace(settingsFile, "10.0.0.2", "10.0.0.1"), "CLUSTER-MACHINES", "overlap"},
	} {
		dir := filepath.Join(t.TempDir(), "keys")
		all := []Machine{{"one", "10.0.0.1", 8430}, {"two", "10.0.0.2", 8430}, {"three", "three.example", 8430}}
		if err := Init(dir, all, false); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(dir, "one")
		if _, err := Read(folder); err != nil {
			t.Fatal(err)
		}
		c.change(t, folder)
		_, err := Read(folder)
		if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != c.code || p.Fix == "" || !strings.Contains(p.What, c.holds) {
			t.Errorf("%s: %v, want %s with %q", name, err, c.code, c.holds)
		}
	}
}

func replace(file, old, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		path := filepath.Join(dir, file)
		have, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(have), old) {
			t.Fatalf("%s: no %q: %v", path, old, err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(have), old, text, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(file string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestRenew: certificates that the same authority makes later work with the old ones.
func TestRenew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	all := []Machine{{"one", "10.0.0.1", 8430}, {"two", "10.0.0.2", 8430}, {"three", "10.0.0.3", 8430}}
	if err := Init(dir, all, false); err != nil {
		t.Fatal(err)
	}
	if err := Init(dir, all, false); err == nil {
		t.Error("a folder that exists was written over")
	}
	before, err := Read(filepath.Join(dir, "one"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Init(dir, all, true); err != nil {
		t.Fatal(err)
	}
	after, err := Read(filepath.Join(dir, "one"))
	if err != nil {
		t.Fatal(err)
	}
	if before.pair.Leaf.Equal(after.pair.Leaf) || !before.roots.Equal(after.roots) {
		t.Error("renewing made no new certificate, or another authority")
	}
	if err := Init(filepath.Join(t.TempDir(), "other"), all, true); err == nil {
		t.Error("certificates were renewed without an authority")
	}
}

// TestClock: a clock outside of the time of the certificate is named as the reason.
func TestClock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	all := []Machine{{"one", "10.0.0.1", 8430}, {"two", "10.0.0.2", 8430}, {"three", "10.0.0.3", 8430}}
	if err := Init(dir, all, false); err != nil {
		t.Fatal(err)
	}
	f, err := Read(filepath.Join(dir, "one"))
	if err != nil {
		t.Fatal(err)
	}
	err = f.checkCertificate("cert.pem", time.Now().Add(-30*24*time.Hour))
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != "CLUSTER-CERT" || !strings.Contains(p.Fix, "clock") {
		t.Errorf("a clock that is a month behind: %v", err)
	}
}

func TestPortTaken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	all := machines(t)
	if err := Init(dir, all, false); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", all[0].routes())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := Read(filepath.Join(dir, "one"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(Config{Folder: f, Dir: t.TempDir()})
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != "SERVER-LISTEN" || p.Where != all[0].routes() {
		t.Errorf("%v", err)
	}
}

func TestListenHost(t *testing.T) {
	for host, want := range map[string]string{"10.0.0.1": "10.0.0.1", "node.example": "0.0.0.0", "::1": "::1"} {
		f := Folder{Self: Machine{Host: host}}
		if got := f.listenHost(); got != want {
			t.Errorf("%s listens at %s, want %s", host, got, want)
		}
		f.listen = "192.0.2.1"
		if got := f.listenHost(); got != f.listen {
			t.Errorf("%s listens at %s, want %s", host, got, f.listen)
		}
	}
}

func TestParseMachine(t *testing.T) {
	for text, want := range map[string]Machine{
		"one=10.0.0.1":         {"one", "10.0.0.1", DefaultPort},
		"one=node.example:900": {"one", "node.example", 900},
		"a=[::1]:900":          {"a", "::1", 900},
		"a=::1":                {"a", "::1", DefaultPort},
	} {
		if got, err := ParseMachine(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "one", "=10.0.0.1", "one=", "one=host:port", "one=host:0", "one=host:65534", "o.e=host", "../x=host", "one=a b", "one=nats://host"} {
		if got, err := ParseMachine(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}
