package bench

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkDemo is the time from starting `moot demo` to its first turn, with
// an empty folder for caches and with the one that an earlier run left.
func BenchmarkDemo(b *testing.B) {
	moot := filepath.Join(scratch(b, "bin"), "moot")
	build := exec.Command("go", "build", "-o", moot, "./cmd/moot")
	build.Dir = ".." // whose go.mod has what the command imports
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building moot: %v\n%s", err, out)
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			home := b.TempDir()
			b.StartTimer()
			firstTurn(b, moot, home)
		}
	})
	b.Run("warm", func(b *testing.B) {
		home := b.TempDir()
		firstTurn(b, moot, home)
		b.ResetTimer()
		for b.Loop() {
			firstTurn(b, moot, home)
		}
	})
}

// firstTurn runs the demo; the timer stands still from its first turn on.
func firstTurn(b *testing.B, moot, home string) {
	b.Helper()
	cmd := exec.Command(moot, "demo", "--headless", "-o", "jsonl")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "MOOT_DATA=", "MOOT_CONFIG=")
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
			b.StopTimer()
		}
	}
	if err := cmd.Wait(); err != nil || !granted {
		b.Fatalf("the demo granted a turn: %v, and ended: %v", granted, err)
	}
	b.StartTimer()
}
