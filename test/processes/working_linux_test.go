package processes

import (
	"context"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
)

// gatedAgent answers its first prompt at once, and the others when the file go
// exists.
const gatedAgent = `n=0
while read -r line; do
  n=$((n+1))
  while [ $n -gt 1 ] && [ ! -e go ]; do sleep 0.1; done
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"Yes."}\n' "$id"
done
`

// TestEndpointCheckGoesOn: each requirement is printed when it was tested, as
// lines of JSON too, and a terminal shows the one that is being tested.
func TestEndpointCheckGoesOn(t *testing.T) {
	for _, format := range []string{"table", "jsonl"} {
		w := newWorkbench(t, map[string]string{"agent.sh": gatedAgent})
		r := w.start("endpoint", "check", "-o", format, "--", "sh", "agent.sh")
		r.until(t, "answers a prompt with one response")
		w.write("go", "")
		r.until(t, "answers the next prompt too")
		r.kill(t)
	}
	w := newWorkbench(t, map[string]string{"agent.sh": gatedAgent})
	x := openTerminal(t, w, 100, "endpoint", "check", "--", "sh", "agent.sh")
	x.wait("sequence: the agent answers the next prompt too")
	w.write("go", "")
	x.sees("sequence       answers the next prompt too")
	x.press("\x03")
	x.end()
}

// TestCompilingIsShown: a terminal shows that a policy is compiled, and nothing
// of it is left when it is done. Other output has none of it.
func TestCompilingIsShown(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
	w.env = append(w.env, "MOOT_CACHE="+w.dir+"/cold")
	x := openTerminal(t, w, 100, "policy", "check", "adaptive")
	x.wait("preparing policy adaptive")
	if code := x.end(); code != app.ExitOK {
		t.Errorf("exit code %d: %s", code, x.screen)
	}
	if strings.Contains(x.screen.String(), "preparing") {
		t.Errorf("it is still shown:\n%s", x.screen)
	}
	w.env = append(w.env, "MOOT_CACHE="+w.dir+"/colder")
	if out, err := w.moot("policy", "check", "adaptive"); err != nil || strings.Contains(out, "preparing") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCompilingIsShownOnce: nothing of the spinner is left in the timeline when a
// room has begun on its screen, or when it has ended. A fast machine prepares the
// policy before a spinner is due, and a busy one may do it between two frames. Then
// the screen never shows it, and the test tries again with an empty cache and with
// programs that take most of the processor time.
func TestCompilingIsShownOnce(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
	env := slices.Clone(w.env)
	for i := range 5 {
		w.env = append(slices.Clone(env), "MOOT_CACHE="+w.dir+"/empty"+strconv.Itoa(i))
		idle := takeProcessors(t, 2*i*runtime.NumCPU())
		shown := runsUncached(t, w)
		if idle(); shown {
			return
		}
	}
	t.Error("a screen never showed that the policy is prepared")
}

// takeProcessors starts endless loops, which take processor time until idle is
// called.
func takeProcessors(t *testing.T, loops int) (idle func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running []*exec.Cmd
	for range loops {
		loop := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		loop.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Linux shares processor time among sessions
		if err := loop.Start(); err != nil {
			t.Error(err)
			break
		}
		running = append(running, loop)
	}
	return func() {
		cancel()
		for _, loop := range running {
			_ = loop.Wait() // killed
		}
	}
}

// runsUncached runs a room whose policy has to be compiled, and reports whether its
// screen showed that.
func runsUncached(t *testing.T, w *workbench) (shown bool) {
	t.Helper()
	x := openTerminal(t, w, 100, "run")
	x.sees("DRAFT of A waits")
	shown = strings.Contains(x.sent(), "preparing policy roundrobin")
	if strings.Contains(x.screen.String(), "preparing") {
		t.Errorf("it is in the timeline:\n%s", x.screen)
	}
	x.press("\x1b\x1b")
	x.end()
	x.sees("go on with:")
	if strings.Contains(x.screen.History(), "preparing") {
		t.Errorf("it is left:\n%s", x.screen.History())
	}
	return shown
}
