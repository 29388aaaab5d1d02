package share

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/relaytest"
)

func newJournal(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// TestJournalTruncated cuts a journal at each byte. It is read, and has all
// lines that are whole.
func TestJournalTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	j := newJournal(t, path)
	from := relaytest.NewID(t)
	for i := range 3 {
		id := fmt.Sprint("req_", i)
		if err := errors.Join(j.begin(from, "r", id, 1), j.end(from, "r", id, json.RawMessage(`{"status":"ok"}`))); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		k, err := OpenJournal(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		lines := strings.Count(string(whole[:cut]), "\n")
		for i := range 3 {
			known, kept, err := k.find(from, "r", fmt.Sprint("req_", i), 1)
			if err != nil || known != (lines > 2*i) || (kept != nil) != (lines > 2*i+1) {
				t.Errorf("cut at %d: req_%d known %t, answer %s, %v", cut, i, known, kept, err)
			}
		}
		k.Close()
	}
}

// TestJournalBounds checks that the journal keeps a hundred answers of each
// device, and one day.
func TestJournalBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	j := newJournal(t, path)
	from, now := relaytest.NewID(t), time.Now()
	j.now = func() time.Time { return now }
	for i := range keptAnswers + 5 {
		id := fmt.Sprint("req_", i)
		if err := errors.Join(j.begin(from, "r", id, 1), j.end(from, "r", id, json.RawMessage(`{"n":1}`))); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]bool{"req_0": false, "req_4": false, "req_5": true, "req_104": true} {
		if known, kept, err := j.find(from, "r", id, 1); !known || (kept != nil) != want || err != nil {
			t.Errorf("%s: known %t, kept %s, %v", id, known, kept, err)
		}
	}
	now = now.Add(keptFor + time.Minute)
	if err := j.compact(); err != nil {
		t.Fatal(err)
	}
	if known, _, _ := j.find(from, "r", "req_104", 1); known {
		t.Error("the journal keeps more than a day")
	}
}

// TestJournalFormat reads lines as every release writes them.
func TestJournalFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	from := relaytest.NewID(t)
	at, err := time.Now().UTC().MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	lines := fmt.Sprintf(`{"at":"%s","from":"%s","room":"r","epoch":2,"request":"q"}`+"\n", at, from) +
		fmt.Sprintf(`{"at":"%s","from":"%s","room":"r","epoch":0,"request":"q","answer":{"status":"ok"}}`+"\n", at, from)
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	j := newJournal(t, path)
	if known, answer, err := j.find(from, "r", "q", 2); !known || string(answer) != `{"status":"ok"}` || err != nil {
		t.Errorf("known %t, answer %s, %v", known, answer, err)
	}
	if _, _, err := j.find(from, "r", "q", 1); !errors.Is(err, ErrStale) {
		t.Errorf("a lower epoch: %v", err)
	}
}

// TestJournalDropsOld: what is older than a day leaves the disk though nothing
// is shared any more, and from a share that is not asked anything.
func TestJournalDropsOld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	if err := DropOld(path, time.Now()); err != nil {
		t.Fatal("without a journal: ", err)
	}
	from, begun := relaytest.NewID(t), time.Now()
	holds := func(text string) bool {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(b), text)
	}
	fill := func(j *Journal, request string, at time.Time) {
		j.now = func() time.Time { return at }
		answer := json.RawMessage(`{"text":"answer to ` + request + `"}`)
		if err := errors.Join(j.begin(from, "r", request, 1), j.end(from, "r", request, answer)); err != nil {
			t.Fatal(err)
		}
	}
	j := newJournal(t, path)
	fill(j, "first", begun)
	fill(j, "second", begun.Add(time.Hour))
	if err := errors.Join(j.Close(), DropOld(path, begun.Add(keptFor+time.Minute))); err != nil {
		t.Fatal(err)
	}
	if holds("first") || !holds("answer to second") {
		t.Error("after a day the first answer is on the disk, or the second is not")
	}
	if err := DropOld(path, begun.Add(2*keptFor)); err != nil || holds("second") {
		t.Error("after two days the second answer is on the disk", err)
	}
	k := newJournal(t, path)
	fill(k, "third", begun)
	k.now = func() time.Time { return begun.Add(keptFor + time.Minute) }
	if err := k.DropOld(); err != nil || holds("third") {
		t.Error("a running share keeps an answer for more than a day", err)
	}
	fill(k, "fourth", begun.Add(keptFor))
	if !holds("fourth") {
		t.Error("the journal cannot be written any more")
	}
}
