package sqlite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// dataFiles are the files of a log that outlive its process.
var dataFiles = []string{sqlite.FileName, sqlite.FileName + "-wal", sqlite.HeadsName}

// TestFlippedFolder changes single bytes of the data folder of a killed process:
// of its database, its write-ahead log and its heads. No acknowledged event may be
// missing unless an error of its room says so, also after other rooms have been written to.
// MOOT_LOG_FLIPS is the number of bytes.
func TestFlippedFolder(t *testing.T) {
	flips := 300
	if testing.Short() {
		flips = 60
	}
	if n, err := strconv.Atoi(os.Getenv("MOOT_LOG_FLIPS")); err == nil {
		flips = n
	}
	dir := t.TempDir()
	// The first process leaves its events in the write-ahead log. Opening and
	// closing the log moves them into the database.
	acked := killed(t, dir, 60, 0)
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	acked = append(acked, killed(t, dir, 60, 0)...)
	files := map[string][]byte{}
	for _, name := range dataFiles {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(b) < 1000 {
			t.Fatalf("%s: %d bytes, %v: the test tests nothing", name, len(b), err)
		}
		files[name] = b
	}
	random := rand.New(rand.NewPCG(11, 11))
	found := map[string]int{}
	for i := range flips {
		name := dataFiles[i%len(dataFiles)]
		at, change := random.IntN(len(files[name])), byte(1+random.IntN(255))
		what := fmt.Sprintf("byte %d of %s changed by %#x", at, name, change)
		folder := t.TempDir()
		for _, f := range dataFiles {
			b := append([]byte{}, files[f]...)
			if f == name {
				b[at] ^= change
			}
			if err := os.WriteFile(filepath.Join(folder, f), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := damaged(t, what, folder, acked)
		if len(before) > 0 {
			found[name]++
			writeOn(folder)
			after := damaged(t, what+", after other appends", folder, acked)
			for room, text := range before {
				if after[room] == "" {
					t.Errorf("%s: room %s: %s, and after other appends nothing", what, room, text)
				}
			}
		}
		os.RemoveAll(folder)
	}
	t.Logf("%d acknowledged events; %d bytes changed; found in the database %d, in the write-ahead log %d, in the heads %d; the others lost nothing",
		len(acked), flips, found[dataFiles[0]], found[dataFiles[1]], found[dataFiles[2]])
	if found[dataFiles[1]] < flips/6 {
		t.Error("too little was found in the write-ahead log: the test tests nothing")
	}
}

// damaged opens a folder and returns what is reported of each damaged room. It fails
// the test if an acknowledged event is missing of a room of which nothing is reported.
func damaged(t *testing.T, what, dir string, acked []ack) map[string]string {
	t.Helper()
	found := map[string]string{}
	d, err := sqlite.Open(sqlite.Config{Dir: dir, Poll: time.Hour})
	if err != nil {
		for _, name := range childRooms {
			found[name] = coded(t, what, err)
		}
		return found
	}
	defer d.Close()
	stored := map[ack]bool{}
	for _, name := range childRooms {
		for e, err := range log.Scan(t.Context(), d, name, log.Pos{}) {
			switch {
			case err == nil:
				stored[ack{name, e.Seq, e.Event.ID}] = true
			case !errors.Is(err, log.ErrNotFound): // which is no word of damage
				found[name] = coded(t, what, err)
			}
		}
	}
	lost := map[string]int{}
	for _, a := range acked {
		if !stored[a] && found[a.room] == "" {
			lost[a.room]++
		}
	}
	if len(lost) > 0 {
		t.Errorf("%s: acknowledged events are lost without a word: %v; reported: %v", what, lost, found)
	}
	if infos, err := d.Rooms(t.Context()); err == nil && len(infos) < len(childRooms) {
		t.Errorf("%s: of %d rooms %d are listed, without a word", what, len(childRooms), len(infos))
	}
	return found
}

// coded returns the text of an error, which must have a code.
func coded(t *testing.T, what string, err error) string {
	t.Helper()
	if code(err) == "NONE" {
		t.Errorf("%s: the error has no code: %v", what, err)
	}
	return err.Error()
}

// writeOn appends to another room, and to each room that takes an event, as a host
// does that runs on.
func writeOn(dir string) {
	d, err := sqlite.Open(sqlite.Config{Dir: dir, Poll: time.Hour})
	if err != nil {
		return
	}
	defer d.Close()
	for _, name := range append([]string{"other"}, childRooms...) {
		if at, err := d.Tail(ctx, name); err == nil {
			_, _, _ = d.Append(ctx, name, at, time.Time{}, logtest.Event("next", "x")) // it may be refused
		}
	}
}
