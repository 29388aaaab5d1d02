package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// TestJournalCut: a journal whose end was cut off anywhere is read, and has
// whatever was whole.
func TestJournalCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	j := newJournal(t, path)
	from := newID(t)
	for i := range 3 {
		id := fmt.Sprint("req_", i)
		if err := errors.Join(j.begin(from, "r", id, 1), j.end(from, "r", id, json.RawMessage(`{"status":"ok"}`))); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
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
			known, kept, err := k.look(from, "r", fmt.Sprint("req_", i), 1)
			if err != nil || known != (lines > 2*i) || (kept != nil) != (lines > 2*i+1) {
				t.Errorf("cut at %d: req_%d known %t, answer %s, %v", cut, i, known, kept, err)
			}
		}
		k.Close()
	}
}

// TestJournalBounds: it keeps a hundred answers of each device, and a day.
func TestJournalBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	j := newJournal(t, path)
	from, now := newID(t), time.Now()
	j.now = func() time.Time { return now }
	for i := range keepAnswers + 5 {
		id := fmt.Sprint("req_", i)
		if err := errors.Join(j.begin(from, "r", id, 1), j.end(from, "r", id, json.RawMessage(`{"n":1}`))); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]bool{"req_0": false, "req_4": false, "req_5": true, "req_104": true} {
		if known, kept, err := j.look(from, "r", id, 1); !known || (kept != nil) != want || err != nil {
			t.Errorf("%s: known %t, kept %s, %v", id, known, kept, err)
		}
	}
	now = now.Add(keepFor + time.Minute)
	if err := j.rewrite(); err != nil {
		t.Fatal(err)
	}
	if known, _, _ := j.look(from, "r", "req_104", 1); known {
		t.Error("it keeps more than a day")
	}
}

// TestGate: the limits hold over rooms, processes and restarts, which is over
// gates that count in one folder.
func TestGate(t *testing.T) {
	dir, with := t.TempDir(), newID(t)
	gate := func() *Gate {
		g, err := OpenGate(dir)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	now := time.Now()
	enter := func(p Profile, d identity.DeviceID) (func(), error) {
		g := gate()
		g.now = func() time.Time { return now }
		return g.enter(t.Context(), serving, p, d, endpoint.Turn)
	}
	rules := Profile{Name: "coder"}
	var leaves []func()
	for range DefaultConcurrent {
		leave, err := enter(rules, with)
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	if _, err := enter(rules, newID(t)); !errors.Is(err, endpoint.ErrLimited) || !strings.Contains(err.Error(), "RELAY-BUSY") {
		t.Errorf("a fourth call at once: %v", err)
	}
	for _, leave := range leaves {
		leave()
	}
	if _, err := enter(rules, with); !errors.Is(err, endpoint.ErrLimited) || !strings.Contains(err.Error(), "RELAY-RATE") {
		t.Errorf("a fourth call in a minute: %v", err)
	}
	if leave, err := enter(rules, newID(t)); err != nil { // the rate is of a profile and a device
		t.Error(err)
	} else {
		leave()
	}
	now = now.Add(-24 * time.Hour) // clocks go back, which gives nobody more
	if _, err := enter(rules, with); err == nil {
		t.Error("a clock that was set back lets calls through")
	}
	now = now.Add(time.Minute)
	served := 0
	for range 10 {
		if leave, err := enter(rules, with); err == nil {
			served++
			leave()
		}
	}
	if served != DefaultBurst {
		t.Errorf("%d calls after a minute of rest, want the burst of %d", served, DefaultBurst)
	}
}

// TestPaced: the asking side waits for its rate rather than failing a turn,
// unless the turn would be over by then.
func TestPaced(t *testing.T) {
	g, with := newGate(t), newID(t)
	rules := Profile{Name: "mine", PerMinute: 6000, Burst: 1}
	for range 3 { // 10 ms apart
		leave, err := g.enter(t.Context(), asking, rules, with, endpoint.Turn)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	rules.PerMinute = 1
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := g.enter(ctx, asking, rules, with, endpoint.Turn); !errors.Is(err, endpoint.ErrLimited) {
		t.Errorf("a rate that cannot be waited for: %v", err)
	}
}

// TestLongPrompt: what does not fit is left out from the oldest on, and the
// prompt says so.
func TestLongPrompt(t *testing.T) {
	p := prompt("req_1", "newest")
	for i := range 100 {
		p.History = append(p.History, endpoint.Line{Seq: int64(i), From: "ann", Text: strings.Repeat("\"", 5_000)})
	}
	b, err := request(p, "theirs", "", envelope.NewTrace("t", newID(t).String(), "mine"))
	if err != nil || len(b) > session.MaxMessage {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	e, err := envelope.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	var q question
	if err := e.DecodeBody(&q); err != nil {
		t.Fatal(err)
	}
	if newest(q.prompt()) != "newest" || len(q.History) == 0 || !strings.Contains(q.Omitted, "did not fit") {
		t.Errorf("%d messages are left, %q", len(q.History), q.Omitted)
	}
	p.History, p.CatchUp[0].Text = nil, strings.Repeat("x", session.MaxMessage)
	if _, err := request(p, "theirs", "", envelope.NewTrace("t", newID(t).String(), "mine")); !errors.Is(err, endpoint.ErrTooLarge) {
		t.Errorf("what is new does not fit: %v", err)
	}
}

// FuzzLetters: whatever a device sends, a post takes it.
func FuzzLetters(f *testing.F) {
	for _, s := range []string{
		`{"v":1,"id":"a","type":"turn.request","profile":"theirs","room":"r","epoch":1,"turn":1,"body":{"you":"x","seats":[],"objective":"","max_output_chars":1,"max_history_turns":0,"max_history_chars":0,"max_tool_rounds":0,"allow_tool_use":false,"timeout_ms":1}}`,
		`{"v":1,"id":"a","type":"turn.response","body":{"status":"ok","outcome":"said","text":"x"}}`,
		`{"v":1,"id":"a","type":"message","body":{"text":"x"}}`, `{}`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := prompt("a", "x")
		e, err := envelope.Decode(b)
		if err != nil {
			return
		}
		r, _ := read(p, e)
		if r.err == nil && len([]rune(r.reply.Text)) > p.MaxOutputChars {
			t.Error("an answer over the limit")
		}
		var q question
		if e.DecodeBody(&q) == nil && q.check() == nil {
			_ = endpoint.Render(q.prompt())
		}
	})
}
