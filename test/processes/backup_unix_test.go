//go:build unix

package processes

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestKillBackup kills backups and restores at random points. A backup is whole or
// not there. An interrupted restore can be run again and leaves the backup's rooms;
// the rooms of before are never lost.
func TestKillBackup(t *testing.T) {
	kills := 24
	if testing.Short() {
		kills = 6
	}
	w := newWorkbench(t, map[string]string{"room.yaml": threeAgents, "agent.sh": shellAgent})
	r := w.start("run", "--headless", "--max-turns", "4")
	r.end()
	rng := rand.New(rand.NewPCG(4, 11))
	dir := filepath.Join(w.dir, "last")
	start := time.Now()
	if code := w.start("backup", dir).end(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	took := time.Since(start) // kills are spread over the time that a backup takes here
	whole := 0
	for i := range kills {
		dir := filepath.Join(w.dir, "backup"+strconv.Itoa(i))
		w.killSoon(rng, took*5/4, "backup", dir)
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		whole++
		intact(t, dir)
	}
	for range kills {
		w.killSoon(rng, took*5/4, "restore", dir, "--replace")
		if _, err := os.Stat(filepath.Join(w.data(), sqlite.FileName)); err == nil {
			intact(t, w.data())
		} else if parts, _ := filepath.Glob(filepath.Join(w.data(), "replaced-*", sqlite.FileName)); len(parts) == 0 {
			t.Fatal("the rooms are lost")
		}
	}
	if r := w.start("restore", dir, "--replace"); r.end() != 0 {
		t.Fatal(r.stderr)
	}
	intact(t, w.data())
	t.Logf("%d kills of each, %d backups were whole", kills, whole)
}

// killSoon starts moot and kills it within some time.
func (w *workbench) killSoon(rng *rand.Rand, within time.Duration, args ...string) {
	w.t.Helper()
	cmd := exec.Command("moot", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(time.Duration(rng.Int64N(int64(within)))) // the point of the kill is random, not an event
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed, or has ended before
}

// intact checks that a folder has one room, and that nothing is missing in it.
func intact(t *testing.T, dir string) {
	t.Helper()
	db, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	infos, err := db.Rooms(t.Context())
	if err = errors.Join(err, db.Check(t.Context())); err != nil || len(infos) != 1 {
		t.Fatalf("%s: %d rooms, %v", dir, len(infos), err)
	}
}
