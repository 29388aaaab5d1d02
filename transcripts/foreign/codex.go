package foreign

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// A codexReader reads a rollout: lines {timestamp, type, payload}. The messages
// are in lines of type response_item; lines of type event_msg repeat them for
// the screen. A sub-agent has its own file, whose session_meta names the
// session that started it. That session is the user of the sub-agent.
type codexReader struct {
	*builder
	calls toolCalls
	user  string
	agent string
	first int // turn since the last usage was stated
}

func readCodex(in *input) (*builder, error) {
	c := codexReader{builder: in.newBuilder(Codex, ""), calls: toolCalls{}}
	c.c.ID = ""
	for _, line := range in.docs {
		c.one(line, c.line)
		if err := line.failed(); err != nil {
			return nil, err
		}
	}
	c.c.ID = cmp.Or(c.c.ID, stem(in.name))
	return c.builder, nil
}

func (c *codexReader) line(v value) {
	at, _ := time.Parse(time.RFC3339Nano, v.get("timestamp").maybeText())
	switch { // before releases had an envelope
	case v.has("payload"):
	case oldCodexHead(v):
		c.c.ID = cmp.Or(c.c.ID, clean(v.get("id").maybeText()))
		c.leaveOut("line about the session")
		return
	case oldCodexLine(v):
		c.item(v, at)
		return
	}
	payload := v.require("payload")
	switch kind := v.require("type").text(); kind {
	case "session_meta":
		c.session(payload)
	case "response_item":
		c.item(payload, at)
	case "event_msg":
		if u := codexUsage.of(payload.get("info").get("last_token_usage")); u.Known && payload.get("type").maybeText() == "token_count" {
			c.answered(u)
		}
		c.leaveOut("event for the screen")
	default:
		c.leaveOut("line of type " + truncate(clean(kind), 60))
	}
}

// answered notes the usage of the answer of the model that has just ended.
func (c *codexReader) answered(u room.Usage) {
	first := c.first
	for i := first; i < len(c.c.Turns); i++ { // the prompt of the user comes before
		if c.c.Turns[i].Speaker != c.agent && i == first {
			first++
		}
	}
	c.state("", first, u)
	c.first = len(c.c.Turns)
}

// oldCodexHead reports whether v is a line about the session of a rollout without an
// envelope.
func oldCodexHead(v value) bool {
	return !v.has("type") && (v.has("record_type") || v.has("id") && v.has("timestamp") && v.names("instructions"))
}

// oldCodexLine reports whether v is an item of a rollout without an envelope.
func oldCodexLine(v value) bool {
	switch v.get("type").maybeText() {
	case "message", "":
		for part := range v.get("content").itemsOf() {
			kind := part.get("type").maybeText()
			return v.has("role") && (kind == "input_text" || kind == "output_text")
		}
	case "function_call", "function_call_output", "local_shell_call", "reasoning":
		return v.has("call_id") || v.has("summary")
	}
	return false
}

// session reads the session_meta line, which names the session.
func (c *codexReader) session(v value) {
	c.leaveOut("line of type session_meta")
	if c.c.ID != "" {
		return // a resumed session repeats earlier session_meta lines
	}
	c.c.ID = clean(v.get("id").text())
	spawn := v.get("source").get("subagent").get("thread_spawn")
	if parent := spawn.get("parent_thread_id").maybeText(); parent != "" {
		c.user = c.participant(parent, "parent", transcripts.KindAgent, "started this sub-agent")
		c.agent = c.participant(c.c.ID, spawn.get("agent_nickname").maybeText(), transcripts.KindAgent, spawn.get("agent_role").maybeText())
	}
}

// speakers returns the participants of the session, and adds them if needed.
func (c *codexReader) speakers() (user, me string) {
	if c.user == "" {
		c.user = c.participant("user", "", transcripts.KindHuman, "")
	}
	if c.agent == "" {
		c.agent = c.participant("assistant", "Codex", transcripts.KindAgent, "")
	}
	return c.user, c.agent
}

// item adds one item of the conversation with the model.
func (c *codexReader) item(v value, at time.Time) {
	p := piece{at: at}
	id := v.get("call_id").maybeText()
	kind := v.get("type").text()
	if kind == "" && v.has("role") { // in older releases
		kind = "message"
	}
	switch kind {
	case "":
		v.require("type")
	case "message":
		c.message(v, p)
	case "reasoning":
		c.reasoning(v, p)
	case "function_call", "custom_tool_call":
		args := v.get("arguments")
		if args.kind() == 0 {
			args = v.get("input")
		}
		_, me := c.speakers()
		c.toolCallTurn(me, v.require("name").text(), arguments(args), id, c.calls, p)
	case "local_shell_call", "web_search_call":
		_, me := c.speakers()
		c.toolCallTurn(me, strings.TrimSuffix(kind, "_call"), arguments(v.get("action")), id, c.calls, p)
	case "function_call_output", "custom_tool_call_output":
		c.toolAnswer(c.calls[id], c.output(v.get("output")), p)
	default:
		c.leaveOut("item of type " + truncate(clean(kind), 60))
	}
}

// output returns the result of a tool: a string, parts, or an object with either.
func (c *codexReader) output(v value) string {
	if v.kind() == '{' {
		if inner := v.get("content"); inner.kind() != 0 {
			return c.content(inner)
		}
		return v.compact()
	}
	return c.content(v)
}

func (c *codexReader) message(v value, p piece) {
	user, me := c.speakers()
	p.text = c.content(v.get("content"))
	switch role := v.require("role").text(); {
	case role == "assistant":
		p.speaker = me
	case role != "user":
		c.leaveOut("instructions of the role " + truncate(clean(role), 60))
		return
	case addedByProgram(p.text):
		c.leaveOut("text added by the program")
		return
	default:
		p.speaker = user
	}
	c.addText(p, "message without a text")
}

// addedByProgram reports whether Codex itself wrote a text of the role user, as
// it does at the start of a session.
func addedByProgram(text string) bool {
	text = strings.TrimSpace(text)
	starts := []string{"<environment_context>", "<user_instructions>", "<permissions instructions>", "# AGENTS.md instructions", "<turn_aborted>"}
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(text, start) })
}

// reasoning adds the summary of the model's reasoning. The full reasoning is
// encrypted.
func (c *codexReader) reasoning(v value, p piece) {
	var all []string
	for _, key := range []string{"summary", "content"} {
		if list := v.get(key); list.kind() == '[' {
			for part := range list.items() {
				all = append(all, part.get("text").maybeText())
			}
		}
	}
	p.text = strings.Join(all, "\n")
	if strings.TrimSpace(p.text) == "" {
		c.leaveOut("encrypted reasoning")
		return
	}
	_, p.speaker = c.speakers()
	p.channel = channelThought
	c.addTurn(p)
}
