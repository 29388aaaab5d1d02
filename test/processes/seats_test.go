//go:build unix

package processes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

const sessionSeats = `version: room/v1
name: seats
onRestart: continue
objective: Count.
policy: {use: roundrobin}
limits: {maxTurns: 100000, maxDuration: 10h, maxTokens: 1000000000}
context: {tokens: 2000}
participants:
  - {id: me, kind: human}
  - {id: shell, mode: full_auto, endpoint: {kind: session}}
  - {id: web, mode: full_auto, endpoint: {kind: session}}
  - {id: stdio, mode: full_auto, endpoint: {kind: session}}
  - {id: tools, mode: full_auto, endpoint: {kind: session}}
`

// A verb is one request of a stub: it returns the answer, or the code of what went
// wrong, "" for a request that was killed or not heard.
type verb func(ctx context.Context, name string, in any, out any) (code string)

// A stub is an agent session with a seat. It is killed at random: then it does not
// know what it has sent, and begins again.
type stub struct {
	seat  string
	call  verb
	rng   *rand.Rand
	kills *atomic.Int64 // left
	acked map[string]bool
	twice []string // requests that it was given after it had answered them
	n     int
}

// run takes turns until ctx ends.
func (s *stub) run(ctx context.Context, posted func()) {
	for ctx.Err() == nil {
		var turn api.Turn
		if code := s.killed(ctx, "await", api.Await{Wait: "5s"}, &turn); code != "ok" || !turn.Turn {
			if !turn.Again {
				time.Sleep(20 * time.Millisecond) // the server starts, and does not tell
			}
			continue
		}
		if s.acked[turn.Request] {
			s.twice = append(s.twice, turn.Request)
		}
		s.answer(ctx, turn, posted)
	}
}

// answer answers a turn, again until it knows that the room has the answer or has
// ended the turn. Sometimes the agent is killed and forgets the turn.
func (s *stub) answer(ctx context.Context, turn api.Turn, posted func()) {
	s.n++
	in := api.SeatAnswer{Request: turn.Request, Epoch: turn.Epoch, Text: fmt.Sprintf("%s %d %s", s.seat, s.n, turn.Request)}
	for ctx.Err() == nil {
		if s.rng.IntN(10) == 0 && s.kills.Add(-1) >= 0 {
			return
		}
		switch code := s.killed(ctx, "answer", in, &api.SeatAnswered{}); code {
		case "ok", "SEAT-ANSWERED":
			s.acked[turn.Request] = true
			posted()
			return
		case "SEAT-REQUEST":
			return
		}
		time.Sleep(20 * time.Millisecond) // the server starts, and does not tell
	}
}

// killed is call, of which some are killed at a random time.
func (s *stub) killed(ctx context.Context, name string, in, out any) string {
	if s.rng.IntN(6) == 0 && s.kills.Add(-1) >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(s.rng.IntN(80))*time.Millisecond)
		defer cancel()
	}
	return s.call(ctx, name, in, out)
}

// byShell calls the commands of a seat, in processes of their own.
func (w *workbench) byShell(id, seat string) verb {
	return func(ctx context.Context, name string, in, out any) string {
		args := []string{name, id, "--as", seat, "-o", "json"}
		var stdin string
		switch in := in.(type) {
		case api.Await:
			args = append(args, "--wait", in.Wait)
		case api.SeatAnswer:
			stdin = in.Text
			args = append(args, "--request", in.Request, "--epoch", strconv.FormatUint(in.Epoch, 10), "-")
		}
		cmd := exec.CommandContext(ctx, "moot", args...)
		cmd.Dir, cmd.Env, cmd.Stdin = w.dir, w.env, strings.NewReader(stdin)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() != app.ExitAgain {
			var p struct{ Error struct{ Code string } }
			_ = json.Unmarshal(stderr.Bytes(), &p) // no problem: the process was killed
			return p.Error.Code
		}
		if json.Unmarshal(stdout.Bytes(), out) != nil {
			return ""
		}
		return "ok"
	}
}

