//go:build unix

package processes

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// callRoom has two agents that call others, which call others.
const callRoom = `version: room/v1
participants:
  - {id: lead, mode: full_auto, calls: allow, endpoint: {kind: ndjson, command: [sh, ./caller.sh]}}
  - {id: boss, mode: full_auto, calls: allow, endpoint: {kind: ndjson, command: [sh, ./caller.sh]}}
agents:
  - {id: coder, calls: allow, endpoint: {kind: ndjson, command: [sh, ./coder.sh]}}
  - {id: tester, endpoint: {kind: ndjson, command: [sh, ./agent.sh]}}
policy: {use: roundrobin}
limits: {maxTurns: 16, maxTokens: 100000000, maxCalls: 1000, maxRing: 100000, maxInternal: 100000, maxPingPong: 1000}
`

// callingAgent makes a request with the calls, reads the answer, and ends its turn. The
// number of the turn decides whether it waits for them.
const callingAgent = `echo $$ >>pids
while read -r line; do
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  n=${line#*'"turn_index":'}; n=${n%%[!0-9]*}
  wait=$((n % 3 * 400)); [ $((n % 3)) = 2 ] && wait=60000
  printf '{"type":"desktop.call","call_id":"q%s","calls":[CALLS]}\n' "$n" | sed "s/WAIT/$wait/g"
  read -r answer
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"turn %s by %s"}\n' "$id" "$n" $$
done
`

func callingScript(list ...string) string {
	return strings.ReplaceAll(callingAgent, "CALLS", strings.Join(list, ","))
}

// TestKillCalls kills moot with -9 at random points of a room whose agents call others
// at once and below each other, and opens the room again each time. No call is lost or
// run twice, each ends once with what its caller is told, and its budget is reserved and
// released once.
func TestKillCalls(t *testing.T) {
	kills := 12
	if testing.Short() {
		kills = 4
	}
	w := newWorkbench(t, map[string]string{
		"room.yaml": callRoom, "agent.sh": shellAgent,
		"caller.sh": callingScript(`{"agent_name":"coder","task":"write","wait_ms":WAIT,"allow_nested_calls":true}`, `{"agent_name":"tester","task":"test","wait_ms":WAIT}`),
		"coder.sh":  callingScript(`{"agent_name":"tester","task":"check","wait_ms":WAIT}`),
	})
	rng := rand.New(rand.NewPCG(15, 50))
	id, made := "", 0
	for done := 0; done < kills; {
		args := []string{"run", "--headless", "-o", "jsonl"}
		if id != "" {
			args = append(args, "--room", id)
		}
		r := w.start(args...)
		lines, code := r.read(8+rng.IntN(24), time.Duration(rng.IntN(60_000))*time.Microsecond)
		if id == "" && len(lines) > 0 {
			id = roomOf(t, lines)
		}
		switch code {
		case app.ExitLimit: // the room has had all its turns
			made += w.checkCalls(id)
			id = ""
		case -1:
			done++
		default:
			if !locked(r) {
				t.Fatalf("exit code %d\n%s", code, r.stderr)
			}
		}
	}
	for id != "" {
		r := w.start("run", "--headless", "-o", "jsonl", "--room", id)
		switch code := r.end(); {
		case code == app.ExitLimit:
			made += w.checkCalls(id)
			id = ""
		case !locked(r):
			t.Fatalf("exit code %d\n%s", code, r.stderr)
		}
	}
	w.gone("pids")
	if made == 0 {
		t.Error("no call was made")
	}
	t.Logf("%d kills, %d calls", kills, made)
}

// locked reports whether a process has found its room locked. An agent that the killed
// process was just starting holds the lock until it runs its own program.
func locked(r *running) bool { return strings.Contains(r.stderr.String(), "LOG-LOCKED") }

// checkCalls checks the calls of an ended room and of all rooms below it, and returns how
// many there are.
func (w *workbench) checkCalls(id string) int {
	w.t.Helper()
	db := w.open()
	defer db.Close()
	return w.checkCallsOf(db, id)
}

// A callRecord is what the log of a room says of one call.
type callRecord struct {
	room.Call
	started, ended, results int
	waited                  bool // its caller waited for it when it ended
	cut                     bool // and has lost the result with the host
	over                    bool // its caller's room had ended before
}

