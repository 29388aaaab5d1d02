package server_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

// benchRelay makes the test program run a relay. The relay has its own process,
// so that its memory and time are measured alone.
const benchRelay = "MOOT_BENCH_RELAY"

func serveBenchmark() {
	s, err := server.New(server.Config{Hosts: []string{"bench"}, Open: true, Limits: unlimited})
	if err != nil {
		panic(err)
	}
	serveForBench(s)
}

// startProcess starts a relay in another process.
func startProcess(b *testing.B) (r *relay, pid int, ask func(what string) string) {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), benchRelay+"=1")
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
	lines := bufio.NewScanner(out)
	ask = func(what string) string {
		if _, err := io.WriteString(in, what+"\n"); err != nil {
			b.Fatal(err)
		}
		if !lines.Scan() {
			b.Fatal("the relay has ended")
		}
		return lines.Text()
	}
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	n := network{host: ask("address")}
	n.dial = dialTCP
	return &relay{network: n, t: b}, cmd.Process.Pid, ask
}

func (r *relay) benchLogin() *endpoint {
	r.t.Helper()
	e := r.dialHello()
	e.send(e.loginFrame("bench", ""))
	want[frame.Welcome](e)
	if err := e.SetReadDeadline(time.Time{}); err != nil {
		r.t.Fatal(err)
	}
	return e
}

// BenchmarkEcho measures round trips of 4 KiB, which are two frames through the
// relay each. Many pairs measure throughput, one pair measures latency.
func BenchmarkEcho(b *testing.B) {
	for _, pairs := range []int{1, 4, 16} {
		b.Run(fmt.Sprint("pairs=", pairs), func(b *testing.B) {
			r, pid, _ := startProcess(b)
			r.echo(b, pid, pairs)
		})
	}
}

// BenchmarkEchoWithFrozen measures the same next to an endpoint that is sent
// to all the time and never reads.
func BenchmarkEchoWithFrozen(b *testing.B) {
	r, pid, _ := startProcess(b)
	frozen, flooder := r.benchLogin(), r.benchLogin()
	send, err := frame.Append(nil, frame.Send{To: frozen.id(), Payload: make([]byte, 4096)})
	if err != nil {
		b.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { // reads GONE frames, so that only one endpoint is frozen
		for {
			if _, _, err := flooder.ReadMessage(); err != nil {
				return
			}
		}
	}()
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if flooder.WriteMessage(websocket.BinaryMessage, send) != nil {
					return
				}
			}
		}
	}()
	r.echo(b, pid, 4)
	close(stop)
	<-done
	flooder.Close()
}

func (r *relay) echo(b *testing.B, pid, pairs int) {
	type pair struct{ ask, answer *endpoint }
	var all []pair
	for range pairs {
		p := pair{r.benchLogin(), r.benchLogin()}
		go p.answer.echo()
		all = append(all, p)
	}
	cpu := processorTime(b, pid)
	trips := make(chan struct{}, b.N)
	for range b.N {
		trips <- struct{}{}
	}
	close(trips)
	done := make(chan error, pairs)
	b.ResetTimer()
	for _, p := range all {
		go func() { done <- p.ask.trip(p.answer.id(), trips) }()
	}
	for range all {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trips/s")
	b.ReportMetric(float64((processorTime(b, pid)-cpu).Microseconds())/float64(b.N), "relay-cpu-us/op")
	for _, p := range all {
		p.ask.Close()
		p.answer.Close()
	}
}

// trip sends a frame and waits for its echo, once per ticket.
func (e *endpoint) trip(to frame.ID, tickets <-chan struct{}) error {
	send, err := frame.Append(nil, frame.Send{To: to, Payload: make([]byte, 4096)})
	if err != nil {
		return err
	}
	buf := make([]byte, len(send))
	for range tickets {
		if err := e.WriteMessage(websocket.BinaryMessage, send); err != nil {
			return err
		}
		if err := e.read(buf); err != nil {
			return err
		}
	}
	return nil
}

// echo returns each frame to its sender.
func (e *endpoint) echo() {
	buf := make([]byte, 33+4096)
	for e.read(buf) == nil {
		buf[0] = byte(frame.KindSend)
		if e.WriteMessage(websocket.BinaryMessage, buf) != nil {
			return
		}
	}
}

// read reads a message of the size of buf without allocating.
func (e *endpoint) read(buf []byte) error {
	_, r, err := e.NextReader()
	if err != nil {
		return err
	}
	_, err = io.ReadFull(r, buf)
	return err
}

// BenchmarkIdle measures the memory and goroutines of 1,000 idle connections.
func BenchmarkIdle(b *testing.B) {
	const connections = 1000
	r, _, ask := startProcess(b)
	r.benchLogin() // one-time allocations
	before, _ := strconv.Atoi(ask("memory"))
	goroutines, _ := strconv.Atoi(ask("goroutines"))
	for b.Loop() {
		var all []*endpoint
		for range connections {
			all = append(all, r.benchLogin())
		}
		after, _ := strconv.Atoi(ask("memory"))
		then, _ := strconv.Atoi(ask("goroutines"))
		b.ReportMetric(float64(after-before)/connections, "bytes/conn")
		b.ReportMetric(float64(then-goroutines)/connections, "goroutines/conn")
		for _, e := range all {
			e.Close()
		}
	}
}

// resident returns the resident memory of this process in bytes, after free
// memory was returned to the system. Socket buffers are not included.
func resident() int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil { // not Linux: the memory that Go holds
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.Sys - m.HeapReleased)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(b))[1])
	return pages * os.Getpagesize()
}

// processorTime returns the processor time of another process.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0 // not Linux
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // ticks of 100 Hz
}
