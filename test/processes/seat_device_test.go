//go:build unix

package processes

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/relaycmd"
	"github.com/folkmoot/moot/room"
)

const seatedRoom = `version: room/v1
name: seated
onRestart: continue
objective: Count.
policy: {use: roundrobin}
limits: {maxTurns: 100000, maxDuration: 10h, maxTokens: 1000000000}
context: {tokens: 2000}
participants:
  - {id: me, kind: human}
  - {id: here, mode: full_auto, endpoint: {kind: session}}
  - {id: there, mode: full_auto, instructions: not for others, endpoint: {kind: session}}
`

// owner returns the workbench of an owner of a device.
func owner(t *testing.T, files map[string]string) *workbench {
	t.Helper()
	w := newWorkbench(t, files)
	w.env = append(w.env, "MOOT_CONFIG="+filepath.Join(w.dir, "config.yaml"))
	w.write("config.yaml", "")
	return w
}

// inviteTo makes an invite for a seat of a room, which the process that runs the room
// answers.
func (w *workbench) inviteTo(id, seat, relay string) (invite string, waiting *running) {
	w.t.Helper()
	waiting = w.start("invite", "--auto", "--name", "ann", "--relay", relay, "--seat", seat, id, "-o", "jsonl")
	var p relaycmd.Pairing
	if err := json.Unmarshal([]byte(waiting.until(w.t, "invite")), &p); err != nil {
		w.t.Fatal(err)
	}
	return p.Invite, waiting
}

