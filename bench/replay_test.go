package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Size of the replay whose memory is measured.
const (
	replayedRooms    = 200
	replayedMessages = 5000 // of each room
)

// BenchmarkReplayMemory replays a million messages in 200 rooms with a policy in the
// sandbox, and reports the peak of the resident memory of the command.
func BenchmarkReplayMemory(b *testing.B) {
	moot := builtMoot(b, "..")
	file := filepath.Join(b.TempDir(), "million.jsonl")
	if err := writeRooms(file); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cmd := exec.Command(moot, "replay", file, "--policy", "habit", "-q", "-o", "json", "--data", b.TempDir())
		cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			b.Skip("the system does not tell the peak")
		}
		b.ReportMetric(float64(usage.Maxrss)/1024, "peak-MiB")
		b.ReportMetric(replayedRooms*replayedMessages/cmd.ProcessState.UserTime().Seconds(), "messages/cpu-s")
	}
}

// writeRooms writes rooms of five agents that speak in an order without a period.
func writeRooms(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	ids := []string{"ann", "bob", "cid", "dan", "eve"}
	type participant struct {
		ID   string `json:"id"`
		Kind string `json:"kind"`
	}
	type turn struct {
		I       int    `json:"i"`
		Speaker string `json:"speaker"`
		Text    string `json:"text"`
	}
	var people []participant
	for _, id := range ids {
		people = append(people, participant{id, "agent"})
	}
	e := json.NewEncoder(w)
	for room := range replayedRooms {
		turns, at := make([]turn, 0, replayedMessages), 0
		for n := range replayedMessages {
			at = (at + 1 + (n*n/7+room)%4) % len(ids)
			turns = append(turns, turn{n, ids[at], fmt.Sprintf("message %d of room %d: the build failed again, so I look at the cache and at the lock", n, room)})
		}
		if err := e.Encode(map[string]any{"id": fmt.Sprint("room/", room), "participants": people, "turns": turns}); err != nil {
			return err
		}
	}
	return w.Flush()
}
