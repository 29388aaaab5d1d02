package foreign

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// TestUsage checks which usage the turns of a message get.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          string // input/output/cached/reasoning of the turns
	}{
		{
			"claude.jsonl", `
			{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"May we?"}}
			{"type":"assistant","uuid":"u2","sessionId":"s","message":{"role":"assistant","id":"m1","usage":{"input_tokens":3,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":2},"content":[{"type":"thinking","thinking":"abcdef"}]}}
			{"type":"assistant","uuid":"u3","sessionId":"s","message":{"role":"assistant","id":"m1","usage":{"input_tokens":3,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":40},"content":[{"type":"text","text":"ab"}]}}
			{"type":"assistant","uuid":"u4","sessionId":"s","message":{"role":"assistant","id":"m2","content":[{"type":"text","text":"none"}]}}`,
			"- 113/30/100/0 0/10/0/0 -",
		},
		{
			"codex.jsonl", `
			{"type":"session_meta","payload":{"id":"s"}}
			{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"May we?"}]}}
			{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"We may."}]}}
			{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":20,"cached_input_tokens":4,"output_tokens":9,"reasoning_output_tokens":5}}}}
			{"type":"event_msg","payload":{"type":"token_count","info":null}}`,
			"- 20/9/4/5",
		},
		{
			"gemini.json", `{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00Z","messages":[
			{"id":"1","timestamp":"2026-01-01T00:00:00Z","type":"user","content":"May we?"},
			{"id":"2","timestamp":"2026-01-01T00:00:01Z","type":"gemini","content":"We may.","tokens":{"input":20,"output":5,"cached":7,"thoughts":3,"tool":0,"total":28}}]}`,
			"- 20/8/7/3",
		},
		{ // a message that is left out takes its usage with it
			"fault.json", `{"sessionId":"s","projectHash":"h","messages":[
			{"id":"1","type":"user","content":"May we?"},
			{"id":"2","type":"gemini","content":["We may.",7],"tokens":{"input":20,"output":5}},
			{"id":"3","type":"gemini","content":"We may.","tokens":{"input":30,"output":6}}]}`,
			"- 30/6/0/0",
		},
		{
			"end.json", `{"sessionId":"s","projectHash":"h","messages":[
			{"id":"1","type":"user","content":"May we?"},
			{"id":"2","type":"gemini","content":["We may.",7],"tokens":{"input":20,"output":5}}]}`,
			"-",
		},
		{
			"qwen.jsonl", `
			{"uuid":"1","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"May we?"}]}}
			{"uuid":"2","parentUuid":"1","sessionId":"s","type":"assistant","message":{"role":"model","parts":[{"text":"We may."}]},"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":5,"cachedContentTokenCount":6,"thoughtsTokenCount":0}}`,
			"- 20/5/6/0",
		},
		{
			"runs.json", `[{"id":"r","trace_id":"r","run_type":"llm","inputs":{"messages":[{"role":"user","content":"May we?"}]},
			"outputs":{"generations":[[{"message":{"kwargs":{"type":"ai","content":"We may.","usage_metadata":{"input_tokens":20,"output_tokens":5,"input_token_details":{"cache_read":2}}}}}]]}}]`,
			"- 20/5/2/0",
		},
		{
			"spans.json", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[
			{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},
			{"key":"gen_ai.usage.input_tokens","value":{"intValue":"20"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":5}},
			{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"May we?\"}]}]"}},
			{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"We may.\"}]}]"}}]}]}]}]}`,
			"- 20/5/0/0",
		},
		{
			"wrong.jsonl", `
			{"uuid":"1","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"May we?"}]}}
			{"uuid":"2","parentUuid":"1","sessionId":"s","type":"assistant","message":{"role":"model","parts":[{"text":"We may."}]},"usageMetadata":{"promptTokenCount":-20,"candidatesTokenCount":1e300}}`,
			"- -",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, all, err := readWith(t, []byte(strings.TrimSpace(c.content)), c.name, Options{})
			if err != nil || len(all) != 1 {
				t.Fatalf("%d conversations, %v", len(all), err)
			}
			if got := usageOf(all[0].Turns); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func usageOf(turns []transcripts.Turn) string {
	var all []string
	for _, turn := range turns {
		u := turn.Usage
		if !u.Known {
			all = append(all, "-")
			continue
		}
		all = append(all, fmt.Sprintf("%d/%d/%d/%d", u.Input, u.Output, u.CachedInput, u.Reasoning))
	}
	return strings.Join(all, " ")
}

// TestUsageOfExport checks that usage survives the neutral format, a room and an export
// as spans.
func TestUsageOfExport(t *testing.T) {
	neutral := `{"id":"talk","participants":[{"id":"a","kind":"agent"}],"turns":[` +
		`{"i":0,"speaker":"a","text":"We may.","usage":{"known":true,"input_tokens":20,"output_tokens":5,"cached_input_tokens":4}}]}`
	var c *transcripts.Conversation
	for x, err := range transcripts.ReadConversations(strings.NewReader(neutral), "talk.jsonl") {
		if c = x; err != nil {
			t.Fatal(err)
		}
	}
	events := c.Events()
	if u := events[len(events)-1].Body.(room.MessagePosted).Usage; u.Input != 20 || u.Output != 5 {
		t.Fatalf("%+v", u)
	}
	var b bytes.Buffer
	if err := transcripts.WriteSpans(&b, transcripts.Entries(events), transcripts.All); err != nil {
		t.Fatal(err)
	}
	if _, all, err := read(t, b.Bytes(), "spans.json", OTel); err != nil || len(all) != 1 || usageOf(all[0].Turns) != "20/5/4/0" {
		t.Errorf("%+v, %v", all, err)
	}
}
