package processes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// killedRoom is a room of 20 turns of an agent here and one at another owner's.
const killedRoom = `version: room/v1
oneToOne: true
objective: Count the turns.
participants:
  - {id: mine, profile: orchestrator, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}
  - {id: theirs, mode: full_auto, endpoint: {kind: relay, peer: bob, profile: reviewer}}
policy: {use: alternate, settings: {first: mine}}
limits: {maxTurns: 20, maxFailures: 20}
`

// A blow is a kill -9 at the first event of its kind in a turn or after it.
type blow struct {
	turn  int
	asked bool // once the model has been asked, else once the turn is granted
	wait  time.Duration
	side  string
	back  bool // the side is back before the model answers
}

func (b blow) String() string {
	after := "was granted"
	if b.asked {
		after = "had reached the model"
	}
	return fmt.Sprintf("%s, %v after turn %d or a later one %s", b.side, b.wait, b.turn, after)
}

// blows draws who is killed when: each side once, and three more.
func blows(rng *rand.Rand) (all []blow) {
	sides := []string{"host", "share", "relay"}
	for range 3 {
		sides = append(sides, sides[rng.IntN(3)])
	}
	rng.Shuffle(len(sides), func(i, k int) { sides[i], sides[k] = sides[k], sides[i] })
	for _, side := range sides {
		b := blow{turn: 2 + rng.IntN(17), asked: rng.IntN(2) == 0, side: side, back: rng.IntN(2) == 0, wait: time.Duration(rng.IntN(20_000)) * time.Microsecond}
		if !b.asked {
			b.wait *= 20 // the agent starts, or the next turn runs
		}
		all = append(all, b)
	}
	slices.SortStableFunc(all, func(a, b blow) int { return cmp.Compare(a.turn, b.turn) })
	return all
}

// A siege is a room that is run while its processes are killed.
type siege struct {
	*two
	model *model
	host  *running
	lines chan string // of the host's present process; closed at its end
	room  string
	plan  []blow
	acked []string // events, as they were printed
}

// TestSharedAgentKilled: a real agent, reached by the Agent Client Protocol, is
// shared with another owner's room. The host, the share and the relay are killed at
// random moments of 20 turns and started again. Each turn ends once, the model hears
// of each at most once, and nothing of the agent is left behind. SHARE_SEED=N draws
// other moments.
func TestSharedAgentKilled(t *testing.T) {
	t.Parallel()
	needProgram(t, "gemini")
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SHARE_SEED"), "5"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	s := newSiege(t, blows(rand.New(rand.NewPCG(seed, 6))))
	for _, b := range s.plan {
		t.Logf("seed %d: %v", seed, b)
	}
	s.startRelay()
	s.startShare()
	s.startHost()
	s.run()
	s.end()
	s.check()
}

func needProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("the shared agent needs " + name)
	}
}