// TestSeatOnAnotherDevice: a person on another device takes a seat by a link that works
// once. The roster of the host has the device and whether it is there; no other device
// may hold the seat; the prompt is quoted as the text of another owner; removing the
// device ends its lease.
func TestSeatOnAnotherDevice(t *testing.T) {
	ann, bob, carol := owner(t, map[string]string{"room.yaml": seatedRoom}), owner(t, nil), owner(t, nil)
	relay := "ws://127.0.0.1:" + freePort(t)
	r := ann.start("relay", "--listen", strings.TrimPrefix(relay, "ws://"), "--open")
	r.until(t, "ws://")
	d := ann.serve()
	id := ann.create(t, d, seatedRoom)

	for args, want := range map[string]string{
		"invite --auto --seat nobody " + id:          "SEAT-KIND",
		"invite --auto --seat me " + id:              "SEAT-KIND",
		"invite --auto --seat there":                 "CLI-USAGE",
		"invite --auto --seat there --no-wait " + id: "CLI-USAGE",
	} {
		if out, err := ann.moot(strings.Fields(args)...); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
	link, waiting := ann.inviteTo(id, "there", relay)
	out, err := bob.moot("join", "--yes", "--name", "bob", link)
	if err != nil || !strings.Contains(out, "paired with ann") || !strings.Contains(out, "It is the turn of there") {
		t.Fatalf("%v\n%s", err, out)
	}
	if code := waiting.end(); code != app.ExitOK {
		t.Fatalf("invite ended with %d\n%s", code, waiting.stderr)
	}
	device := bob.device()
	s := ann.await(id, "the session to come", func(s *room.State) bool {
		x, _ := s.Seat("there")
		return x.Presence == room.Live || x.Presence == room.Idle
	})
	if x, _ := s.Seat("there"); x.Device != device || x.Participant.Owner != "bob" {
		t.Errorf("the roster has %+v", x)
	}

	checkOthersDenied(t, ann, bob, carol, relay, id, link)
	takeTurns(t, ann, bob, id)

	// a device that is removed is away at once
	if out, err := ann.moot("peers", "rm", "bob"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ann.await(id, "the session to be away", func(s *room.State) bool { x, _ := s.Seat("there"); return x.Presence == room.Away })
	d.stop(t)
	for _, w := range []*workbench{ann, bob} {
		b, err := os.ReadFile(filepath.Join(w.data(), "audit.jsonl"))
		if err != nil || !strings.Contains(string(b), id) || strings.Contains(string(b), "word ") {
			t.Errorf("%v, the audit log is\n%s", err, b)
		}
	}
	_ = r.Process.Kill()
	r.end()
}

// checkOthersDenied checks that the link works once, and that the seat is of no other device
// and the device of no other seat.
func checkOthersDenied(t *testing.T, ann, bob, carol *workbench, relay, id, link string) {
	t.Helper()
	if out, err := carol.moot("join", "--yes", link); err == nil || !strings.Contains(out, "INVITE-USED") {
		t.Errorf("%v\n%s", err, out)
	}
	other := ann.start("invite", "--auto", "--name", "ann", "--relay", relay, "-o", "jsonl")
	var p relaycmd.Pairing
	if err := json.Unmarshal([]byte(other.until(t, "invite")), &p); err != nil {
		t.Fatal(err)
	}
	if out, err := carol.moot("join", "--yes", "--name", "carol", p.Invite); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	forged := filepath.Join(carol.data(), "device", "peers.json")
	forgeSeat(t, forged, id)
	if out, err := carol.moot("await", id, "--as", "there"); err == nil || !strings.Contains(out, "RELAY-DENIED") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := carol.moot("answer", id, "--as", "there", "mine"); err == nil || !strings.Contains(out, "RELAY-DENIED") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := bob.moot("await", id, "--as", "here"); err == nil || !strings.Contains(out, "ROOM-UNKNOWN") {
		t.Errorf("%v\n%s", err, out)
	}
}

// takeTurns answers turns of both seats, and checks their prompts and a second answer.
func takeTurns(t *testing.T, ann, bob *workbench, id string) {
	t.Helper()
	for n := range 3 {
		turn := bob.turn(id[:8], "there")
		if !strings.Contains(turn.Text, "not from your owner") || strings.Contains(turn.Text, "not for others") {
			t.Errorf("the prompt is\n%s", turn.Text)
		}
		out, err := bob.moot("answer", id, "--as", "there", "--request", turn.Request, "word "+strconv.Itoa(n))
		if err != nil || !strings.Contains(out, "Posted") {
			t.Fatalf("%v\n%s", err, out)
		}
		if out, err := bob.moot("answer", id, "--as", "there", "--request", turn.Request, "again"); err == nil || !strings.Contains(out, "SEAT-ANSWERED") {
			t.Errorf("%v\n%s", err, out)
		}
		if turn := ann.turn(id, "here"); !strings.Contains(turn.Text, `"bob"`) || !strings.Contains(turn.Text, bob.device()) {
			t.Errorf("the prompt is\n%s", turn.Text)
		}
		if out, err := ann.moot("answer", id, "--as", "here", "and "+strconv.Itoa(n)); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// turn awaits the turn of a seat by the command.
func (w *workbench) turn(id, seat string) (turn api.Turn) {
	w.t.Helper()
	for !turn.Turn {
		turn = api.Turn{}
		cmd := exec.Command("moot", "await", id, "--as", seat, "-o", "json", "--wait", "20s")
		cmd.Dir, cmd.Env = w.dir, w.env
		out, err := cmd.Output()
		if json.Unmarshal(out, &turn) != nil {
			w.t.Fatalf("%v\n%s", err, out)
		}
	}
	return turn
}

// forgeSeat has a device believe that it may hold the seat of a room of its one peer.
func forgeSeat(t *testing.T, file, id string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b), `"name"`, `"holds":[{"room":"`+id+`","seat":"there"}],"name"`, 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSeatOnAnotherDeviceKills has a session on another device, with and without a
// server there, hold a seat of a room while its commands, its server, the server of the
// room and the relay are killed at random. No turn is lost, answered twice or given to
// a session that is away. MOOT_SEAT_TURNS and MOOT_SEAT_KILLS set other numbers.
func TestSeatOnAnotherDeviceKills(t *testing.T) {
	turns, kills := 16, 8
	if n, err := strconv.Atoi(os.Getenv("MOOT_SEAT_TURNS")); err == nil {
		turns = n
	}
	if n, err := strconv.Atoi(os.Getenv("MOOT_SEAT_KILLS")); err == nil {
		kills = n
	}
	ann, bob := owner(t, map[string]string{"room.yaml": seatedRoom}), owner(t, nil)
	port := freePort(t)
	relay := "ws://127.0.0.1:" + port
	startRelay := func() *running { return startRelay(t, ann, port) }
	r := startRelay()
	d := ann.serve()
	id := ann.create(t, d, seatedRoom)
	link, waiting := ann.inviteTo(id, "there", relay)
	if out, err := bob.moot("join", "--yes", "--no-await", "--name", "bob", link); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waiting.end()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	progress := make(chan struct{}, 10*turns)
	var left atomic.Int64
	left.Store(int64(kills / 2))
	stubs := []*stub{{seat: "here", call: ann.byShell(id, "here")}, {seat: "there", call: bob.byShell(id, "there")}}
	var sessions sync.WaitGroup
	for i, s := range stubs {
		s.rng, s.kills, s.acked = rand.New(rand.NewPCG(14, uint64(i))), &left, map[string]bool{}
		sessions.Go(func() {
			s.run(ctx, func() {
				select {
				case progress <- struct{}{}:
				case <-ctx.Done():
				}
			})
		})
	}
	m := &machines{t: t, ann: ann, bob: bob, relay: r, startRelay: startRelay, here: d}
	for done := 1; done <= turns; done++ {
		select {
		case <-progress:
		case <-time.After(3 * time.Minute):
			out, _ := ann.moot("show", id)
			t.Fatalf("no turn has ended in 3 minutes, after %d turns and %d kills:\n%s\n%s", done-1, m.killed, out, m.here.stderr)
		}
		if m.killed*2 < kills && done*kills > 2*m.killed*turns {
			m.kill()
		}
	}
	stop()
	sessions.Wait()
	for _, s := range stubs {
		if len(s.twice) > 0 {
			t.Errorf("%s was asked again what it has answered: %v", s.seat, s.twice)
		}
		if len(s.acked) == 0 {
			t.Errorf("%s has not answered", s.seat)
		}
	}
	m.stop()
	ann.checkSeats(t, id, stubs)
	if x, _ := ann.state(id).Seat("there"); x.Device != bob.device() || x.Participant.Owner != "bob" {
		t.Errorf("the roster has %+v", x)
	}
}

// machines are the processes that a test kills: the servers of both devices and the relay.
type machines struct {
	t           *testing.T
	ann, bob    *workbench
	relay       *running
	startRelay  func() *running
	here, there *daemon // there is nil until it has been started
	killed      int
}

// kill kills one of the processes, in turn, and starts it again.
func (m *machines) kill() {
	switch m.killed++; m.killed % 3 {
	case 0:
		_ = m.relay.Process.Kill() // it may have ended
		m.relay.end()
		m.relay = m.startRelay()
	case 1:
		_ = m.here.Process.Kill()
		m.here.end()
		m.here = m.ann.serve()
	case 2:
		if m.there != nil {
			_ = m.there.Process.Kill()
			m.there.end()
		}
		m.there = m.bob.serve()
	}
}

func (m *machines) stop() {
	m.here.stop(m.t)
	if m.there != nil {
		m.there.stop(m.t)
	}
	_ = m.relay.Process.Kill()
	m.relay.end()
}
