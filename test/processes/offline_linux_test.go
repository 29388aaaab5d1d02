package processes

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
)

// TestRoomSaysOffline: a room without a person says at once that its turn waits
// for a device that is not connected.
func TestRoomSaysOffline(t *testing.T) {
	w := newTwo(t, slowAgent)
	w.stopShare()
	cmd := exec.Command("moot", "run", "--headless")
	cmd.Dir, cmd.Env = w.ann.dir, w.ann.env
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := false
	for lines := bufio.NewScanner(stderr); !said && lines.Scan(); {
		said = strings.Contains(lines.Text(), "a turn waits for a device that is not connected to the relay")
	}
	if !said {
		t.Error("the room ended and did not say that the device is not connected")
	}
	_ = cmd.Process.Kill() // it would wait for the device
	_ = cmd.Wait()
}
