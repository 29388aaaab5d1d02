package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkPause measures how long a pause from another process takes, with a turn in
// flight in a room of `moot serve`: until the answer says that room.paused is stored
// (client), and as the whole command `moot pause` (command). p50-ms and p99-ms are
// percentiles of wall time.
func BenchmarkPause(b *testing.B) {
	moot := filepath.Join(scratch(b, "bin"), "moot")
	build := exec.Command("go", "build", "-o", moot, "./cmd/moot")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building moot: %v\n%s", err, out)
	}
	b.Run("client", func(b *testing.B) {
		x := startRoom(b, moot)
		x.measure(b, func() error { return x.do("pause") })
	})
	b.Run("command", func(b *testing.B) {
		x := startRoom(b, moot)
		x.measure(b, func() error { return x.command("pause", x.room).Run() })
	})
}

// A slowRoom is a room of a server. A turn is in flight in it, which takes minutes.
type slowRoom struct {
	moot, home string
	room       string // its id
	http       http.Client
	events     *bufio.Scanner
}

// startRoom starts a server, with a room whose agents do not answer for minutes.
func startRoom(b *testing.B, moot string) *slowRoom {
	b.Helper()
	x := &slowRoom{moot: moot, home: b.TempDir()}
	file := filepath.Join(x.home, "room.yaml")
	text := "version: room/v1\nobjective: Wait.\nopening: Go.\npolicy: {use: roundrobin}\nlimits: {maxTurns: 1000000, maxDuration: 100h}\nparticipants:\n" +
		"  - {id: a, mode: full_auto, endpoint: {kind: scripted, script: slow.txt}}\n  - {id: b, mode: full_auto, endpoint: {kind: scripted, script: slow.txt}}\n  - {id: me, kind: human}\n"
	slow := strings.Repeat("delay 10m\nsay Done.\n", 20000)
	for path, content := range map[string]string{file: text, filepath.Join(x.home, "slow.txt"): slow} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	serve := x.command("serve", "--listen", "none")
	out, err := serve.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait()
	})
	socket, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatalf("the server does not begin: %v", err)
	}
	x.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", strings.TrimSpace(socket))
	}}
	id, err := x.command("run", file, "--detach").Output()
	if err != nil {
		b.Fatal(err)
	}
	x.room = strings.TrimSpace(string(id))
	stream, err := x.http.Get("http://localhost/api/rooms/" + x.room + "/events?follow=true")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stream.Body.Close() })
	x.events = bufio.NewScanner(stream.Body)
	x.await(b, "turn.granted")
	return x
}

func (x *slowRoom) command(args ...string) *exec.Cmd {
	cmd := exec.Command(x.moot, append(args, "--data", filepath.Join(x.home, "data"))...)
	cmd.Env = environ(x.home)
	return cmd
}

// await waits for an event of that type.
func (x *slowRoom) await(b *testing.B, eventType string) {
	b.Helper()
	for x.events.Scan() {
		if strings.Contains(x.events.Text(), `"type":"`+eventType+`"`) {
			return
		}
	}
	b.Fatalf("the room has ended without %s", eventType)
}

// do carries out a command of the person in the room.
func (x *slowRoom) do(act string) error {
	resp, err := x.http.Post("http://localhost/api/rooms/"+x.room+"/commands", "application/json", strings.NewReader(`{"do": "`+act+`", "as": "me"}`))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if answer, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s %s: %w", act, resp.Status, answer, err)
	}
	return nil
}

// measure pauses the room with a turn in flight, as often as the benchmark wants.
func (x *slowRoom) measure(b *testing.B, pause func() error) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if err := pause(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		b.StopTimer()
		x.await(b, "room.paused")
		if err := x.do("resume"); err != nil {
			b.Fatal(err)
		}
		x.await(b, "turn.granted")
		b.StartTimer()
	}
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[int(part*float64(len(took)-1))]) / float64(time.Millisecond)
	}
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}
