package acp

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// replay gives a turn of an agent the updates that a real one has sent, each with
// its kind in front, and the result.
func replay(t *testing.T, agent, result string, updates ...string) *turn {
	t.Helper()
	preset, ok := PresetOf(agent)
	if !ok {
		t.Fatal("no preset ", agent)
	}
	turn := newTurn(t.Context(), Config{Preset: preset}, endpoint.Prompt{}, &session{})
	for _, u := range updates {
		kind, body, _ := strings.Cut(u, " ")
		if !turn.take(kind, json.RawMessage(body)) {
			t.Errorf("not read: %s", u)
		}
	}
	if err := json.Unmarshal([]byte(result), &turn.result); err != nil {
		t.Fatal(err)
	}
	return turn
}

// TestUsageOfAgents reads the usage that real agents stated of one turn, in which
// their model had reported the same to each.
func TestUsageOfAgents(t *testing.T) {
	for name, c := range map[string]struct {
		agent, result string
		updates       []string
		want          endpoint.Usage
	}{
		"claude": {
			"claude", `{"stopReason":"end_turn","usage":{"inputTokens":7704,"outputTokens":20,"cachedReadTokens":3852,"cachedWriteTokens":0,"totalTokens":11576}}`,
			nil,
			endpoint.Usage{Known: true, Input: 11556, Output: 20, CachedInput: 3852},
		},
		"codex": {
			"codex", `{"stopReason":"end_turn","usage":{"totalTokens":10761,"inputTokens":7169,"cachedReadTokens":3584,"cachedWriteTokens":0,"outputTokens":8,"thoughtTokens":3}}`,
			nil,
			endpoint.Usage{Known: true, Input: 10753, Output: 8, CachedInput: 3584, Reasoning: 3},
		},
		"gemini": {
			"gemini", `{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":11904,"output_tokens":17}}}}`,
			nil,
			endpoint.Usage{Known: true, Input: 11904, Output: 17},
		},
		"opencode": {
			"opencode", `{"stopReason":"end_turn","usage":{"inputTokens":5116,"outputTokens":5,"totalTokens":7682,"thoughtTokens":3,"cachedReadTokens":2558}}`,
			nil,
			endpoint.Usage{Known: true, Input: 7674, Output: 8, CachedInput: 2558, Reasoning: 3},
		},
		"qwen, two model calls": {
			"qwen", `{"stopReason":"end_turn"}`,
			[]string{
				`agent_message_chunk {"content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":20421,"outputTokens":20,"totalTokens":20441,"thoughtTokens":3,"cachedReadTokens":6807}}}`,
				`agent_message_chunk {"content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":100,"outputTokens":10,"totalTokens":110,"thoughtTokens":3,"cachedReadTokens":30}}}`,
			},
			endpoint.Usage{Known: true, Input: 20521, Output: 30, CachedInput: 6837, Reasoning: 6},
		},
		"qwen, with other _meta": {
			"qwen", `{"stopReason":"end_turn"}`,
			[]string{`agent_message_chunk {"content":{"type":"text","text":""},"_meta":{"usage":7}}`, `agent_message_chunk {"content":{"type":"text","text":""},"_meta":[]}`},
			endpoint.Usage{},
		},
	} {
		got, wrong := replay(t, c.agent, c.result, c.updates...).usage()
		if got != c.want || wrong {
			t.Errorf("%s: %+v (wrong: %t), want %+v", name, got, wrong, c.want)
		}
	}
}

// TestCostOfNoPrice: opencode states a cost of 0 for a model whose price it does
// not know, which must not stand in the way of the room's own price.
func TestCostOfNoPrice(t *testing.T) {
	turn := replay(t, "opencode", `{"stopReason":"end_turn"}`)
	c := &client{turn: turn}
	c.noteUsage(turn.session, json.RawMessage(`{"used":7674,"size":200000,"cost":{"amount":0,"currency":"USD"}}`))
	if u, _ := turn.usage(); u.CostKnown {
		t.Errorf("the cost is known: %+v", u)
	}
	c.noteUsage(turn.session, json.RawMessage(`{"used":7674,"size":200000,"cost":{"amount":0.25,"currency":"USD"}}`))
	if u, _ := turn.usage(); !u.CostKnown || u.Cost != 250_000 {
		t.Errorf("the cost is %+v", u)
	}
}