func (w *workbench) checkCallsOf(db *sqlite.DB, id string) (made int) {
	w.t.Helper()
	s, records := &room.State{}, map[string]*callRecord{}
	var order []string
	cursors := map[string]int64{}
	for e, err := range log.Scan(w.t.Context(), db, id, log.Pos{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		if why := s.Follows(e.Event); why != "" {
			w.t.Errorf("room %s: event %d cannot follow: %s", id, e.Seq, why)
		}
		switch b := e.Event.Body.(type) {
		case room.CallStarted:
			if records[b.ID] != nil {
				w.t.Errorf("room %s: call %s is started twice", id, b.ID)
			}
			records[b.ID] = &callRecord{Call: b.Call, started: 1}
			order = append(order, b.ID)
		case room.TurnInterrupted:
			for _, c := range records {
				c.cut = c.cut || c.Turn == b.Turn && c.waited && b.Reason == "the host ended" // else its agent has the answer
			}
		case room.CallEnded:
			c := records[b.Call]
			c.ended++
			c.waited = waitsFor(s, b.Call)
			c.over = s.Phase != room.PhaseLive && s.Phase != room.PhasePaused
			c.State, c.Posted, c.Result = b.State, b.Posted, &b.Result
		case room.MessagePosted:
			if b.Message.Kind == kinds.CallResult {
				records[b.Message.Correlation].results++
				if b.Message.Visibility != room.Internal || b.Message.To != records[b.Message.Correlation].Caller {
					w.t.Errorf("room %s: the result %+v", id, b.Message)
				}
			}
		}
		s.Apply(e.Event)
		w.checkBudget(id, s)
		for _, x := range s.Seats {
			if now := s.Mail.Deliveries.Cursors[x.ID]; now < cursors[x.ID] {
				w.t.Errorf("room %s: the cursor of %s goes back at event %d", id, x.ID, e.Seq)
			} else {
				cursors[x.ID] = now
			}
		}
	}
	for _, call := range order {
		made += 1 + w.checkCall(db, id, records[call])
	}
	return made
}

// waitsFor reports whether the caller of a call waits for its result now.
func waitsFor(s *room.State, id string) bool {
	for _, c := range s.Calls {
		if c.ID == id {
			return c.WaitUntil > 0 && s.Turn != nil && s.Turn.Participant == c.Caller
		}
	}
	return false
}

// checkBudget checks that the room has not promised more than it has.
func (w *workbench) checkBudget(id string, s *room.State) {
	w.t.Helper()
	reserved := s.Reserved()
	if l := s.Limits; l.MaxCalls > 0 && s.Called+reserved.Calls > l.MaxCalls {
		w.t.Errorf("room %s: %d calls made and %d reserved of %d", id, s.Called, reserved.Calls, l.MaxCalls)
	}
	if l := s.Limits; l.MaxTokens > 0 && s.Tally.Tokens+reserved.Tokens > l.MaxTokens {
		w.t.Errorf("room %s: %d tokens spent and %d reserved of %d", id, s.Tally.Tokens, reserved.Tokens, l.MaxTokens)
	}
}

// checkCall checks that a call has ended once, that its caller was told once, and that
// its room was opened once, got the task once, and answered once. It returns how many
// calls were made below it.
func (w *workbench) checkCall(db *sqlite.DB, id string, c *callRecord) int {
	w.t.Helper()
	if c.ended != 1 || c.results > 1 || c.results == 0 && !c.over && (!c.waited || c.cut) || c.Posted && c.results == 0 {
		w.t.Errorf("room %s: call %s has ended %d times, its caller waited %t, and got %d messages", id, c.ID, c.ended, c.waited, c.results)
		return 0
	}
	opened, tasks, answers, spent := 0, 0, 0, int64(0)
	for e, err := range log.Scan(w.t.Context(), db, c.Room, log.Pos{}) {
		if err != nil {
			if c.State == calls.Canceled { // before its room was opened
				return 0
			}
			w.t.Fatalf("room %s: call %s: %v", id, c.ID, err)
		}
		switch b := e.Event.Body.(type) {
		case room.Opened:
			opened++
		case room.MessagePosted:
			if b.Message.Kind == kinds.Call {
				tasks++
			} else if b.Message.From == c.Agent && b.Turn != 0 {
				answers++
			}
		}
	}
	s, err := app.FoldRoom(w.t.Context(), db, c.Room)
	if err != nil {
		w.t.Fatal(err)
	}
	spent = s.Tally.Tokens + s.Return.Cut
	if opened != 1 || tasks > 1 || c.State == calls.Completed && (tasks != 1 || answers == 0) || c.Result.Tokens != spent || c.Result.Calls != s.Called {
		w.t.Errorf("room %s: call %s is %s: its room was opened %d times, got %d tasks, answered %d times, and used %d tokens and %d calls; told %+v",
			id, c.ID, c.State, opened, tasks, answers, spent, s.Called, c.Result)
	}
	return w.checkCallsOf(db, c.Room)
}
