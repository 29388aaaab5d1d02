//go:build unix

package processes

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/servecmd"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A daemon is a running `moot serve`.
type daemon struct {
	*running
	at     servecmd.Serving
	socket *http.Client // its transport dials the socket
}

// serve starts the server of the workbench, without an address unless args have one.
func (w *workbench) serve(args ...string) *daemon {
	w.t.Helper()
	if args == nil {
		args = []string{"--listen", "none"}
	}
	d := &daemon{running: w.start(append([]string{"serve", "-o", "jsonl"}, args...)...)}
	if err := json.Unmarshal([]byte(d.until(w.t, `"socket"`)), &d.at); err != nil {
		w.t.Fatal(err)
	}
	d.socket = dialer(d.at.Socket)
	return d
}

// dialer returns a client of the server on a socket.
func dialer(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
}

// command carries out a command in a room by way of the server.
func (d *daemon) command(t *testing.T, id, body string) (int, string) {
	t.Helper()
	resp, err := d.socket.Post("http://moot/api/rooms/"+id+"/commands", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatalf("%v\n%s", err, d.stderr)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// stop ends the server as an operator does.
func (d *daemon) stop(t *testing.T) {
	t.Helper()
	if err := d.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := d.end(); code != app.ExitOK {
		t.Fatalf("the server ended with %d\n%s", code, d.stderr)
	}
}

// state reads a room's log. It is empty when there is no such room.
func (w *workbench) state(id string) *room.State {
	w.t.Helper()
	db := w.open()
	defer db.Close()
	s := &room.State{}
	for e, err := range log.Scan(w.t.Context(), db, id, log.Pos{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		s.Apply(e.Event)
	}
	return s
}

// await waits until a room's log says so.
func (w *workbench) await(id, what string, done func(*room.State) bool) *room.State {
	w.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) { // another process writes the log
		s := w.state(id)
		if done(s) {
			return s
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("room %s is %s at event %d, not %s", id, s.Phase, s.Seq, what)
		}
	}
}

// runRoom starts a room in a process of its own and returns it when a turn runs.
func (w *workbench) runRoom(args ...string) (*running, string) {
	w.t.Helper()
	r := w.start(append([]string{"run", "--headless", "-o", "jsonl"}, args...)...)
	id := roomOf(w.t, []string{r.until(w.t, "room.opened")})
	r.until(w.t, "turn.granted")
	return r, id
}

const goesOn = "onRestart: continue\n"

func TestServe(t *testing.T) {
	w := newWorkbench(t, nil)
	d := w.serve("--listen", "127.0.0.1:0")
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/api/rooms": http.StatusUnauthorized} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.at.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	if status, body := d.command(t, "r_1", `{"do":"pause"}`); status != http.StatusNotFound || !strings.Contains(body, "ROOM-UNKNOWN") {
		t.Errorf("over the socket: %d %s", status, body)
	}
	for path, want := range map[string]fs.FileMode{filepath.Dir(d.at.Socket): 0o700, d.at.Socket: 0o600} {
		if st, err := os.Lstat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
	if out, err := w.moot("serve", "--listen", "none"); err == nil || !strings.Contains(out, "SERVER-RUNNING") {
		t.Errorf("a second server: %v\n%s", err, out)
	}
	for _, args := range [][]string{{"--listen", "0.0.0.0:0"}, {"--listen", "nowhere"}, {"--listen", ""}, {"--listen", strings.TrimPrefix(d.at.URL, "http://"), "--data", "other"}} {
		if out, err := w.moot(append([]string{"serve"}, args...)...); err == nil || strings.Count(out, "error:") != 1 {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	d.stop(t)
	if _, err := os.Lstat(d.at.Socket); err == nil {
		t.Error("the socket is left")
	}
	if !strings.Contains(d.stderr.String(), "press Ctrl-C again to quit now") {
		t.Errorf("stderr: %s", d.stderr)
	}
	w.serve().stop(t)
}

// TestServeOnce starts servers of one data folder at the same time: one runs.
func TestServeOnce(t *testing.T) {
	w := newWorkbench(t, nil)
	type outcome struct {
		r   *running
		err error
	}
	const servers = 4
	ended := make(chan outcome, servers)
	for range servers {
		r := w.start("serve", "--listen", "none")
		go func() {
			_, err := r.wait("daemon.sock")
			ended <- outcome{r, err}
		}()
	}
	runs := 0
	var one *running
	for range servers {
		if o := <-ended; o.err == nil {
			runs++
			one = o.r
		} else if code := o.r.end(); code != app.ExitFailure || !strings.Contains(o.r.stderr.String(), "SERVER-RUNNING") {
			t.Errorf("exit code %d\n%s", code, o.r.stderr)
		}
	}
	if runs != 1 {
		t.Fatalf("%d servers run", runs)
	}
	one.kill(t)
	w.serve().stop(t) // in place of the socket that is left
}

// silentAgent is asked and does not answer.
const silentAgent = "echo $$ >>pids\nread line\nread line\n"

// TestServeAtRest: the first signal pauses a room in which an agent is at work, unless
// the room goes on by itself when the server starts again.
func TestServeAtRest(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "on.yaml": threeAgents + goesOn, "agent.sh": silentAgent})
	plain, on := w.live("room.yaml"), w.live("on.yaml")
	asked := func(s *room.State) bool { return s.Phase == room.PhaseLive && s.Turn != nil && s.Turn.Number == 2 }
	d := w.serve()
	w.await(plain, "paused", func(s *room.State) bool { return s.Phase == room.PhasePaused })
	if status, body := d.command(t, plain, `{"do":"resume"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	w.await(plain, "at work", asked)
	w.await(on, "at work", asked)
	d.stop(t)
	if s := w.state(plain); s.Phase != room.PhasePaused || s.Ending.Reason != "the server ended" || s.Turn != nil {
		t.Errorf("the room is %s: %+v", s.Phase, s.Ending)
	}
	if s := w.state(on); !asked(s) {
		t.Errorf("the room that goes on is %s at turn %+v", s.Phase, s.Turn)
	}
	w.gone("pids")
	d = w.serve()
	w.await(on, "at work again", func(s *room.State) bool { return s.Turn != nil && s.Turn.Number == 3 })
	if s := w.state(plain); s.Phase != room.PhasePaused {
		t.Errorf("the paused room is %s", s.Phase)
	}
	d.stop(t)
}

// TestServeTwice: the second signal does not wait for an agent that does not let go.
func TestServeTwice(t *testing.T) {
	w := newWorkbench(t, map[string]string{"on.yaml": threeAgents + goesOn, "agent.sh": deafAgent})
	id := w.live("on.yaml")
	d := w.serve()
	w.await(id, "at work", func(s *room.State) bool { return s.Turn != nil && s.Turn.Number == 2 })
	w.started(2)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} { // two that are the same could become one
		if err := d.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	if code := d.end(); code != app.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, d.stderr)
	}
	w.gone("pids")
}

// live leaves a room that was live when its process was killed.
func (w *workbench) live(file string) (id string) {
	w.t.Helper()
	r, id := w.runRoom(file)
	r.kill(w.t)
	return id
}

// TestServeKilled kills the server again and again while rooms run. The rooms go on or
// are paused, and each turn ends once.
func TestServeKilled(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 3
	}
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "on.yaml": threeAgents + goesOn, "agent.sh": shellAgent})
	rng := rand.New(rand.NewPCG(13, 50))
	paused := w.live("room.yaml")
	on := []string{w.live("on.yaml"), w.live("on.yaml"), w.live("on.yaml")}
	for range kills {
		d := w.serve()
		w.await(paused, "paused", func(s *room.State) bool { return s.Phase == room.PhasePaused })
		time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond) // the point of the kill is random, not an event
		d.kill(t)
		if _, err := os.Lstat(d.at.Socket); err != nil {
			t.Errorf("a killed server has removed its socket: %v", err)
		}
	}
	d := w.serve()
	for _, id := range on {
		w.await(id, "at its limit", func(s *room.State) bool { return s.Phase == room.PhaseStopped })
		w.checkRoom(id, nil)
	}
	if status, body := d.command(t, paused, `{"do":"resume"}`); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	w.await(paused, "at its limit", func(s *room.State) bool { return s.Phase == room.PhaseStopped })
	w.checkRoom(paused, nil)
	d.stop(t)
	w.gone("pids")
}

// TestServeForwards: the server forwards requests about a room that another process
// runs, and takes the room over when that process has ended.
func TestServeForwards(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": silentAgent})
	r, id := w.runRoom("room.yaml")
	d := w.serve()
	if status, body := d.command(t, id, `{"do":"pause","reason":"from elsewhere"}`); status != http.StatusOK || !strings.Contains(body, "from elsewhere") {
		t.Fatalf("%d %s", status, body)
	}
	if paused := r.until(t, "room.paused"); !strings.Contains(paused, "from elsewhere") {
		t.Errorf("the process prints %s", paused)
	}
	if code := r.end(); code != app.ExitInterrupted { // a headless room ends when it is not live
		t.Errorf("exit code %d\n%s", code, r.stderr)
	}
	if status, body := d.command(t, id, `{"do":"resume"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if out, err := w.moot("show", id); err != nil || !strings.Contains(out, "process "+strconv.Itoa(d.at.Process)) {
		t.Errorf("the server has not taken the room over: %v\n%s", err, out)
	}
	d.stop(t)
	r, id = w.runRoom("room.yaml")
	d = w.serve()
	if status, body := d.command(t, id, `{"do":"say","text":"hello"}`); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	r.kill(t)
	s := w.await(id, "paused", func(s *room.State) bool { return s.Phase == room.PhasePaused })
	if s.Ending.Cause != room.CauseInterrupted {
		t.Errorf("paused by %+v", s.Ending)
	}
	if status, body := d.command(t, id, `{"do":"stop"}`); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	d.stop(t)
}

// TestServeStream: a stream of a room that another process runs breaks when that
// process is killed, and goes on behind its last event at the server.
func TestServeStream(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": silentAgent})
	r, id := w.runRoom("room.yaml")
	d := w.serve()
	resp, last := d.events(t, id, 0, "turn.granted")
	defer resp.Body.Close()
	r.kill(t)
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Error("the stream of a killed process looks complete")
	}
	resp, _ = d.events(t, id, last, "room.paused")
	defer resp.Body.Close()
	d.stop(t)
	if rest, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(rest), `"end"`) {
		t.Errorf("the server ends the stream with %q, %v", rest, err)
	}
}

// events reads the events of a room after one of them, until a line holds text. It
// returns the number of the last event.
func (d *daemon) events(t *testing.T, id string, after int64, text string) (*http.Response, int64) {
	t.Helper()
	resp, err := d.socket.Get(fmt.Sprintf("http://moot/api/rooms/%s/events?follow=true&after=%d", id, after))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("%s: no line with %q: %v", resp.Status, text, err)
		}
		var u api.Update
		if json.Unmarshal(line, &u) != nil || u.Event == nil { // an empty line keeps the connection open
			continue
		}
		e, err := room.UnmarshalEvent(u.Event)
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != after+1 {
			t.Errorf("event %d follows %d", e.Seq, after)
		}
		if after = e.Seq; strings.Contains(string(line), text) {
			return resp, after
		}
	}
}