// Updates of codex-acp.
const (
	codexWarning = `agent_message_chunk {"content":{"type":"text","text":"Warning: Model metadata for ` + "`m`" + ` not found.\n\n"}}`
	codexAgain   = `session_info_update {"_meta":{"codex":{"error":{"message":"Reconnecting... 1/5"}}}}`
	codexFailed  = `agent_message_chunk {"content":{"type":"text","text":"stream disconnected before completion\n\n"}}`
	codexUsage   = `{"stopReason":"end_turn","usage":{"totalTokens":3,"inputTokens":2,"outputTokens":1}}`
)

func codexText(id, text string) string {
	return `agent_message_chunk {"messageId":"` + id + `","content":{"type":"text","text":"` + text + `"}}`
}

// TestRepeatedModelCall: Codex repeats a model call whose stream was cut, and with
// it what the call had said so far.
func TestRepeatedModelCall(t *testing.T) {
	turn := replay(t, "codex", codexUsage, codexWarning, codexText("m1", "Whole. "), codexText("m2", "Bro"), codexAgain, codexText("m3", "Broken"), codexText("m3", " no more."))
	if r, err := turn.outcome(); err != nil || r.Text != "Whole. Broken no more." {
		t.Errorf("%q %v", r.Text, err)
	}
	turn = replay(t, "codex", codexUsage, codexText("m1", "Text."), `session_info_update {"title":"A title"}`, `session_info_update {"_meta":{"codex":{"threadStatus":{"type":"idle"}}}}`)
	if r, err := turn.outcome(); err != nil || r.Text != "Text." {
		t.Errorf("%q %v", r.Text, err)
	}
}

// TestBrokenOff: Codex ends a turn whose model calls all failed with the error as
// a notice, end_turn and no usage.
func TestBrokenOff(t *testing.T) {
	turn := replay(t, "codex", `{"stopReason":"end_turn","usage":null}`, codexWarning, codexText("m1", "Bro"), codexFailed)
	if r, err := turn.outcome(); !errors.Is(err, endpoint.ErrAgent) || !strings.Contains(err.Error(), "stream disconnected") {
		t.Errorf("%+v %v", r, err)
	}
	turn = replay(t, "codex", codexUsage, codexText("m1", "Text."), codexWarning)
	if r, err := turn.outcome(); err != nil || r.Text != "Text." {
		t.Errorf("a warning behind a text that is complete: %+v %v", r, err)
	}
}

// TestSideCalls: Claude Code asks its model for the next prompt of its user,
// which a room has no use for.
func TestSideCalls(t *testing.T) {
	p, _ := PresetOf("claude")
	if env := p.environ(func(string) (string, bool) { return "", false }, false); !slices.Contains(env, "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=false") {
		t.Errorf("%q", env)
	}
}

// TestCommandInTitle: Gemini CLI states the command of a permission request as its
// title. Rules have to match it, and a person has to see all of it.
func TestCommandInTitle(t *testing.T) {
	frame := func(title, rest string) (call toolCall) {
		b := `{"toolCallId":"1","status":"pending","title":` + title + `,"locations":[],"kind":"execute"` + rest + `}`
		if err := json.Unmarshal([]byte(b), &call); err != nil {
			t.Fatal(err)
		}
		return toolCall{}.merged(call)
	}
	long := strings.Repeat("x", maxTitle) + "; rm -r ~"
	if q, ok := frame(`"`+long+`"`, "").titled().permission("/", nil); !ok || q.Command != long {
		t.Errorf("%+v %t", q, ok)
	}
	if q, ok := frame(`"`+strings.Repeat("x", maxCommand+1)+`"`, "").titled().permission("/", nil); ok {
		t.Errorf("a part of a command can be allowed: %d bytes", len(q.Command))
	}
	if q, _ := frame(`"A title"`, `,"rawInput":{"command":"go test"}`).titled().permission("/", nil); q.Command != "go test" {
		t.Errorf("%+v", q)
	}
	call := frame(`"Writing to a.txt"`, "")
	call.Kind = endpoint.ActionEdit
	if q, _ := call.titled().permission("/", nil); q.Command != "" {
		t.Errorf("the title of an edit is a command: %+v", q)
	}
	if p, _ := PresetOf("gemini"); !p.Titled {
		t.Error("the preset does not say so")
	}
}
