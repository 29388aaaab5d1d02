package foreign

import (
	"errors"
	"strings"
	"testing"

	"github.com/folkmoot/moot/problem"
)

// TestErrors checks the code, the place and the message of errors.
func TestErrors(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	for name, c := range map[string]struct {
		in     string
		format Format
		code   string
		where  string
		what   string
	}{
		"nothing known":      {in: "hello\n", code: "TRANSCRIPT-FORMAT", where: "f", what: "neither JSON"},
		"binary":             {in: "\x7fELF\x00\x01", code: "TRANSCRIPT-FORMAT", where: "f", what: "binary data"},
		"keys":               {in: `{"a":1,"b":2}`, code: "TRANSCRIPT-FORMAT", where: "f", what: "with the keys a, b"},
		"numbers":            {in: `[1,2]`, code: "TRANSCRIPT-FORMAT", where: "f", what: "neither JSON, captions"},
		"strings":            {in: `["x"]`, code: "TRANSCRIPT-FORMAT", where: "f", what: "not of objects"},
		"empty array":        {in: `[]`, code: "TRANSCRIPT-FORMAT", where: "f", what: "an empty JSON array"},
		"no roles":           {in: `[{"x":1}]`, code: "TRANSCRIPT-FORMAT", where: "f", what: "not messages"},
		"cut off":            {in: "[{\"role\":\"user\",\n\"content\":\"x\"", code: "TRANSCRIPT-SHAPE", where: "f:2:13", what: "invalid JSON"},
		"cut line":           {in: "{\"type\":\"user\",\"uuid\":\"1\",\"sessionId\":\"s\"}\n{\"type\":\"user\",", code: "TRANSCRIPT-SHAPE", where: "f:2:15", what: "invalid JSON"},
		"no UTF-8":           {in: "[{\"role\":\"user\",\n \"content\":\"\xff\"}]", code: "TRANSCRIPT-SHAPE", where: "f:2:13", what: "not valid UTF-8"},
		"repeated key":       {in: `[{"role":"user","content":"a","content":"b"}]`, code: "TRANSCRIPT-SHAPE", where: "f: $[0]", what: `repeats the key "content"`},
		"escaped repeat":     {in: `[{"role":"user","content":"a","\u0063ontent":"b"}]`, code: "TRANSCRIPT-SHAPE", where: "f: $[0]", what: `repeats the key "content"`},
		"deep":               {in: `[{"role":"user","content":` + deep + `}]`, code: "TRANSCRIPT-SHAPE", where: "f: $", what: "nests deeper than 128"},
		"role":               {in: `[{"role":"user","content":"a"},{"role":7,"content":"a"}]`, code: "TRANSCRIPT-FORMAT", where: "f", what: "not messages"},
		"content":            {in: `[{"role":"user","content":7}]`, code: "TRANSCRIPT-SHAPE", where: "f: $[0].content", what: "expected a string"},
		"part":               {in: `{"messages":[{"role":"user","content":["a",7]}]}`, code: "TRANSCRIPT-SHAPE", where: "f: $.messages[0].content[1]", what: "string or a part"},
		"call":               {in: `[{"role":"assistant","content":"","tool_calls":[{"id":"x"}]}]`, code: "TRANSCRIPT-SHAPE", where: "f: $[0].tool_calls[0]", what: `"function" is missing`},
		"finetune line":      {in: "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[3]}\n", code: "TRANSCRIPT-SHAPE", where: "f:2: $.messages[0]", what: "an object"},
		"autogen name":       {in: `[{"role":"user","name":"a","content":{"x":1}}]`, code: "TRANSCRIPT-SHAPE", where: "f: $[0].content", what: "expected a string"},
		"two documents":      {in: "{\"history\":[{\"role\":\"a (thought)\",\"content\":\"\"}]}\n{\"history\":[]}", code: "TRANSCRIPT-SHAPE", where: "f:2", what: "one JSON document"},
		"team without":       {in: `{"agent_states":{"a":{}}}`, code: "TRANSCRIPT-SHAPE", where: "f: $.agent_states", what: "message_thread"},
		"team source":        {in: `{"message_thread":[{"type":"TextMessage","content":"x"}]}`, code: "TRANSCRIPT-SHAPE", where: "f: $.message_thread[0]", what: "missing"},
		"claude line":        {in: `{"type":"user","uuid":"1","sessionId":"s"}`, code: "TRANSCRIPT-SHAPE", where: "f: $", what: "missing"},
		"claude second line": {in: "{\"type\":\"summary\",\"leafUuid\":\"x\"}\n{\"type\":\"user\",\"uuid\":\"1\",\"sessionId\":\"s\",\"message\":{\"content\":[{\"type\":\"text\"}]}}\n", code: "TRANSCRIPT-SHAPE", where: "f:2: $.message.content[0]", what: "missing"},
		"codex":              {in: `{"type":"response_item","payload":{"type":"message","content":[]}}`, code: "TRANSCRIPT-SHAPE", where: "f: $.payload", what: "missing"},
		"span":               {in: `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"gen_ai.input.messages","value":{"stringValue":"[{"}}]}]}]}]}`, code: "TRANSCRIPT-SHAPE", what: "invalid JSON", where: "f: $.resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.stringValue:1:2"},
		"no spans":           {in: `{"resourceSpans":[]}`, code: "TRANSCRIPT-EMPTY", where: "f", what: "no messages"},
		"a2a role":           {in: `{"kind":"task","id":"1","history":[{"messageId":"m","role":"boss","parts":[]}]}`, code: "TRANSCRIPT-SHAPE", where: "f: $.history[0].role", what: "user or agent"},
		"opencode":           {in: `{"info":{"id":"s"},"messages":[{"info":{"role":"user"}}]}`, code: "TRANSCRIPT-SHAPE", where: "f: $.messages[0]", what: "missing"},
		"irc":                {in: "[10:00] <a> x\nwhat?\n", format: IRC, code: "TRANSCRIPT-SHAPE", where: "f:2", what: "neither a message nor a notice"},
		"vtt":                {in: "WEBVTT\n\n00:01 -> 00:02\nx\n", code: "TRANSCRIPT-SHAPE", where: "f:3", what: "expected a cue"},
		"srt":                {in: "1\n00:00:01,000 --> 00:00:02,000\nx\n\nlost\n", code: "TRANSCRIPT-SHAPE", where: "f:5", what: "expected a cue"},
		"all left out":       {in: `[{"role":"system","content":"x"}]`, code: "TRANSCRIPT-EMPTY", where: "f", what: "1 pieces, left out 1 instructions of the role system"},
		"no zip":             {in: "PK\x03\x04rubbish", code: "TRANSCRIPT-ARCHIVE", where: "f", what: "zip cannot be read"},
		"no gzip":            {in: "\x1f\x8brubbish", code: "TRANSCRIPT-ARCHIVE", where: "f", what: "starts like gzip"},
		"forced":             {in: `{"a":1}`, format: Codex, code: "TRANSCRIPT-SHAPE", where: "f: $", what: "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := read(t, []byte(c.in), "f", c.format)
			p, ok := errors.AsType[*problem.Error](err)
			if !ok {
				t.Fatalf("no problem: %v", err)
			}
			if p.Code != c.code || p.Where != c.where || !strings.Contains(p.Error(), c.what) || p.Fix == "" {
				t.Errorf("%s at %q: %v (fix %q); want %s at %q with %q", p.Code, p.Where, err, p.Fix, c.code, c.where, c.what)
			}
		})
	}
}
