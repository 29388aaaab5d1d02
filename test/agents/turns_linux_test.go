package agents

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/folkmoot/moot/test/agents/model"
)

// A turn is what was seen of one turn of a seat.
type turn struct {
	took      time.Duration
	usage     model.Usage
	known     bool
	processes []process
}

// A record is what was seen of one seat.
type record struct {
	agent
	turns  []turn
	failed []string
}

// TestTurns runs a room of real agents for the turns of the flag. Nothing fails,
// the room knows what the model has reported, and no process or memory is added
// from turn to turn.
func TestTurns(t *testing.T) {
	if agents := chosen(t); *apartFlag {
		for _, a := range agents {
			t.Run(a.name, func(t *testing.T) { runTurns(t, a) })
		}
	} else {
		runTurns(t, agents...)
	}
}

func runTurns(t *testing.T, agents ...agent) {
	w := newTable(t, agents...)
	records := map[string]*record{}
	for _, a := range agents {
		records[a.name] = &record{agent: a}
	}
	turns := *turnsFlag
	if len(agents) == 1 {
		turns *= 2 // every second one is the partner's
	}
	r := w.start(seating{turns: turns, opening: "Please begin."})
	var listing strings.Builder // of commands, as ps shows them
	speaker, room := "", ""
	for {
		e, ok := r.next(t)
		if !ok {
			break
		}
		if e.Room != "" {
			room = e.Room
		}
		seat := records[speaker]
		switch e.Type {
		case "turn.granted":
			speaker = e.Body.Participant
		case "message.posted", "turn.passed":
			if seat == nil || e.Body.Turn == 0 {
				break
			}
			seen := turn{took: time.Duration(e.Body.Latency), known: e.Body.Usage.Known}
			u := e.Body.Usage
			seen.usage = model.Usage{Input: u.Input, Output: u.Output, Cached: u.Cached, Reasoning: u.Reasoning}
			seen.processes = processes(t, w.home(seat.agent))
			if n := len(seat.turns); n > 0 && len(seen.processes) == 0 {
				seen.processes = seat.turns[n-1].processes // moot has ended them behind the last turn
			}
			for _, p := range seen.processes {
				listing.WriteString(p.command + "\n")
			}
			seat.turns = append(seat.turns, seen)
		case "turn.failed", "turn.interrupted":
			if seat == nil {
				t.Fatalf("the partner fails: %+v", e.Body)
			}
			seat.failed = append(seat.failed, e.Body.Code+": "+e.Body.Error)
		}
	}
	r.end(t)
	w.gone(t)
	w.printRecords(os.Stdout, records)
	for _, a := range agents {
		w.checkRecord(records[a.name])
	}
	w.checkRoom(room, records, map[string]string{"standard output": r.text.String(), "standard error": r.stderr.String(), "ps": listing.String()})
	if t.Failed() {
		t.Logf("standard error of moot:\n%s", &r.stderr)
	}
}

// added returns the processes that came after turn 2 of the seat and are there at
// the end, for more than three turns and a quarter of all. The others are commands
// that an agent runs now and then, such as Claude Code the check of its sign-in.
func (r *record) added() (out []process) {
	seen := map[int]int{}
	for i, s := range r.turns {
		for _, p := range s.processes {
			if i < 2 {
				seen[p.pid] = -len(r.turns) // it may stay
			}
			seen[p.pid]++
			if seen[p.pid] > max(3, len(r.turns)/4) && i == len(r.turns)-1 {
				out = append(out, p)
			}
		}
	}
	return out
}

// resident returns the processes after turn i of the seat, counted from 0, that
// are there after turn 2 and after the last.
func (r *record) resident(i int) []process {
	stays := func(p process) bool {
		for _, j := range []int{min(1, len(r.turns)-1), len(r.turns) - 1} {
			if !slices.ContainsFunc(r.turns[j].processes, func(q process) bool { return p.pid == q.pid }) {
				return false
			}
		}
		return true
	}
	return slices.DeleteFunc(slices.Clone(r.turns[i].processes), func(p process) bool { return !stays(p) })
}

// memory returns the resident set of those processes in KiB.
func (r *record) memory(i int) (kib int) {
	for _, p := range r.resident(i) {
		kib += p.rss
	}
	return kib
}

