//go:build unix

package processes

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestKill kills moot with -9 at random points of a room of 20 turns with
// three real processes, and opens the room again each time. Each
// acknowledged event, that is each printed one, must still be there, byte for
// byte. Each turn must end exactly once, and moot must show the fold of the log.
func TestKill(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 5
	}
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": shellAgent})
	rng := rand.New(rand.NewPCG(2, 50))
	var rooms []string
	acked := map[string][]string{} // events by room, as they were printed
	id := ""
	for done := 0; done < kills; {
		args := []string{"run", "--headless", "-o", "jsonl"}
		if id != "" {
			args = append(args, "--room", id)
		}
		r := w.start(args...)
		lines, code := r.read(rng.IntN(30), time.Duration(rng.IntN(15_000))*time.Microsecond)
		if id == "" {
			if len(lines) == 0 {
				done++ // killed before there was a room
				continue
			}
			id = roomOf(t, lines)
			rooms = append(rooms, id)
		}
		acked[id] = append(acked[id], lines...)
		switch code {
		case app.ExitLimit:
			id = ""
		case -1:
			done++
		default:
			t.Fatalf("exit code %d\n%s", code, r.stderr)
		}
	}
	w.gone("pids")
	for _, id := range rooms {
		w.finish(id)
		w.checkRoom(id, acked[id])
	}
	t.Logf("%d kills, %d rooms", kills, len(rooms))
}

// read reads n lines, waits, kills, and returns what was printed.
func (r *running) read(n int, wait time.Duration) (lines []string, code int) {
	for len(lines) < n && r.lines.Scan() {
		lines = append(lines, r.lines.Text())
	}
	if len(lines) == n {
		time.Sleep(wait) // the point of the kill is random, not an event
		_ = r.Process.Kill()
	}
	for r.lines.Scan() {
		lines = append(lines, r.lines.Text())
	}
	_ = r.Wait()
	return lines, r.ProcessState.ExitCode()
}

func roomOf(t *testing.T, lines []string) string {
	t.Helper()
	e, err := room.UnmarshalEvent([]byte(lines[0]))
	if err != nil {
		t.Fatal(err)
	}
	b, ok := e.Body.(room.Opened)
	if !ok {
		t.Fatalf("the first event is %s", lines[0])
	}
	return b.Spec.Room
}

// finish lets a room run to its end and compares what moot shows then with
// the fold of the log.
func (w *workbench) finish(id string) {
	w.t.Helper()
	r := w.start("run", "--headless", "-o", "json", "--room", id)
	var out strings.Builder
	for r.lines.Scan() {
		out.WriteString(r.lines.Text())
	}
	if code := r.end(); code != app.ExitLimit {
		w.t.Fatalf("room %s: exit code %d\n%s", id, code, r.stderr)
	}
	db := w.open()
	defer db.Close()
	s, err := app.FoldRoom(w.t.Context(), db, id)
	if err != nil {
		w.t.Fatal(err)
	}
	want, err := json.Marshal(s.View(room.Internal))
	if err != nil {
		w.t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, []byte(out.String())); err != nil {
		w.t.Fatal(err)
	}
	view, summary, _ := strings.Cut(got.String(), `,"summary":`)
	if view += "}"; view != string(want) {
		w.t.Errorf("room %s is shown as\n%s\nits log folds to\n%s", id, view, want)
	}
	if !strings.Contains(summary, `"ended":"stopped","cause":"limit"`) {
		w.t.Errorf("room %s is summed up as\n%s", id, summary)
	}
}

func (w *workbench) open() *sqlite.DB {
	w.t.Helper()
	db, err := sqlite.Open(sqlite.Config{Dir: w.data(), ReadOnly: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return db
}

// checkRoom compares a room's log with what was acknowledged and counts how
// its turns ended.
func (w *workbench) checkRoom(id string, acked []string) {
	w.t.Helper()
	db := w.open()
	defer db.Close()
	stored := map[int64]string{}
	ends := map[int]int{}
	granted, folded := 0, &room.State{}
	for e, err := range log.Scan(w.t.Context(), db, id, log.Pos{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		line, err := room.MarshalEvent(app.Secretless(e.Event))
		if err != nil {
			w.t.Fatal(err)
		}
		stored[e.Event.Seq] = string(line)
		if why := folded.Follows(e.Event); why != "" {
			w.t.Errorf("room %s: event %d cannot follow: %s", id, e.Seq, why)
		}
		folded.Apply(e.Event)
		if _, ok := e.Event.Body.(room.TurnGranted); ok {
			granted++
		}
		if turn := endOf(e.Event); turn > 0 {
			ends[turn]++
		}
	}
	lost := 0
	for _, line := range acked {
		e, err := room.UnmarshalEvent([]byte(line))
		if err != nil {
			continue // cut by the kill, so not acknowledged
		}
		if stored[e.Seq] != line {
			lost++
			w.t.Errorf("room %s: acknowledged and not in the log: %s", id, line)
		}
	}
	for turn := range granted {
		if ends[turn+1] != 1 {
			w.t.Errorf("room %s: turn %d has ended %d times", id, turn+1, ends[turn+1])
		}
	}
	if granted != 20 {
		w.t.Errorf("room %s: %d turns", id, granted)
	}
	w.t.Logf("room %s: %d events acknowledged, %d lost", id, len(acked), lost)
}

// endOf is the turn that e ends, or 0.
func endOf(e room.Event) int {
	switch b := e.Body.(type) {
	case room.MessagePosted:
		return b.Turn
	case room.TurnPassed:
		return b.Turn
	case room.TurnFailed:
		return b.Turn
	case room.TurnInterrupted:
		return b.Turn
	case room.TurnRejected:
		return b.Turn
	}
	return 0
}
