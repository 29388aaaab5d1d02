package transcripts

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// said returns a room in which ana and dba alternate in saying texts.
func said(visibility room.Visibility, texts ...string) []room.Event {
	b := eventBuilder{at: time.Unix(1_770_000_000, 0).UTC()}
	b.add(room.ActorHost, room.Opened{Spec: room.Spec{Room: "r", Objective: "=1+1"}})
	b.add(room.ActorHost, room.Joined{Participant: room.Participant{ID: "ana", Name: "@Ana", Kind: policy.Human}})
	b.add(room.ActorHost, room.Joined{Participant: room.Participant{ID: "dba", Kind: policy.Local}})
	for i, text := range texts {
		m := room.Message{ID: "m", From: []string{"ana", "dba"}[i%2], To: room.Broadcast, Visibility: visibility, Text: text, Summary: "in short"}
		b.add(m.From, room.MessagePosted{Message: m, Usage: room.Usage{Known: true, Input: 7, Output: 3}})
	}
	return b.events
}

// TestCSVFormulas exports texts that spreadsheets run as formulas.
func TestCSVFormulas(t *testing.T) {
	texts := []string{
		"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =cmd|' /C calc'!A0", "\n=1", "\ufeff=1", "＝1+1", "plain", "a=1", "", "\"quoted\", with\nlines",
	}
	rows, err := csv.NewReader(strings.NewReader(export(t, WriteCSV, said(room.UserVisible, texts...), UserVisible))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(texts)+1 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows[1:] {
		for column, cell := range row {
			if first := strings.TrimLeft(cell, " \n\t\r\u00a0\ufeff"); first != "" && strings.ContainsAny(first[:1], "=+-@") || strings.HasPrefix(first, "＝") {
				t.Errorf("%s of %q starts a formula: %q", rows[0][column], texts[i], cell)
			}
		}
	}
	if row := rows[11]; row[11] != "plain" || row[4] != "ana" || row[5] != "'@Ana" || row[12] != "7" || row[13] != "3" || row[10] != "whole" {
		t.Errorf("%q", row)
	}
	if row := rows[14]; row[11] != texts[13] {
		t.Errorf("%q is %q", texts[13], row[11])
	}
}

// TestFlatVisibility exports messages that some levels hide.
func TestFlatVisibility(t *testing.T) {
	for _, c := range []struct {
		visibility room.Visibility
		level      Level
		text       string
		shown      string
	}{
		{room.Internal, UserVisible, "", "hidden"},
		{room.Internal, UserRedacted, "", "hidden"},
		{room.Internal, Internal, "the plan", "whole"},
		{room.UserRedacted, UserVisible, "in short", "summary"},
		{room.UserRedacted, UserRedacted, "the plan", "whole"},
		{room.UserVisible, UserVisible, "the plan", "whole"},
	} {
		events := said(c.visibility, "the plan")
		rows, err := csv.NewReader(strings.NewReader(export(t, WriteCSV, events, c.level))).ReadAll()
		if err != nil || rows[1][11] != c.text || rows[1][10] != c.shown {
			t.Errorf("%s for %s: %q, %v", c.visibility, c.level, rows[1], err)
		}
		for name, w := range map[string]writer{"chat": WriteChat, "spans": WriteSpans} {
			out := export(t, w, events, c.level)
			if has := strings.Contains(out, "the plan"); has != (c.text == "the plan") {
				t.Errorf("%s, %s for %s: %s", name, c.visibility, c.level, out)
			}
			if !json.Valid([]byte(out)) {
				t.Errorf("%s is not JSON: %s", name, out)
			}
		}
	}
}

// TestChatNames checks that names are valid and unique.
func TestChatNames(t *testing.T) {
	b := eventBuilder{}
	b.add(room.ActorHost, room.Opened{Spec: room.Spec{Room: "r", Objective: "why"}})
	ids := []string{"a b", "a_b", "a.b", "ä", strings.Repeat("x", 70), strings.Repeat("x", 71), "ok-1"}
	for _, id := range ids {
		b.add(id, room.MessagePosted{Message: room.Message{From: id, To: room.Broadcast, Text: id}})
	}
	var got struct{ Messages []chatMessage }
	if err := json.Unmarshal([]byte(export(t, WriteChat, b.events, All)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Messages) != len(ids)+1 || got.Messages[0].Role != "system" || got.Messages[0].Content != "why" {
		t.Fatalf("%+v", got.Messages)
	}
	seen := map[string]bool{}
	for i, m := range got.Messages[1:] {
		if seen[m.Name] || len(m.Name) > 64 || strings.ContainsAny(m.Name, " .ä") || m.Content != ids[i] {
			t.Errorf("%q is called %q", ids[i], m.Name)
		}
		seen[m.Name] = true
	}
}

// TestFlatHostile exports hostile messages and redacted events.
func TestFlatHostile(t *testing.T) {
	for name, w := range map[string]writer{"chat": WriteChat, "spans": WriteSpans} {
		out := export(t, w, hostileRoom(hostile), All)
		if !json.Valid([]byte(out)) || bytes.ContainsRune([]byte(out), 0x1b) {
			t.Errorf("%s: %s", name, out)
		}
	}
	if out := export(t, WriteCSV, hostileRoom(hostile), All); strings.ContainsRune(out, 0x1b) || strings.ContainsRune(out, '\u202e') {
		t.Errorf("csv: %q", out)
	}
}

// TestStatedUsage exports what an agent has stated of a turn.
func TestStatedUsage(t *testing.T) {
	b := eventBuilder{at: time.Unix(1_770_000_000, 0).UTC()}
	b.add(room.ActorHost, room.Opened{Spec: room.Spec{Room: "r", Objective: "count"}})
	for _, id := range []string{"ana", "dba"} {
		b.add(room.ActorHost, room.Joined{Participant: room.Participant{ID: id, Kind: policy.Local, Price: room.Price{Input: 1_000_000}}})
	}
	for i, u := range []room.Usage{
		{Known: true, Input: 70, Output: 30, CachedInput: 60, Reasoning: 20, CostKnown: true, Cost: 1200},
		{CostKnown: true},
		{},
	} {
		who := []string{"ana", "ana", "dba"}[i]
		b.add(room.ActorPolicy, room.TurnGranted{Turn: i + 1, Participant: who, Tokens: 10})
		b.add(who, room.MessagePosted{Turn: i + 1, Message: room.Message{From: who, To: room.Broadcast, Text: "four"}, Usage: u})
	}
	rows, err := csv.NewReader(strings.NewReader(export(t, WriteCSV, b.events, UserVisible))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"input_tokens output_tokens cached_input_tokens reasoning_tokens cost_usd",
		"70 30 60 20 0.0012",
		"    0",
		"    ",
	} {
		row := rows[i]
		if got := strings.Join([]string{row[12], row[13], row[15], row[16], row[17]}, " "); got != want {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
	spans := export(t, WriteSpans, b.events, UserVisible)
	for _, want := range []string{
		`{"key":"gen_ai.usage.input_tokens","value":{"intValue":"70"}}`, `{"key":"gen_ai.usage.cache_read.input_tokens","value":{"intValue":"60"}}`,
		`{"key":"gen_ai.usage.reasoning.output_tokens","value":{"intValue":"20"}}`, `{"key":"moot.cost_usd","value":{"stringValue":"0.0012"}}`,
		`{"key":"moot.cost_usd","value":{"stringValue":"0"}}`,
	} {
		if strings.Count(spans, want) != 1 {
			t.Errorf("the spans have not %s:\n%s", want, spans)
		}
	}
	page := export(t, WriteMarkdown, b.events, UserVisible)
	for _, want := range []string{`\~122 tokens (60 cached, 20 reasoning), cost \~0.00121`, "70 in (60 cached), 30 out (20 reasoning)", "cost in US dollars"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has not %q:\n%s", want, page)
		}
	}
}