// checkRecord checks one seat.
func (w *table) checkRecord(r *record) {
	t := w.t
	for _, f := range r.failed {
		t.Errorf("%s: a turn failed: %s", r.name, f)
	}
	if len(r.turns) < 2 {
		t.Errorf("%s: %d turns; fix: more --turns, if the agent was still starting", r.name, len(r.turns))
	}
	calls, side := w.callsOf(r.name)
	if len(calls) != len(r.turns) || len(side) > 1 {
		t.Errorf("%s: %d model calls and %d side calls in %d turns", r.name, len(calls), len(side), len(r.turns))
	}
	for i := range min(len(calls), len(r.turns)) {
		want := r.told(calls[i].Usage)
		if got := r.turns[i]; !got.known || got.usage != want {
			t.Errorf("%s: turn %d of the seat has the usage %+v (known: %t); the model reported %+v", r.name, i+1, got.usage, got.known, want)
			break // the others mostly differ likewise
		}
	}
	if added := r.added(); len(added) > 0 {
		t.Errorf("%s: processes were added after turn 2 of the seat, and stay: %+v", r.name, added)
	}
	if last := len(r.turns); last > 10 {
		if then, now := r.memory(9), r.memory(last-1); now > then+then/10+r.grows*(last-10)<<10 {
			t.Errorf("%s: %d MiB after turn 10 of the seat, %d MiB after turn %d", r.name, then>>10, now>>10, last)
		}
	}
}

// checkRoom checks what moot says of the room afterwards.
func (w *table) checkRoom(room string, records map[string]*record, texts map[string]string) {
	t := w.t
	turns := 0
	for _, r := range records {
		turns += len(r.turns)
	}
	if turns != *turnsFlag {
		t.Errorf("%d turns instead of %d", turns, *turnsFlag)
	}
	for name, args := range map[string][]string{
		"show": {"show", room, "-o", "json"}, "export": {"transcript", "export", room, "-o", "jsonl"}, "transcript": {"transcript", "export", room, "-o", "md"},
	} {
		out, err := w.moot(args...).Output()
		if err != nil {
			t.Errorf("%s: %v %s", name, err, out)
		}
		texts[name] = string(out)
	}
	var shown struct {
		Participants []struct {
			ID        string
			Failures  int
			Tokens    int
			Estimated bool
		}
	}
	if err := json.Unmarshal([]byte(texts["show"]), &shown); err != nil {
		t.Error(err)
	}
	for _, p := range shown.Participants {
		tokens, r := 0, records[p.ID]
		if r == nil {
			continue
		}
		for _, seen := range r.turns {
			tokens += seen.usage.Input + seen.usage.Output
		}
		if p.Failures != 0 || p.Tokens != tokens || p.Estimated {
			t.Errorf("moot show has %+v; want no failures and exactly %d tokens", p, tokens)
		}
	}
	w.secretFree(texts)
}

// printRecords prints a table for people.
func (w *table) printRecords(out io.Writer, records map[string]*record) {
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "agent\tturns\tfailed\tcalls\tside\ttokens in\tout\tfirst turn\tmedian\tlast\tprocesses\tMiB at turn 2, 10, last")
	for _, a := range w.seats {
		r := records[a.name]
		calls, side := w.callsOf(a.name)
		var sum model.Usage
		var took []time.Duration
		for _, s := range r.turns {
			sum.Input += s.usage.Input
			sum.Output += s.usage.Output
			took = append(took, s.took)
		}
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t", a.name, len(r.turns), len(r.failed), len(calls), len(side), sum.Input, sum.Output)
		if n := len(r.turns); n > 0 {
			first, last := took[0], took[n-1]
			slices.Sort(took)
			at := func(i int) int { return r.memory(min(i, n-1)) >> 10 }
			fmt.Fprintf(tw, "%.2f s\t%.2f s\t%.2f s\t%d\t%d, %d, %d\n", first.Seconds(), took[n/2].Seconds(), last.Seconds(),
				len(r.resident(n-1)), at(1), at(9), at(n))
		} else {
			fmt.Fprintln(tw, "\t\t\t\t")
		}
	}
	_ = tw.Flush() // a test's own output
}

// exists says whether the file of the order is there.
func (w *table) exists(a agent) bool {
	_, err := os.Stat(filepath.Clean(w.file(a)))
	return err == nil
}
