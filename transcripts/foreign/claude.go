package foreign

import (
	"cmp"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// claudeOrder says how the tree of a session becomes a sequence.
const claudeOrder = "as written, sub-agents included; of several prompts with the same parent, the last one and its replies"

// claudeLine reports whether v is a line of a Claude Code session.
func claudeLine(v value) bool {
	message := v.get("message")
	switch kind := v.get("type").maybeText(); {
	case message.has("parts"): // of Qwen Code, whose lines are similar
		return false
	case (kind == "user" || kind == "assistant") && message.has("role") && message.has("content"):
		return true // of a program that leaves the session out
	case v.has("uuid") && v.has("sessionId"):
		return true
	case kind == "summary":
		return v.has("leafUuid")
	case kind == "":
		return false
	}
	return v.has("sessionId") || v.has("messageId") && v.has("snapshot")
}

// A claudeReader reads a session: lines {type, uuid, parentUuid, isSidechain,
// timestamp, message}. Lines of type user and assistant hold a message in the
// shape of Anthropic's API. A message may span several lines, one block each,
// which share its id.
type claudeReader struct {
	*builder
	calls     toolCalls
	parents   map[string]string // uuid to parentUuid
	roots     map[string]string // uuid to that of the line that starts its chain
	abandoned map[string]bool   // uuids on branches that were given up
	seen      map[string]bool   // uuids
	agents    map[string]string // root of a side chain to the sub-agent's seat
	prompts   map[string]string // a sub-agent's prompt to its seat
	onlyAgent string            // the sub-agent whose file this is
}

func readClaude(in *input) (*builder, error) {
	c := claudeReader{
		builder: in.newBuilder(ClaudeCode, ""), calls: toolCalls{}, parents: map[string]string{}, roots: map[string]string{}, abandoned: map[string]bool{},
		seen: map[string]bool{}, agents: map[string]string{}, prompts: map[string]string{},
	}
	c.report.Order = claudeOrder
	c.c.ID = ""
	lines := in.docs
	if len(lines) == 1 && lines[0].has("loglines") { // as the web application stores a session
		if lines = lines[0].get("loglines").collect(nil); in.firstError() != nil {
			return nil, in.firstError()
		}
	}
	c.branches(lines)
	c.onlyAgent = onlyAgent(lines)
	for _, line := range lines {
		c.one(line, c.line)
		if err := line.failed(); err != nil {
			return nil, err
		}
	}
	c.c.ID = cmp.Or(c.c.ID, stem(in.name))
	if c.onlyAgent != "" { // the file of the main session has the same id
		c.c.ID += "/" + c.onlyAgent
	}
	return c.builder, nil
}

// onlyAgent returns the sub-agent that wrote all lines, or "". Newer releases
// write one file for each sub-agent.
func onlyAgent(lines []value) string {
	agent := ""
	for _, line := range lines {
		id := clean(line.get("agentId").maybeText())
		if !line.get("isSidechain").flag() || id == "" || agent != "" && id != agent {
			return ""
		}
		agent = id
	}
	return agent
}

// branches marks the abandoned lines. When the user edits a prompt, two prompts
// have the same parent; the earlier one and all its descendants are abandoned.
func (c *claudeReader) branches(lines []value) {
	last := map[string]string{} // parent to the latest prompt under it
	for _, line := range lines {
		id, parent := line.get("uuid").maybeText(), line.get("parentUuid").maybeText()
		if id == "" || c.parents[id] != "" {
			continue
		}
		c.parents[id] = parent
		if parent == "" || !prompt(line) {
			continue
		}
		if before := last[parent]; before != "" && before != id {
			c.abandoned[before] = true
		}
		last[parent] = id
	}
	for _, line := range lines { // lines are written after their parents
		id := line.get("uuid").maybeText()
		c.roots[id] = id
		if root := c.roots[c.parents[id]]; root != "" {
			c.roots[id] = root
		}
		if c.abandoned[c.parents[id]] {
			c.abandoned[id] = true
		}
	}
}

// prompt reports whether the user typed the text of a line.
func prompt(line value) bool {
	if line.get("type").maybeText() != "user" || line.get("isMeta").flag() || line.get("isSidechain").flag() {
		return false
	}
	content := line.get("message").get("content")
	if content.kind() != '[' {
		return content.kind() == '"'
	}
	for block := range content.items() {
		if block.get("type").maybeText() == "tool_result" {
			return false
		}
	}
	return true
}

// line adds one line.
func (c *claudeReader) line(v value) {
	if v.kind() != '{' {
		v.fail("expected a line of a session, an object")
		return
	}
	if id := v.get("sessionId").text(); c.c.ID == "" {
		c.c.ID = clean(id)
	}
	kind, id := v.require("type").text(), v.get("uuid").text()
	switch {
	case v.failed() != nil:
	case kind != "user" && kind != "assistant":
		if kind == "summary" && c.objective == "" {
			c.objective = v.get("summary").maybeText()
		}
		c.leaveOut("line of type " + truncate(clean(kind), 60))
	case id != "" && c.seen[id]:
		c.leaveOut("repeated line")
	case c.abandoned[id]:
		c.leaveOut("on an abandoned branch")
	case v.get("isMeta").flag():
		c.leaveOut("text added by the program")
	case v.get("isCompactSummary").flag():
		c.leaveOut("summary of earlier messages")
	case v.get("isApiErrorMessage").flag():
		c.leaveOut("error of the program")
	default:
		c.message(v, kind)
	}
	c.seen[id] = id != ""
}

// message adds the blocks of a message.
func (c *claudeReader) message(v value, kind string) {
	m := v.require("message")
	at, _ := time.Parse(time.RFC3339Nano, v.get("timestamp").maybeText())
	p := piece{at: at, id: m.get("id").maybeText()}
	side := v.get("isSidechain").flag()
	switch {
	case kind == "assistant" && !side:
		p.speaker = c.participant("assistant", "Claude", transcripts.KindAgent, "")
	case kind == "assistant":
		p.speaker = c.subAgent(v, m)
	case side:
		p.speaker, p.to = c.participant("assistant", "Claude", transcripts.KindAgent, ""), []string{c.subAgent(v, m)}
	default:
		p.speaker = c.participant("user", "", transcripts.KindHuman, "")
	}
	first := len(c.c.Turns)
	if content := m.require("content"); content.kind() != '[' {
		c.text(p, content.text(), side)
	} else {
		for block := range content.items() {
			c.block(p, block, side)
		}
	}
	if kind == "assistant" {
		c.state(p.id, first, anthropicUsage.of(m.get("usage")))
	}
}

func (c *claudeReader) text(p piece, text string, side bool) {
	if p.text = text; side && len(p.to) > 0 && strings.TrimSpace(text) != "" && c.prompts[text] != "" {
		c.leaveOut("prompt of a sub-agent that is in the call too")
		return
	}
	c.addText(p, "message without a text")
}

// block adds one block of a message.
func (c *claudeReader) block(p piece, b value, side bool) {
	switch kind := b.require("type").text(); kind {
	case "text":
		c.text(p, b.require("text").text(), side)
	case "thinking":
		p.channel = channelThought
		c.text(p, b.require("thinking").text(), side)
	case "tool_use", "server_tool_use":
		c.toolUse(p, b)
	case "tool_result":
		call := c.calls[b.require("tool_use_id").text()]
		c.toolAnswer(call, c.content(b.get("content")), piece{at: p.at})
	default:
		c.leaveOut("block that is no text (" + truncate(clean(kind), 60) + ")")
	}
}

// toolUse adds the call of a tool. A call that starts a sub-agent becomes a
// message to it.
func (c *claudeReader) toolUse(p piece, b value) {
	name, input := b.require("name").text(), b.get("input")
	p.id = ""
	if kind := input.get("subagent_type").maybeText(); kind != "" && input.has("prompt") {
		kind = c.participant(kind, "", transcripts.KindAgent, "sub-agent")
		c.calls[b.get("id").text()] = toolCall{kind, p.speaker}
		c.prompts[input.get("prompt").text()] = kind
		p.to, p.text = []string{kind}, input.get("prompt").text()
		c.addTurn(p)
		return
	}
	c.toolCallTurn(p.speaker, name, arguments(input), b.get("id").text(), c.calls, p)
}

// subAgent returns the participant that wrote a line of a side chain: the
// sub-agent whose prompt started the chain.
func (c *claudeReader) subAgent(v, m value) string {
	root := cmp.Or(v.get("agentId").maybeText(), c.roots[v.get("uuid").maybeText()])
	seat := c.agents[root]
	if seat == "" {
		if content := m.get("content"); content.kind() == '"' {
			seat = c.prompts[content.text()]
		} else if content.kind() == '[' {
			for b := range content.items() {
				if seat == "" {
					seat = c.prompts[b.get("text").maybeText()]
				}
			}
		}
		seat = cmp.Or(seat, "subagent")
		c.agents[root] = seat
	}
	return c.participant(seat, "", transcripts.KindAgent, "sub-agent")
}
