package transcripts

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// example returns the events of the room examples/manager-worker, as it was exported at
// the level internal.
func example(t *testing.T) []room.Event {
	t.Helper()
	b, err := os.ReadFile("testdata/manager-worker.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var events []room.Event
	for line := range bytes.Lines(b) {
		var l struct{ Event json.RawMessage }
		if json.Unmarshal(line, &l) != nil || l.Event == nil {
			continue // the header
		}
		e, err := room.UnmarshalEvent(l.Event)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	// The example has neither of these.
	last := events[len(events)-1]
	for _, body := range []room.Body{
		room.HandoffAsked{Turn: 1, From: "coder", To: "dba", Reason: "a hand-off in secret"},
		room.HandoffAsked{Turn: 1, From: "coder", To: "nobody of the room", Refused: "\"nobody of the room\" is no participant"},
		room.MessageDead{Message: room.Message{ID: "x", From: "coder", To: "nobody at all", Kind: "gossip", Text: "a refused text"}, Code: "ROOM-KIND", Reason: "no kind \"a refused kind\"", Fix: "do not say this"},
		room.PayloadStored{Digest: "d", Payload: []byte(`{"long":"a long payload"}`)},
	} {
		e := last
		e.Seq, e.Body = last.Seq+1, body
		last = e
		events = append(events, e)
	}
	return events
}

// texts adds the texts within a JSON value that say something to all.
func texts(v any, all map[string]bool) {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, " ") {
			all[v] = true
		}
	case []any:
		for _, x := range v {
			texts(x, all)
		}
	case map[string]any:
		for _, x := range v {
			texts(x, all)
		}
	}
}

// private returns the texts of a room that readers below the level internal must not see:
// those of internal messages and of the events about the plan, calls and dead letters that
// stand in nothing else.
func private(t *testing.T, events []room.Event) (hidden []string) {
	in, out := map[string]bool{}, ""
	for _, e := range events {
		raw, err := json.Marshal(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		if _, seen := e.VisibleAt(room.UserVisible); seen {
			out += string(raw)
			continue
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		texts(v, in)
	}
	for text := range in {
		if !strings.Contains(out, text) {
			hidden = append(hidden, text)
		}
	}
	slices.Sort(hidden)
	return hidden
}

// forms are all forms of exports.
var forms = map[string]writer{
	"md": WriteMarkdown, "html": WriteHTML, "csv": WriteCSV, "openai": WriteChat, "otel": WriteSpans,
	"text": func(w io.Writer, es iter.Seq2[log.Entry, error], l Level) error { return WriteText(w, es, l, 0) },
	"jsonl": func(w io.Writer, es iter.Seq2[log.Entry, error], l Level) error {
		return Write(w, Header{Room: "r", Level: l}, es)
	},
	"watch": func(w io.Writer, es iter.Seq2[log.Entry, error], l Level) error {
		for e := range es {
			if seen, ok := e.Event.VisibleAt(l.visibility()); ok {
				raw, err := room.MarshalEvent(seen)
				if err != nil {
					return err
				}
				w.Write(raw)
			}
		}
		return nil
	},
}

// TestLevels exports a room of a manager and its workers in every form at every level. No
// text that is internal stands in an export for readers of another level, and the export
// for readers who may see it has what happened.
func TestLevels(t *testing.T) {
	events := example(t)
	hidden := private(t, events)
	if len(hidden) < 20 {
		t.Fatalf("only %d private texts: %q", len(hidden), hidden)
	}
	for name, write := range forms {
		for _, level := range []Level{UserVisible, UserRedacted} {
			got := export(t, write, events, level)
			for _, text := range hidden {
				if escaped, _ := json.Marshal(text); strings.Contains(got, text) || strings.Contains(got, strings.Trim(string(escaped), `"`)) {
					t.Errorf("%s at %s has %q", name, level, text)
				}
			}
			if !strings.Contains(got, "No lock was held for more than 40 ms") || !strings.Contains(got, "Which region do old rows get?") {
				t.Errorf("%s at %s lacks what everybody may see:\n%s", name, level, got)
			}
		}
		if got := export(t, write, events, Internal); !strings.Contains(got, "Leave the old rows empty for now.") || !strings.Contains(got, "We also need a migration back.") {
			t.Errorf("%s at internal lacks internal messages:\n%s", name, got)
		}
	}
}

// TestCooperation: exports for people tell what agents do for each other: the kind of a
// message, its id and what it answers, the plan, calls, hand-offs and dead letters.
func TestCooperation(t *testing.T) {
	events := example(t)
	text, md := export(t, forms["text"], events, Internal), export(t, WriteMarkdown, events, Internal)
	for _, want := range []string{
		"plan: intent 1: orders has the column region; criterion 1: No lock is held for more than a second; criterion 2: The tests are green; task migration (Write the migration) is submitted, of coder",
		"plan: task migration is input_required, of coder: the region of old rows",
		"plan: task review is completed, of dba; criterion 1 is met: 40 ms on a copy with 12 million rows",
		"proposal proposal accepted",
		"coder calls dba (c1): How do I add a column to a table that is in use?",
		"call c1 of dba has completed",
		"coder hands off to dba: a hand-off in secret",
		"the message x (gossip) to nobody at all is a dead letter: no kind",
		"plan: check check of dba", "plan: check check answered in today", "plan: final response final",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	for _, want := range []string{
		`kind clarification\_reply · id empty · answers question`, `kind intent\_brief · id brief · asks for an acknowledgement`,
		"The migration is written.\npayload: {\"task\":\"migration\"",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("the Markdown lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(text, md)
	}
}

// TestNeutralKinds: a conversation in the neutral format keeps the kinds of its messages,
// and a kind that no participant sends is left out.
func TestNeutralKinds(t *testing.T) {
	const line = `{"id":"x","participants":[{"id":"lead","kind":"agent","role":"manager"},{"id":"dba","kind":"agent","role":"worker"}],"turns":[` +
		`{"i":0,"speaker":"lead","text":"Is it done?","channel":"thought","addressees":["dba"],"kind":"status_check","message_id":"c1"},` +
		`{"i":1,"speaker":"dba","text":"Half.","addressees":["lead"],"kind":"status_reply","correlation_id":"c1"},{"i":2,"speaker":"lead","text":"Well."}]}`
	for c, err := range ReadConversations(strings.NewReader(line), "x") {
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range c.Events() {
			if b, ok := e.Body.(room.MessagePosted); ok {
				m := b.Message
				got = append(got, strings.Join([]string{m.ID, m.From, m.To, m.Kind, m.Correlation, string(m.Visibility)}, " "))
			}
		}
		if want := []string{"c1 lead dba status_check  internal", "m2 dba lead status_reply c1 user_visible", "m3 lead broadcast utterance  user_visible"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, kind := range []string{"gossip", "call_result", "ack"} {
		bad := strings.Replace(line, "status_reply", kind, 1)
		for _, err := range ReadConversations(strings.NewReader(bad), "x") {
			if err == nil || !strings.Contains(err.Error(), kind) {
				t.Errorf("%s: %v", kind, err)
			}
		}
		r, err := NewReader(strings.NewReader(bad), "x")
		if err != nil {
			t.Fatal(err)
		}
		for x, err := range r.Lenient() {
			if err != nil || len(x.Turns) != 3 || x.Turns[1].Kind != "" || x.Changed != 1 || x.Skipped != 0 {
				t.Errorf("%s: %+v, %v", kind, x, err)
			}
		}
	}
}