func newSiege(t *testing.T, plan []blow) *siege {
	t.Helper()
	s := &siege{model: newModel(t), plan: plan, two: &two{
		t: t, port: freePort(t),
		ann: newWorkbench(t, map[string]string{"room.yaml": killedRoom, "agent.sh": shellAgent}), bob: newWorkbench(t, nil),
	}}
	ann, bob := s.ann.newDevice(), s.bob.newDevice()
	url := "ws://127.0.0.1:" + s.port
	s.ann.befriend(ann, bob, "bob", url)
	s.bob.befriend(bob, ann, "ann", url)
	s.ann.write("config.yaml", fmt.Sprintf(`profiles:
  - {name: orchestrator, allowSharedAgentCalls: true, allowedSharedDeviceIds: [%s], ratePerMinute: 600, rateBurst: 20}
`, bob.ID()))
	s.bob.write("config.yaml", fmt.Sprintf(`profiles:
  - name: reviewer
    allowSharedAgentCalls: true
    allowedSharedDeviceIds: [%s]
    ratePerMinute: 600
    rateBurst: 20
    endpoint:
      kind: acp
      agent: gemini
      env: {GEMINI_CLI_TRUST_WORKSPACE: "true"}
`, ann.ID()))
	s.bob.env = append(s.bob.env, "GEMINI_API_KEY=of-nobody", "GOOGLE_GEMINI_BASE_URL="+s.model.URL)
	if err := os.MkdirAll(filepath.Join(s.bob.dir, "home", ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.bob.write("home/.gemini/settings.json", geminiSettings)
	return s
}

// startHost runs the room, and resumes it after a kill.
func (s *siege) startHost() {
	s.t.Helper()
	args := []string{"run", "--headless", "-o", "jsonl"}
	if s.room != "" {
		args = append(args, "--room", s.room)
	}
	host, lines := s.ann.start(args...), make(chan string, 1000) // more than it prints: nobody waits
	go func() {
		defer close(lines)
		for host.lines.Scan() {
			lines <- host.lines.Text()
		}
	}()
	s.host, s.lines = host, lines
}

// run lets the room run to its end while the blows fall.
func (s *siege) run() {
	s.t.Helper()
	for deadline := time.After(12 * time.Minute); ; {
		select {
		case line, more := <-s.lines:
			if !more {
				_ = s.host.Wait() // the code says it
				if code := s.host.ProcessState.ExitCode(); code != app.ExitLimit {
					s.t.Fatalf("the room ended with %d\n%s\nshare: %s", code, s.host.stderr, s.share.stderr)
				}
				return
			}
			s.hear(line)
		case turn := <-s.model.asked:
			b := s.due(turn, true)
			if b == nil {
				s.model.answer(turn)
				continue
			}
			s.strike(b.side)
			if !b.back {
				s.model.answer(turn)
			}
			s.restore(b.side)
			s.model.answer(turn)
		case <-deadline:
			s.t.Fatalf("the room does not end\nhost: %s\nshare: %s", s.host.stderr, s.share.stderr)
		}
	}
}

// hear takes a line of the host.
func (s *siege) hear(line string) {
	s.t.Helper()
	s.acked = append(s.acked, line)
	if s.room == "" {
		s.room = roomOf(s.t, s.acked)
	}
	e, err := room.UnmarshalEvent([]byte(line))
	if err != nil {
		return // cut by a kill
	}
	if g, ok := e.Body.(room.TurnGranted); ok {
		if b := s.due(g.Turn, false); b != nil {
			s.strike(b.side)
			s.restore(b.side)
		}
	}
}

// due returns the blow that falls now, having waited for its moment.
func (s *siege) due(turn int, asked bool) *blow {
	for i, b := range s.plan {
		if b.turn <= turn && b.asked == asked {
			s.plan = slices.Delete(s.plan, i, i+1)
			time.Sleep(b.wait) // the moment of a kill is random, not an event
			s.t.Logf("turn %d: kill -9 of the %s", turn, b.side)
			return &b
		}
	}
	return nil
}

// strike kills a side, and sees that what it had started ends too.
func (s *siege) strike(side string) {
	s.t.Helper()
	r, of := s.relay, ""
	switch side {
	case "host":
		r, of = s.host, s.ann.dir
	case "share":
		r, of = s.share, s.bob.dir
	}
	started := family(s.t, of, s.relay.Process.Pid)
	if err := r.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	if side == "host" {
		for line := range s.lines {
			s.acked = append(s.acked, line)
		}
		if s.room == "" {
			s.room = roomOf(s.t, s.acked)
		}
	}
	if code := r.end(); code != -1 && (side != "host" || code != app.ExitLimit) {
		s.t.Fatalf("the %s ended with %d\n%s", side, code, r.stderr)
	}
	vanish(s.t, started)
}

// restore starts a side again.
func (s *siege) restore(side string) {
	s.t.Helper()
	switch side {
	case "host":
		s.startHost()
	case "share":
		s.startShare()
	case "relay":
		s.startRelay()
	}
}

// end ends what still runs, and sees that nothing is left of it.
func (s *siege) end() {
	s.t.Helper()
	started := append(family(s.t, s.ann.dir), family(s.t, s.bob.dir)...)
	for _, r := range []*running{s.share, s.relay} {
		if err := r.Process.Signal(syscall.SIGTERM); err != nil {
			s.t.Fatal(err)
		}
		if code := r.end(); code != app.ExitOK {
			s.t.Errorf("exit code %d\n%s", code, r.stderr)
		}
	}
	vanish(s.t, started)
}

// check holds what the log says against what the model, the share and moot say.
func (s *siege) check() {
	s.t.Helper()
	s.ann.checkRoom(s.room, s.acked)
	if len(s.plan) > 0 {
		s.t.Errorf("there was no moment for %v", s.plan)
	}
	if out, err := s.ann.moot("transcript", "verify", s.room); err != nil || !strings.Contains(out, "intact") {
		s.t.Errorf("the transcript: %v\n%s", err, out)
	}
	runs := s.granted()
	db := s.ann.open()
	defer db.Close()
	said, count := map[string]int{}, map[string]int{}
	theirs := map[int]bool{}
	for e, err := range log.Scan(s.t.Context(), db, s.room, log.Pos{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		switch b := e.Event.Body.(type) {
		case room.TurnGranted:
			theirs[b.Turn] = b.Participant == "theirs"
		case room.MessagePosted:
			text := b.Message.Text
			if said[text]++; said[text] > 1 {
				s.t.Errorf("turn %d says again: %s", b.Turn, text)
			}
			if theirs[b.Turn] && (text != reply(b.Turn) || s.model.requests(b.Turn) != 1 || runs[b.Turn] != 1) {
				s.t.Errorf("turn %d says %q; the agent ran %d times, its model was asked %d times", b.Turn, text, runs[b.Turn], s.model.requests(b.Turn))
			}
			count["posted"]++
		case room.TurnFailed:
			if b.Code != room.FailInterrupted || !strings.Contains(b.Error, "RELAY-INTERRUPTED") {
				s.t.Errorf("turn %d failed with %+v", b.Turn, b)
			}
			count["failed"]++
		case room.TurnInterrupted:
			if theirs[b.Turn] {
				s.t.Errorf("turn %d was interrupted, though its agent is elsewhere: %s", b.Turn, b.Reason)
			}
			count["interrupted"]++
		}
	}
	for turn, n := range runs {
		if n > 1 || s.model.requests(turn) > n {
			s.t.Errorf("turn %d: the agent ran %d times, its model was asked %d times", turn, n, s.model.requests(turn))
		}
	}
	s.t.Logf("turns: %v; the agent ran %d times, its model was asked %d times", count, len(runs), s.model.total())
}

// granted counts by turn how often the share has let its agent run.
func (s *siege) granted() map[int]int {
	s.t.Helper()
	book, err := os.ReadFile(filepath.Join(s.bob.data(), "audit.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	runs := map[int]int{}
	for line := range strings.Lines(string(book)) {
		var a struct {
			Turn   int
			Status string
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			s.t.Fatal(err)
		}
		if a.Status == "granted" {
			runs[a.Turn]++
		}
	}
	return runs
}
