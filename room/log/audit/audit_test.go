package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/problem"
)

// lines decodes all events of a file, strictly.
func lines(t testing.TB, path string) []Event {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var events []Event
	for in := bufio.NewScanner(f); in.Scan(); {
		dec := json.NewDecoder(strings.NewReader(in.Text()))
		dec.DisallowUnknownFields()
		var e Event
		if err := dec.Decode(&e); err != nil || dec.More() {
			t.Fatalf("line %q: %v", in.Text(), err)
		}
		events = append(events, e)
	}
	return events
}

func opened(t testing.TB, c Config) *Log {
	t.Helper()
	l, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestAppend(t *testing.T) {
	dir := t.TempDir()
	whole := Event{
		Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Profile: "coder", Device: "d1", Requester: "alice",
		Room: "r1", Turn: 4, Mode: "manual", Status: "refused", Reason: "rate <limit> & more", MS: 2,
	}
	l := opened(t, Config{Dir: dir, Sync: true})
	for _, e := range []Event{whole, {Status: "granted"}} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := opened(t, Config{Dir: dir}).Append(whole); err != nil {
		t.Fatal(err)
	}
	got := lines(t, filepath.Join(dir, FileName))
	if len(got) != 3 || got[0] != whole || got[2] != whole {
		t.Fatalf("events are %+v", got)
	}
	if age := time.Since(got[1].Time); age < 0 || age > time.Hour || got[1].Time.Location() != time.UTC {
		t.Errorf("an event without a time has %v", got[1].Time)
	}
	info, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

// TestValuesAreHarmless checks that values of other devices cannot forge a line,
// control a terminal or fill the disk.
func TestValuesAreHarmless(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, Config{Dir: dir, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }})
	hostile := []string{
		"a\n{\"status\":\"granted\"}", "\x1b[2Jgone", "\u202etxt.exe", "zero\u200bwidth", "nul\x00", "\xff\xfe", "c1\u009b31m",
		"pass hunter2", strings.Repeat("é", 1000), strings.Repeat("x", 199) + "hunter2",
	}
	for _, s := range hostile {
		if err := l.Append(Event{Profile: s, Device: s, Requester: s, Room: s, Mode: s, Status: s, Reason: s}); err != nil {
			t.Fatal(err)
		}
	}
	got := lines(t, filepath.Join(dir, FileName))
	if len(got) != len(hostile) {
		t.Fatalf("%d lines for %d events", len(got), len(hostile))
	}
	for i, e := range got {
		for _, v := range []string{e.Profile, e.Device, e.Requester, e.Room, e.Mode, e.Status, e.Reason} {
			if !utf8.ValidString(v) || len(v) > maxReason || strings.Contains(v, "hunter") ||
				strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x200b }) {
				t.Errorf("event %d has %q", i, v)
			}
		}
		if len(e.Status) > maxValue {
			t.Errorf("event %d has a status of %d bytes", i, len(e.Status))
		}
	}
}

func TestNewFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [strange] folder*")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l := opened(t, Config{Dir: dir, size: 1000})
	for i := range 100 {
		if err := l.Append(Event{Status: "granted", Turn: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := filepath.Glob(filepath.Join(escape(dir), "audit*.jsonl"))
	if err != nil || len(parts) != keep+1 {
		t.Fatalf("the parts are %v, %v", parts, err)
	}
	// Parts sort by time; the current one, "audit.jsonl", comes last.
	var turns []int
	for _, part := range parts {
		info, err := os.Stat(part)
		if err != nil || info.Size() > 1000 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %d bytes, mode %v, %v", part, info.Size(), info.Mode(), err)
		}
		for _, e := range lines(t, part) {
			turns = append(turns, e.Turn)
		}
	}
	for i, turn := range turns {
		if turn != 100-len(turns)+1+i {
			t.Fatalf("the last events are %v", turns)
		}
	}
}

// TestTwoWriters lets two handles, as two processes do, write to one file and
// rotate it.
func TestTwoHandles(t *testing.T) {
	dir := t.TempDir()
	const each = 60
	var wg sync.WaitGroup
	for h := range 2 {
		l := opened(t, Config{Dir: dir, size: 4000})
		for range 2 {
			wg.Go(func() {
				for i := range each {
					if err := l.Append(Event{Status: "granted", Turn: i, Profile: fmt.Sprint(h)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	parts, err := filepath.Glob(filepath.Join(dir, "audit*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, part := range parts {
		n += len(lines(t, part))
	}
	if len(parts) <= keep && n != 4*each {
		t.Errorf("%d events in %d parts, want %d", n, len(parts), 4*each)
	}
}

// A line that a crash cut short does not swallow the next.
func TestCutLine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path, []byte(`{"time":"2026-03`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := opened(t, Config{Dir: dir}).Append(Event{Status: "granted"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if parts := strings.Split(string(b), "\n"); len(parts) != 3 || !json.Valid([]byte(parts[1])) {
		t.Errorf("the file holds %q", b)
	}
}

func TestErrors(t *testing.T) {
	coded := func(err error, want string) {
		t.Helper()
		if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != want || p.Fix == "" && want != "LOG-CLOSED" {
			t.Errorf("got %v, want %s with a fix", err, want)
		}
	}
	_, err := Open(Config{Dir: filepath.Join(t.TempDir(), "none")})
	coded(err, "LOG-OPEN")
	l := opened(t, Config{Dir: t.TempDir()})
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	coded(l.Append(Event{Status: "granted"}), "LOG-CLOSED")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("/dev/full is needed")
		}
		t.Skip("there is no /dev/full to write to")
	}
	l = opened(t, Config{Dir: t.TempDir()})
	file := l.f
	defer file.Close()
	l.f, l.path = full, "/dev/full"
	coded(l.Append(Event{Status: "granted"}), "LOG-FULL")
}

// TestRefusalsAreFolded: a flood of refusals is a few lines with counts, whatever
// else a device writes into its requests, and hides no other event.
func TestRefusalsAreFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := opened(t, Config{Dir: dir})
		begun := time.Now()
		const perSecond, seconds = 27, 150
		sent := 0
		for s := range seconds {
			for i := range perSecond {
				e := Event{Device: "d1", Requester: "bob", Status: "refused", Reason: "RELAY-RATE", Profile: fmt.Sprint("p", i), Room: fmt.Sprint("r", s), Turn: i + 1}
				if err := l.Append(e); err != nil {
					t.Fatal(err)
				}
				sent++
			}
			if s == 70 {
				for _, e := range []Event{{Device: "d1", Requester: "bob", Status: "granted"}, {Device: "d2", Requester: "eve", Status: "refused", Reason: "RELAY-RATE"}} {
					if err := l.Append(e); err != nil {
						t.Fatal(err)
					}
				}
			}
			time.Sleep(time.Second) // in synctest time
		}
		time.Sleep(3 * time.Minute)
		if err := l.Append(Event{Device: "d1", Requester: "bob", Status: "refused", Reason: "RELAY-RATE"}); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		got := lines(t, filepath.Join(dir, FileName))
		counted, others := 0, 0
		for _, e := range got {
			if e.Device == "d2" || e.Status == "granted" {
				others++
			} else {
				counted += max(1, e.Count)
			}
		}
		if counted != sent+1 || others != 2 || len(got) > 8 {
			t.Errorf("%d lines stand for %d of %d refusals and %d other events: %+v", len(got), counted, sent+1, others, got)
		}
		if first, last := got[0], got[len(got)-1]; first.Count != 0 || !first.Time.Equal(begun.UTC()) || last.Count != 0 {
			t.Errorf("the first of each flood is not written at once: %+v, %+v", first, last)
		}
	})
}

// TestFoldsAtClose: what is counted is written when the log is closed.
func TestFoldsAtClose(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, Config{Dir: dir})
	for i := range 5 {
		if err := l.Append(Event{Device: "d1", Status: "refused", Reason: "RELAY-DENIED", Turn: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := lines(t, filepath.Join(dir, FileName))
	if len(got) != 2 || got[0].Count != 0 || got[1].Count != 4 || got[1].Turn != 5 {
		t.Errorf("%+v", got)
	}
}
