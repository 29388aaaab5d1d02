package foreign

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLenient: a piece that breaks its format is left out, counted and named. A strict
// import refuses the file.
func TestLenient(t *testing.T) {
	const claude = `{"type":"user","uuid":"1","sessionId":"s","message":{"content":"hi"}}` + "\n"
	for name, c := range map[string]struct {
		in     string
		format Format
		texts  string // of the turns
		faults int
		where  string // of the first fault
		what   string
	}{
		"content":      {in: `[{"role":"user","content":"a"},{"role":"user","content":7},{"role":"user","content":"b"}]`, texts: "a b", faults: 1, where: "f: $[1].content", what: "expected a string"},
		"no message":   {in: `{"messages":[{"role":"user","content":"a"},{"role":"user","content":["b",7]}]}`, texts: "a", faults: 1, where: "f: $.messages[1].content[1]", what: "a part of a message"},
		"call":         {in: `[{"role":"assistant","content":"a"},{"role":"assistant","content":"x","tool_calls":[{"id":"x"}]}]`, texts: "a", faults: 1, where: "f: $[1].tool_calls[0]", what: `"function" is missing`},
		"line":         {in: "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":3}\n{\"messages\":[{\"role\":\"user\",\"content\":\"b\"}]}", texts: "a b", faults: 1, where: "f:2: $.messages", what: "an array"},
		"last line":    {in: "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":3}", texts: "a", faults: 1, where: "f:2: $.messages", what: "an array"},
		"name":         {in: `[{"role":"user","name":"a","content":{"x":1}},{"role":"user","name":"a","content":"a"}]`, texts: "a", faults: 1, where: "f: $[0].content", what: "expected a string"},
		"team":         {in: `{"message_thread":[{"type":"TextMessage","source":"a","content":"x"},{"type":7,"source":"a"}]}`, texts: "x", faults: 1, where: "f: $.message_thread[1].type", what: "a string"},
		"magentic":     {in: `[{"role":"Orchestrator (thought)","content":"x"},{"role":"A","content":9}]`, texts: "x", faults: 1, where: "f: $[1].content", what: "a string"},
		"claude line":  {in: claude + `{"type":"user","uuid":"2","sessionId":"s"}` + "\n", texts: "hi", faults: 1, where: "f:2: $", what: "missing"},
		"no JSON":      {in: claude + `{"type":"user",` + "\n" + "also none\n", texts: "hi", faults: 2, where: "f:2:15", what: "invalid JSON"},
		"first line":   {in: `er","uuid":"0"}` + "\n" + claude + claude[:len(claude)-1], texts: "hi", faults: 1, where: "f:1:1", what: "invalid JSON"},
		"odd first":    {in: `{"meta":1}` + "\n" + claude, texts: "hi", faults: 1, where: "f:1: $", what: "missing"},
		"codex":        {in: `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}}` + "\n" + `{"type":"response_item","payload":{"x":1}}`, texts: "a", faults: 1, where: "f:2: $.payload", what: "missing"},
		"a2a":          {in: `{"kind":"task","id":"1","history":[{"messageId":"m","role":"boss","parts":[]},{"messageId":"n","role":"user","parts":[{"text":"a"}]}]}`, texts: "a", faults: 1, where: "f: $.history[0].role", what: "user or agent"},
		"opencode":     {in: `{"info":{"id":"s"},"messages":[{"info":{"role":"user"}},{"info":{"role":"user"},"parts":[{"type":"text","text":"a"}]}]}`, texts: "a", faults: 1, where: "f: $.messages[0]", what: "missing"},
		"irc":          {in: "[10:00] <a> x\nwhat?\n[10:01] <b> y\n", format: IRC, texts: "x y", faults: 1, where: "f:2", what: "neither a message"},
		"vtt":          {in: "WEBVTT\n\n00:01 -> 00:02\nx\n\n00:01.000 --> 00:02.000\ny\n", texts: "y", faults: 1, where: "f:3", what: "expected a cue"},
		"srt":          {in: "1\n00:00:01,000 --> 00:00:02,000\nx\n\nlost\n", texts: "x", faults: 1, where: "f:5", what: "expected a cue"},
		"span":         {in: `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"1","attributes":[{"key":"gen_ai.output.messages","value":{"stringValue":"[{"}}]},{"traceId":"t","spanId":"2","attributes":[{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"x\"}]}]"}}]}]}]}]}`, texts: "x", faults: 1, where: "f: $.resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.stringValue:1:2", what: "invalid JSON"},
		"span NaN":     {in: `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"1","attributes":[{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"y\"}]}]"}},{"key":"moot.participant.kind","value":{"stringValue":"agent"}},{"key":"gen_ai.agent.id","value":{"stringValue":"a"}},{"key":"moot.clock_s","value":{"stringValue":"NaN"}}]},{"traceId":"t","spanId":"2","attributes":[{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"x\"}]}]"}}]}]}]}]}`, texts: "x", faults: 1, where: "f: $.resourceSpans[0].scopeSpans[0].spans[0].attributes[3].value.stringValue", what: "number"},
		"slack":        {in: string(zipped(t, "shop/2026-02-02.json", `[{"type":"message","user":"U1","text":"x","ts":"1.5"},{"type":"message","user":"U1","text":7,"ts":"2.5"},{"type":"message"}]`)), texts: "x", faults: 2, where: "f!shop/2026-02-02.json: $[2]", what: `"ts" is missing`},
		"slack day":    {in: string(zipped(t, "shop/2026-02-02.json", `[{"type":"message","user":"U1","text":"x","ts":"1.5"}]`, "shop/2026-02-03.json", `[{`)), texts: "x", faults: 1, where: "f!shop/2026-02-03.json:1:2", what: "invalid JSON"},
		"run":          {in: `[{"id":"1","run_type":"llm","inputs":{"messages":[{"role":"user","content":"x"}]}},{"id":"2","trace_id":"1","inputs":{}}]`, texts: "x", faults: 1, where: "f: $[1]", what: `"run_type" is missing`},
		"discord":      {in: `{"guild":{},"channel":{},"messages":[{"id":"1","content":"x","author":{"id":"a"}},{"id":"2","content":7,"author":{"id":"a"}}]}`, texts: "x", faults: 1, where: "f: $.messages[1].content", what: "a string"},
		"matrix":       {in: `[{"type":"m.room.message","sender":"@a:b","content":{"msgtype":"m.text","body":"x"}},{"type":"m.room.message","sender":"@a:b","content":{"msgtype":"m.text","body":7}}]`, texts: "x", faults: 1, where: "f: $[1].content.body", what: "a string"},
		"inspect":      {in: `{"eval":{},"samples":[{"id":1,"messages":[{"role":"user","content":"x"},{"role":"boss","content":"y"}]}]}`, texts: "x", faults: 1, where: "f: $.samples[0].messages[1].role", what: "must be system"},
		"gemini":       {in: `{"sessionId":"s","projectHash":"p","messages":[{"type":"user","content":"x"},{"type":"user","content":[7]}]}`, texts: "x", faults: 1, where: "f: $.messages[1].content[0]", what: "a part of a message"},
		"qwen":         {in: `{"uuid":"1","sessionId":"s","type":"user","message":{"parts":[{"text":"x"}]}}` + "\n" + `{"uuid":"2","sessionId":"s","type":"assistant","message":{}}`, texts: "x", faults: 1, where: "f:2: $.message", what: `"parts" is missing`},
		"hermes":       {in: `{"role":"session_meta"}` + "\n" + `{"role":"user","content":"x"}` + "\n" + `{"role":"user","content":7}`, texts: "x", faults: 1, where: "f:3: $.content", what: "a string"},
		"a whole file": {in: `[{"role":"user","content":"a"},`, faults: -1},
	} {
		t.Run(name, func(t *testing.T) {
			all, rest, err := readAll(t, []byte(c.in), "f", Options{Format: c.format})
			if c.faults < 0 {
				if code(t, err) != "TRANSCRIPT-SHAPE" {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			var faults []Fault
			counted := rest
			for _, x := range all {
				sound(t, x)
				faults = append(faults, x.Report.Faults...)
				for _, turn := range x.Turns {
					texts = append(texts, turn.Text)
				}
				for _, l := range x.Report.Left {
					if l.Why == faulty {
						counted += l.N
					}
				}
			}
			if rest > 0 {
				faults = append(faults, Fault{c.where, c.what})
			}
			if got := strings.Join(texts, " "); got != c.texts || len(faults) != c.faults || counted != c.faults {
				t.Fatalf("%q, %d counted, %+v", got, counted, faults)
			}
			if c.faults > 0 && (faults[0].Where != c.where || !strings.Contains(faults[0].What, c.what)) {
				t.Errorf("%+v", faults[0])
			}
			if _, _, err := read(t, []byte(c.in), "f", c.format); err == nil {
				t.Error("a strict import takes it")
			}
		})
	}
}

// readAll reads all conversations, and counts the faults behind them.
func readAll(tb testing.TB, content []byte, name string, o Options) (all []*Conversation, rest int, err error) {
	tb.Helper()
	f, err := Open(bytes.NewReader(content), name, o)
	if err != nil {
		return nil, 0, err
	}
	for c, err := range f.Conversations() {
		if err != nil {
			return nil, 0, err
		}
		all = append(all, c)
	}
	rest, named := f.Faults()
	if rest > 0 != (len(named) > 0) {
		tb.Errorf("%d faults, named are %v", rest, named)
	}
	return all, rest, nil
}

// TestNoSpeaker: a message of nobody is left out and counted.
func TestNoSpeaker(t *testing.T) {
	const content = `[{"type":"m.room.message","sender":"","content":{"msgtype":"m.text","body":"x"}},
		{"type":"m.room.message","sender":"@a:b","content":{"msgtype":"m.text","body":"y"}}]`
	_, all, err := readWith(t, []byte(content), "f", Options{Format: Matrix})
	if err != nil || len(all) != 1 || len(all[0].Turns) != 1 {
		t.Fatalf("%d conversations, %v", len(all), err)
	}
	sound(t, all[0])
	if left := all[0].Report.Left; len(left) != 1 || left[0].Why != "message without a speaker" {
		t.Errorf("%+v", left)
	}
}

// TestWrongClock: a time that the neutral form refuses is dropped, and its turn stays.
func TestWrongClock(t *testing.T) {
	_, all, err := readWith(t, []byte("1000000:0:00,00 --> 0:00,00\nx"), "f", Options{Format: SRT})
	if err != nil || len(all) != 1 || len(all[0].Turns) != 1 {
		t.Fatalf("%d conversations, %v", len(all), err)
	}
	sound(t, all[0])
	if changed := all[0].Report.Changed; len(changed) != 1 || changed[0].Why != "clock beyond a century, dropped" {
		t.Errorf("%+v", changed)
	}
}

// TestFaultsAreBounded: a report names the first faults and counts all.
func TestFaultsAreBounded(t *testing.T) {
	in := `[{"role":"user","content":"a"}` + strings.Repeat(`,{"role":"user","content":7}`, 1000) + `]`
	_, all, err := readWith(t, []byte(in), "f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	sound(t, all[0])
	if r := all[0].Report; len(r.Faults) != maxFaults || r.LeftOut() != 1000 {
		t.Errorf("%d named, %d left out", len(r.Faults), r.LeftOut())
	}
}

// TestTooMany: a file with too many lines or entries is refused, in a lenient import too.
func TestTooMany(t *testing.T) {
	before := maxItems
	maxItems = 3
	t.Cleanup(func() { maxItems = before })
	line := `{"role":"session_meta"}` + "\n"
	event := `{"type":"m.room.message","sender":"@a:b","content":{}},`
	span := `{"spanId":"1"},`
	for name, in := range map[string]string{
		"lines":    strings.Repeat(line, 4),
		"events":   "[" + strings.Repeat(event, 3) + event[:len(event)-1] + "]",
		"spans":    `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Repeat(span, 3) + span[:len(span)-1] + `]}]}]}`,
		"runs":     `[` + strings.Repeat(`{"id":"1","run_type":"llm","inputs":{}},`, 3) + `{"id":"2","run_type":"llm","inputs":{}}]`,
		"loglines": `{"loglines":[{"type":"x"},{"type":"x"},{"type":"x"},{"type":"x"}]}`,
		"in parts": `{"sessionId":"s","projectHash":"p","messages":[1,2]}` + "\n" + `{"messages":[3,4]}`,
		"messages": `{"sessionId":"s","projectHash":"p","messages":[1,2,3,4]}`,
	} {
		if _, _, err := readWith(t, []byte(in), "f", Options{}); err == nil || code(t, err) != "TRANSCRIPT-SIZE" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, in := range map[string]string{"list": `[{},{},{},{}]`, "rows": "a,b\n1,2\n1,2\n1,2\n1,2\n"} {
		if _, _, err := readWith(t, []byte(in), "f", Options{Map: mapped(t, "speaker=a,text=b")}); err == nil || code(t, err) != "TRANSCRIPT-SIZE" {
			t.Errorf("by a map, %s: %v", name, err)
		}
	}
}

// TestTeams reads a transcript of Microsoft Teams with metadata, in which one cue is
// damaged.
func TestTeams(t *testing.T) {
	content, err := os.ReadFile("testdata/teams-metadata.vtt")
	if err != nil {
		t.Fatal(err)
	}
	format, all, err := readWith(t, content, "teams-metadata.vtt", Options{})
	if err != nil || format != WebVTT {
		t.Fatal(format, err)
	}
	sound(t, all[0])
	golden(t, "teams-metadata.vtt", told(all))
}

// TestLenientFixtures: a file without faults is read in the same way.
func TestLenientFixtures(t *testing.T) {
	for file := range fixtures {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		_, one, err := read(t, content, file, "")
		_, two, again := readWith(t, content, file, Options{})
		if err != nil || again != nil || told(one) != told(two) || strings.Contains(fmt.Sprint(two), faulty) {
			t.Errorf("%s: %v, %v", file, err, again)
		}
	}
}