// TestRunListens: without a server the process of a room carries out commands about it,
// and about no other.
func TestRunListens(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": silentAgent})
	other := w.live("room.yaml")
	r, id := w.runRoom("room.yaml")
	d := &daemon{running: r, socket: dialer(filepath.Join(w.data(), "sockets", strconv.Itoa(r.Process.Pid)+".sock"))}
	if status, body := d.command(t, other, `{"do":"resume"}`); status == http.StatusOK || !strings.Contains(body, "ROOM-IDLE") {
		t.Errorf("a room that nobody runs: %d %s", status, body)
	}
	if status, body := d.command(t, id, `{"do":"pause"}`); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	r.until(t, "room.paused")
	r.end()
	if sockets, err := os.ReadDir(filepath.Join(w.data(), "sockets")); err != nil || len(sockets) != 0 {
		t.Errorf("left are %v, %v", sockets, err)
	}
}

// TestServeLongPath: a data folder with a long path has its sockets elsewhere.
func TestServeLongPath(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": silentAgent})
	w.env = append(w.env, "MOOT_DATA="+filepath.Join(w.dir, strings.Repeat("long", 40), "data"))
	r, id := w.runRoom("room.yaml")
	d := w.serve()
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(d.at.Socket)) })
	if !strings.HasPrefix(d.at.Socket, os.TempDir()) {
		t.Errorf("the socket is %s", d.at.Socket)
	}
	if status, body := d.command(t, id, `{"do":"pause"}`); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	r.until(t, "room.paused")
	r.end()
	d.stop(t)
}

// TestSocketFolder: nothing is sent to a folder in which others could have made the
// sockets.
func TestSocketFolder(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": shellAgent})
	dir := filepath.Join(w.data(), "sockets")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o750)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve", "--listen", "none"}, {"run", "--headless"}} {
		if out, err := w.moot(args...); err == nil || !strings.Contains(out, "SERVER-SOCKET") || !strings.Contains(out, "chmod 700") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	if sockets, err := os.ReadDir(dir); err != nil || len(sockets) != 0 {
		t.Errorf("there are %v, %v", sockets, err)
	}
}