// byHTTP calls the routes of a seat on a socket.
func byHTTP(client *http.Client, id, seat string) verb {
	return func(ctx context.Context, name string, in, out any) string {
		body, err := json.Marshal(in)
		if err != nil {
			return err.Error()
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://moot/api/rooms/"+id+"/seats/"+seat+"/"+name, bytes.NewReader(body))
		if err != nil {
			return err.Error()
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return ""
		}
		defer resp.Body.Close()
		var p api.Problem
		if resp.StatusCode != http.StatusOK {
			_ = json.NewDecoder(resp.Body).Decode(&p) // no problem: the server was killed
			return p.Code
		}
		if json.NewDecoder(resp.Body).Decode(out) != nil {
			return ""
		}
		return "ok"
	}
}

// TestSeatKills has four sessions hold the seats of a room, by commands, over HTTP, and
// by the tools for agents over standard input and over HTTP, while their clients, the
// sessions and the server are killed at random. No turn is lost, answered twice or
// given to a session that is away. MOOT_SEAT_TURNS and MOOT_SEAT_KILLS set other
// numbers, such as 1000 and 300.
func TestSeatKills(t *testing.T) {
	turns, kills := 30, 9
	if n, err := strconv.Atoi(os.Getenv("MOOT_SEAT_TURNS")); err == nil {
		turns = n
	}
	if n, err := strconv.Atoi(os.Getenv("MOOT_SEAT_KILLS")); err == nil {
		kills = n
	}
	w := newWorkbench(t, map[string]string{"room.yaml": sessionSeats})
	d := w.serve()
	id := w.create(t, d, sessionSeats)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	progress := make(chan struct{}, turns+kills)
	var left atomic.Int64
	left.Store(int64(kills - kills/3))
	var sessions sync.WaitGroup
	stubs := []*stub{
		{seat: "shell", call: w.byShell(id, "shell")},
		{seat: "web", call: byHTTP(d.socket, id, "web")},
		{seat: "stdio", call: byTools(w.toolProcess, id, "stdio")},
		{seat: "tools", call: byTools(toolsAt(d.socket), id, "tools")},
	}
	for i, s := range stubs {
		s.rng, s.kills, s.acked = rand.New(rand.NewPCG(13, uint64(i))), &left, map[string]bool{}
		sessions.Go(func() {
			s.run(ctx, func() {
				select {
				case progress <- struct{}{}:
				case <-ctx.Done():
				}
			})
		})
	}
	killed := 0
	for done := 1; done <= turns; done++ {
		select {
		case <-progress:
		case <-time.After(3 * time.Minute):
			t.Fatalf("no turn has ended in 3 minutes, after %d turns and %d kills of the server:\n%s", done-1, killed, d.stderr)
		}
		if killed < kills/3 && done*(kills/3) > killed*turns {
			killed++
			_ = d.Process.Kill() // it may have ended
			_ = d.end()
			d = w.serve()
		}
	}
	stop()
	sessions.Wait()
	for _, s := range stubs {
		if len(s.twice) > 0 {
			t.Errorf("%s was asked again what it has answered: %v", s.seat, s.twice)
		}
	}
	d.stop(t)
	w.checkSeats(t, id, stubs)
	t.Logf("%d turns, %d kills of the server, %d of clients and sessions", turns, killed, int64(kills-kills/3)-max(0, left.Load()))
}

// checkSeats reads the log of a room that sessions have held.
func (w *workbench) checkSeats(t *testing.T, id string, stubs []*stub) {
	t.Helper()
	db := w.open()
	defer db.Close()
	here := map[string]bool{}
	request, texts, posted, interrupted := "", map[string]bool{}, map[string]bool{}, 0
	for e, err := range log.Scan(t.Context(), db, id, log.Pos{}) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Event.Body.(type) {
		case room.Claimed:
			clear(here)
		case room.PresenceChanged:
			here[b.Participant] = b.Presence != room.Away
		case room.TurnGranted:
			if request != "" {
				t.Errorf("event %d: a turn begins while %s is open", e.Event.Seq, request)
			}
			if request = b.Request; !here[b.Participant] {
				t.Errorf("event %d: turn %d is given to %s, which is away", e.Event.Seq, b.Turn, b.Participant)
			}
		case room.MessagePosted:
			words := strings.Fields(b.Message.Text)
			if b.Turn == 0 || len(words) != 3 {
				continue // the objective
			}
			if words[2] != request || posted[request] || texts[b.Message.Text] {
				t.Errorf("event %d: %q answers the request %s", e.Event.Seq, b.Message.Text, request)
			}
			posted[request], texts[b.Message.Text], request = true, true, ""
		case room.TurnInterrupted:
			interrupted++
			request = ""
		case room.TurnFailed, room.TurnPassed, room.ReplyLate, room.SeatChanged, room.Errored, room.Completed:
			t.Errorf("event %d: %s %+v", e.Event.Seq, b.Type(), b)
		}
	}
	for _, s := range stubs {
		for request := range s.acked {
			if !posted[request] {
				t.Errorf("the answer of %s to %s is lost", s.seat, request)
			}
		}
	}
	t.Logf("%d turns posted, %d interrupted", len(posted), interrupted)
}

// create makes a room on a server and returns its id.
func (w *workbench) create(t *testing.T, d *daemon, yaml string) string {
	t.Helper()
	body, err := json.Marshal(api.Create{YAML: yaml, Dir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := d.socket.Post("http://moot/api/rooms", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var made api.Created
	if err := json.NewDecoder(resp.Body).Decode(&made); err != nil || made.Room == "" {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return made.Room
}
