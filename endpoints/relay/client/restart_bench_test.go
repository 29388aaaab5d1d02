package client_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/client"
)

// BenchmarkRestart prints how long it takes until sixty devices behind one
// address are back at a relay that was killed and started again. MOOT_BENCH_MOOTS
// names the moot programs to compare in one run, as NAME=PATH,NAME=PATH. A
// device that is not back after ten minutes is not waited for.
//
//	MOOT_BENCH_MOOTS=before=/old/moot,after=$(command -v moot) go test -run '^$' -bench Restart -benchtime 1x ./endpoints/relay/client
func BenchmarkRestart(b *testing.B) {
	programs := os.Getenv("MOOT_BENCH_MOOTS")
	if programs == "" {
		b.Skip("MOOT_BENCH_MOOTS names no program")
	}
	for _, p := range strings.Split(programs, ",") {
		name, path, _ := strings.Cut(p, "=")
		b.Run(name, func(b *testing.B) {
			for range b.N {
				restartOf(b, path)
			}
		})
	}
}

func restartOf(b *testing.B, program string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	kill := startRelay(b, program, "--listen", address, "--open", "--login-burst", "1000")
	var all []*endpoint
	for range 60 {
		all = append(all, startConnected(b, newDevice(b), client.Config{URL: "ws://" + address}))
	}
	kill()
	for _, e := range all {
		e.awaitStatus(b, false)
	}
	begun, deadline := time.Now(), time.After(10*time.Minute)
	kill = startRelay(b, program, "--listen", address, "--open") // with the limits that operators have
	back, last := 0, time.Duration(0)
	for _, e := range all {
		for connected := false; !connected; {
			select {
			case s := <-e.changed:
				connected = s.Connected
			case <-deadline:
				b.Fatalf("%d of %d devices were back", back, len(all))
			}
		}
		back, last = back+1, time.Since(begun)
	}
	b.ReportMetric(last.Seconds(), "s/all-back")
	for _, e := range all {
		_ = e.stop() // the relay is there
	}
	kill()
}

// startRelay starts a relay as a process, and returns what kills it.
func startRelay(b *testing.B, program string, args ...string) (kill func()) {
	b.Helper()
	cmd := exec.Command(program, append([]string{"relay"}, args...)...)
	cmd.Env = append(os.Environ(), "MOOT_DATA="+b.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		b.Fatal("the relay did not start")
	}
	return func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
}
