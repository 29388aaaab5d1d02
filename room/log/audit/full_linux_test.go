package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/problem"
)

// smallDisk mounts a file system of 16 KiB in memory. fill leaves 4 KiB of it.
func smallDisk(t *testing.T) (dir string, fill, free func()) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k,mode=0700"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	ballast := filepath.Join(dir, "ballast")
	fill = func() {
		if err := os.WriteFile(ballast, make([]byte, 12<<10), 0o600); err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	free = func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
	return dir, fill, free
}

// intact counts the events of a file whose lines may be cut short: refusals with
// their counts, and others.
func intact(t *testing.T, dir string) (refusals, others int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		var e Event
		switch {
		case json.Unmarshal(line, &e) != nil:
		case e.Status == "refused":
			refusals += max(1, e.Count)
		default:
			others++
		}
	}
	return refusals, others
}

// TestRefusalsOnAFullDisk checks that each refusal is counted or reported to the
// caller, whether the disk is full at the first, or when the count is due.
func TestRefusalsOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, fill, free := smallDisk(t)
		l := opened(t, Config{Dir: dir})
		refuse := func() error { return l.Append(Event{Device: "d1", Status: "refused", Reason: "RELAY-RATE"}) }
		granted := 0
		exhaust := func() {
			fill()
			for l.Append(Event{Status: "granted"}) == nil {
				granted++
			}
		}
		exhaust()
		for i := range 3 {
			isFull(t, refuse(), "refusal", i, "of a kind whose first is not written")
		}
		free()
		const written = 5
		for range written {
			if err := refuse(); err != nil {
				t.Fatal(err)
			}
		}
		exhaust()
		time.Sleep(3 * foldTime) // in synctest time; the count is due
		isFull(t, refuse(), "refusal with a count that is due")
		isFull(t, l.Append(Event{Status: "granted"}), "another event")
		free()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		// An event whose error was reported may be there: the refusal is counted, and a
		// line may lack only its end.
		if refusals, others := intact(t, dir); refusals < written || refusals > written+1 || others < granted {
			t.Errorf("%d of %d refusals and %d of %d other events are written", refusals, written, others, granted)
		}
	})
}

// TestCountIsTriedAgain checks that a count that did not fit on the disk is written
// when there is space, without another event.
func TestCountIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, fill, free := smallDisk(t)
		l := opened(t, Config{Dir: dir})
		for range 5 {
			if err := l.Append(Event{Device: "d1", Status: "refused", Reason: "RELAY-RATE"}); err != nil {
				t.Fatal(err)
			}
		}
		fill()
		for l.Append(Event{Status: "granted"}) == nil {
		}
		time.Sleep(3 * foldTime)
		if refusals, _ := intact(t, dir); refusals != 1 {
			t.Fatalf("%d refusals are written on a full disk", refusals)
		}
		free()
		time.Sleep(3 * foldTime)
		if refusals, _ := intact(t, dir); refusals != 5 {
			t.Errorf("%d of 5 refusals are written", refusals)
		}
		if err := l.Append(Event{Status: "granted"}); err != nil {
			t.Errorf("an error that is over: %v", err)
		}
	})
}

func isFull(t *testing.T, err error, what ...any) {
	t.Helper()
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != "LOG-FULL" {
		t.Error(append(what, "got", err)...)
	}
}
