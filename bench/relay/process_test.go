package relay

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/server"
)

// serveRelay makes the test program run a relay: tls or plain.
const serveRelay = "MOOT_BENCH_RELAY"

// derperVersion is the last version that builds with Go 1.26.
const derperVersion = "v1.96.4"

func TestMain(m *testing.M) {
	if how := os.Getenv(serveRelay); how != "" {
		serve(how == "tls")
		return
	}
	code := m.Run()
	_ = os.RemoveAll(derperDir)
	os.Exit(code)
}

var derperDir string // has the built derper; "" before

// serve runs a relay without limits. It prints its address, and its resident memory for
// each line of its input, until the input ends.
func serve(encrypted bool) {
	cfg := server.Config{Hosts: []string{host}, Open: true, Limits: server.Limits{
		BytesPerSecond: 1 << 30, BurstBytes: 1 << 30, FramesPerSecond: 1 << 30, BurstFrames: 1 << 30,
		StrangerFramesPerMinute: 1 << 30, LoginBurst: 1 << 20, PerAddress: 1 << 20, Connections: 1 << 20,
		PingEvery: time.Hour, ReadTimeout: 2 * time.Hour,
	}}
	if encrypted {
		cfg.TLS = &tls.Config{Certificates: []tls.Certificate{selfSigned()}}
	}
	s, err := server.New(cfg)
	check(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	fmt.Println(l.Addr())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		runtime.GC()
		debug.FreeOSMemory()
		fmt.Println(resident())
	}
	cancel()
	check(<-done)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func selfSigned() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), DNSNames: []string{host}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(err)
	return tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: key}
}

// resident returns the resident memory of this process in bytes. Socket buffers are not
// included.
func resident() int {
	text, err := os.ReadFile("/proc/self/statm")
	check(err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	check(err)
	return pages * os.Getpagesize()
}

// A process is a relay in another process.
type process struct {
	address string
	pid     int
	memory  func() int // of moot's relay
}

// onOneCore returns a command that runs on one core.
func onOneCore(name string, args ...string) *exec.Cmd {
	if taskset, err := exec.LookPath("taskset"); err == nil {
		name, args = taskset, append([]string{"-c", "0", name}, args...)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	return cmd
}

func startMoot(b *testing.B, how string) process {
	b.Helper()
	cmd := onOneCore(os.Args[0])
	cmd.Env = append(cmd.Env, serveRelay+"="+how)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	line := func() string {
		if !lines.Scan() {
			b.Fatal("the relay has ended")
		}
		return lines.Text()
	}
	return process{address: line(), pid: cmd.Process.Pid, memory: func() int {
		_, _ = in.Write([]byte("\n"))
		n, _ := strconv.Atoi(line())
		return n
	}}
}

// derper builds derper once and returns its path.
var derper = sync.OnceValues(func() (string, error) {
	var err error
	if derperDir, err = os.MkdirTemp("", "derper"); err != nil {
		return "", err
	}
	install := exec.Command("go", "install", "tailscale.com/cmd/derper@"+derperVersion)
	install.Env = append(os.Environ(), "GOBIN="+derperDir, "GOFLAGS=")
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(derperDir, "derper"), nil
})

func startDerper(b *testing.B) process {
	b.Helper()
	path, err := derper()
	if err != nil {
		b.Skipf("derper cannot be built: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	dir := b.TempDir()
	cmd := onOneCore(path, "-a", address, "-certmode", "manual", "-certdir", dir, "-hostname", host,
		"-c", filepath.Join(dir, "config"), "-http-port", "-1", "-stun=false")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
	})
	for {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
			return process{address: address, pid: cmd.Process.Pid}
		}
		if text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid)); strings.Contains(string(text), ") Z ") {
			text, _ := os.ReadFile(log.Name())
			b.Fatalf("derper has ended: %s", text)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// processorTime returns the processor time of a process.
func (p process) processorTime(b *testing.B) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		b.Skipf("no processor time: %v", err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // ticks of 100 Hz
}
