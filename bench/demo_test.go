package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkDemo measures the start of `moot demo`, until it grants its first
// turn: wall time (ns/op) and processor time of the process and its children
// (cpu-ms/op, on Linux, in steps of 10 ms). Cold is with an empty folder for
// caches, warm with the folder of a longer run before.
func BenchmarkDemo(b *testing.B) {
	moot := filepath.Join(scratch(b, "bin"), "moot")
	build := exec.Command("go", "build", "-o", moot, "./cmd/moot")
	build.Dir = ".." // its go.mod has the dependencies of the command
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building moot: %v\n%s", err, out)
	}
	b.Run("cold", func(b *testing.B) {
		var used time.Duration
		for b.Loop() {
			b.StopTimer()
			home := b.TempDir()
			b.StartTimer()
			used += firstTurn(b, moot, home)
		}
		reportCPU(b, used)
	})
	b.Run("warm", func(b *testing.B) {
		home := b.TempDir()
		compile := exec.Command(moot, "policy", "bench", "roundrobin") // waits for the compiler
		compile.Env = environ(home)
		if out, err := compile.CombinedOutput(); err != nil {
			b.Fatalf("filling the cache: %v\n%s", err, out)
		}
		var used time.Duration
		b.ResetTimer()
		for b.Loop() {
			used += firstTurn(b, moot, home)
		}
		reportCPU(b, used)
	})
}

func reportCPU(b *testing.B, used time.Duration) {
	b.ReportMetric(float64(used.Milliseconds())/float64(b.N), "cpu-ms/op")
}

// environ keeps all files of moot in home.
func environ(home string) []string {
	return append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "MOOT_DATA=", "MOOT_CONFIG=")
}

// firstTurn runs the demo and returns the processor time until its first turn.
// It stops the timer for the rest of the run.
func firstTurn(b *testing.B, moot, home string) (used time.Duration) {
	b.Helper()
	cmd := exec.Command(moot, "demo", "--headless", "-o", "jsonl")
	cmd.Env = environ(home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	granted := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if !granted && strings.Contains(lines.Text(), `"type":"turn.granted"`) {
			granted = true
			used = processorTime(cmd.Process.Pid)
			b.StopTimer()
		}
	}
	if err := cmd.Wait(); err != nil || !granted {
		b.Fatalf("the demo granted a turn: %v, and ended: %v", granted, err)
	}
	b.StartTimer()
	return used
}

// processorTime returns the processor time of a process and of its children that
// have ended. It is 0 on systems without /proc.
func processorTime(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, fields, _ := strings.Cut(string(b), ") ") // behind the program's name
	list := strings.Fields(fields)
	const utime, cstime, ticksPerSecond = 11, 14, 100 // proc_pid_stat(5), whose fields 14 to 17 these are
	var sum time.Duration
	for i := utime; i <= cstime && i < len(list); i++ {
		n, _ := strconv.ParseInt(list[i], 10, 64)
		sum += time.Duration(n) * time.Second / ticksPerSecond
	}
	return sum
}
