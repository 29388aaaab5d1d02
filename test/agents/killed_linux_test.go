package agents

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/test/agents/model"
)

// TestKilled ends moot, or the agent, while the agent's tool runs a program,
// after a turn with another tool. Everything that the agent has started ends too.
func TestKilled(t *testing.T) {
	for _, a := range chosen(t) {
		t.Run(a.name+"/moot", func(t *testing.T) {
			runKilled(t, a, func(r *running, _ process) { send(t, r.cmd.Process.Pid, syscall.SIGKILL) })
		})
		t.Run(a.name+"/agent", func(t *testing.T) {
			runKilled(t, a, func(_ *running, leader process) { send(t, leader.pid, syscall.SIGKILL) })
		})
		// The room is ended, and moot closes the agent's input.
		t.Run(a.name+"/input", func(t *testing.T) {
			runKilled(t, a, func(r *running, _ process) { send(t, r.cmd.Process.Pid, syscall.SIGTERM) })
		})
	}
}

// endless is the program that the agent's tool runs.
const endless = "tail -f new.txt"

func runKilled(t *testing.T, a agent, end func(r *running, leader process)) {
	w := newTable(t, a)
	w.script = func(q model.Request) *model.Reply {
		if q.Side || !strings.Contains(q.Messages[len(q.Messages)-1].Text, "(turn 3)") {
			return nil
		}
		return &model.Reply{Call: &model.Call{Name: a.shell, Arguments: []byte(strings.ReplaceAll(a.runs, "{command}", endless))}}
	}
	r := w.start(seating{turns: 4, opening: w.fill(a, a.order), allow: []string{a.rule, `{"kind": "execute", "argv": ["tail", "*"]}`}})
	defer r.end(t) // the events are read, so that moot is not held up
	r.until(t, "a second turn of the agent", func(e event) bool { return e.Type == "turn.granted" && e.Body.Turn == 3 })
	before := w.untilRuns(r, endless)
	end(r, before[0])
	left := func() []process {
		return slices.DeleteFunc(processes(t, w.home(a)), func(p process) bool {
			return !slices.ContainsFunc(before, func(q process) bool { return p.pid == q.pid })
		})
	}
	for deadline := time.Now().Add(limitOfEnd); len(left()) > 0 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
	}
	for _, p := range left() {
		t.Errorf("process %d lives %v later: %.200s", p.pid, limitOfEnd, p.command)
	}
	_ = r.cmd.Process.Signal(syscall.SIGTERM) // it has ended already, but for the case of the agent
}

// untilRuns waits until an agent runs a command, and returns all its processes:
// the agent's own is the first.
func (w *table) untilRuns(r *running, command string) []process {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		all := processes(w.t, w.dir+"/home")
		if slices.ContainsFunc(all, func(p process) bool { return strings.HasPrefix(p.command, command) }) {
			slices.SortFunc(all, func(a, b process) int { return a.pid - b.pid })
			return all
		}
	}
	_ = r.cmd.Process.Signal(syscall.SIGTERM) // the rest of the events is for the message
	r.end(w.t)
	w.t.Fatalf("no agent runs %q: %+v\n%s\n%s", command, processes(w.t, w.dir+"/home"), &r.text, &r.stderr)
	return nil
}

func send(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Error(err)
	}
}
