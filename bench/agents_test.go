package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// agentDelay is a start as slow as that of a real agent, in seconds.
const agentDelay = 3

// BenchmarkAgents measures how long the agents of a room take to start, each of
// them agentDelay seconds, until the last one is ready: wall time (ns/op).
func BenchmarkAgents(b *testing.B) {
	if _, err := exec.LookPath("python3"); err != nil {
		b.Skip("the agents are in Python, and python3 is not in PATH")
	}
	moot := filepath.Join(scratch(b, "bin"), "moot")
	build := exec.Command("go", "build", "-o", moot, "./cmd/moot")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building moot: %v\n%s", err, out)
	}
	for _, agents := range []int{1, 4} {
		b.Run(fmt.Sprintf("start/agents=%d", agents), func(b *testing.B) {
			room := agentsRoom(b, agents)
			for b.Loop() {
				allReady(b, moot, room, agents)
			}
		})
	}
}

// agentsRoom writes a room of slow copies of the agent in examples/acp.
func agentsRoom(b *testing.B, agents int) (file string) {
	b.Helper()
	agent, err := filepath.Abs("../examples/acp/echo_agent.py")
	if err != nil {
		b.Fatal(err)
	}
	room := "version: room/v1\nobjective: Start.\nopening: Hello.\npolicy: {use: mention}\nlimits: {maxTurns: 1}\nparticipants:\n"
	for i := range agents {
		slow := fmt.Sprintf("import runpy, sys, time; time.sleep(%d); runpy.run_path(sys.argv.pop(1))", agentDelay)
		room += fmt.Sprintf("  - {id: a%d, mode: full_auto, endpoint: {kind: acp, command: [python3, -c, %q, %q]}}\n", i, slow, agent)
	}
	file = filepath.Join(b.TempDir(), "room.yaml")
	if err := os.WriteFile(file, []byte(room), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

// allReady runs a room until all of its agents are ready. It stops the timer for the
// rest of the run.
func allReady(b *testing.B, moot, room string, agents int) {
	b.Helper()
	cmd := exec.Command(moot, "run", room, "--headless", "-o", "jsonl", "--data", b.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ready := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), `"type":"seat.ready"`) {
			if ready++; ready == agents {
				b.StopTimer()
			}
		}
	}
	_ = cmd.Wait() // the room settles or reaches a limit; only its start counts
	if ready != agents {
		b.Fatalf("%d agents of %d were ready", ready, agents)
	}
	b.StartTimer()
}
