package foreign

import (
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// claudeOrder states how the tree of a session becomes a line.
const claudeOrder = "as written; sub-agents where they were written; of prompts with the same parent the last one, with what follows from it"

// claudeLine reports whether v is a line of a session of Claude Code.
func claudeLine(v value) bool {
	switch kind := v.get("type").word(); {
	case v.has("uuid") && v.has("sessionId"):
		return true
	case kind == "summary":
		return v.has("leafUuid")
	case kind == "":
		return false
	}
	return v.has("sessionId") || v.has("messageId") && v.has("snapshot")
}

// A claude reads a session: lines {type, uuid, parentUuid, isSidechain,
// timestamp, message}, of which those of type user and assistant hold a
// message in the shape of Anthropic's interface. One message may be written
// as several lines, a block each, which share its id.
type claude struct {
	*talk
	made    calls
	up      map[string]string // uuid to parentUuid
	roots   map[string]string // uuid to that of the line that starts its chain
	given   map[string]bool   // uuids on branches that were given up
	seen    map[string]bool   // uuids
	agents  map[string]string // root of a side chain to the sub-agent's seat
	prompts map[string]string // a sub-agent's prompt to its seat
	alone   string            // the sub-agent whose file this is
}

func readClaude(in *input) (*talk, error) {
	c := claude{
		talk: newTalk(in.name, ClaudeCode, ""), made: calls{}, up: map[string]string{}, roots: map[string]string{}, given: map[string]bool{},
		seen: map[string]bool{}, agents: map[string]string{}, prompts: map[string]string{},
	}
	c.report.Order = claudeOrder
	c.c.ID = ""
	c.branches(in.docs)
	c.alone = onlyAgent(in.docs)
	for _, line := range in.docs {
		c.line(line)
		if err := line.failed(); err != nil {
			return nil, err
		}
	}
	if c.c.ID == "" {
		c.c.ID = stem(in.name)
	}
	if c.alone != "" { // its session is a file of its own, with the same id
		c.c.ID += "/" + c.alone
	}
	return c.talk, nil
}

// onlyAgent returns the sub-agent of which all lines are, if there is one:
// newer releases give each sub-agent a file.
func onlyAgent(lines []value) string {
	agent := ""
	for _, line := range lines {
		id := clean(line.get("agentId").word())
		if !line.get("isSidechain").flag() || id == "" || agent != "" && id != agent {
			return ""
		}
		agent = id
	}
	return agent
}

// branches finds what the user went back over: of two prompts with the same
// parent the earlier one was given up, and all that hangs on it.
func (c *claude) branches(lines []value) {
	last := map[string]string{} // parent to the latest prompt under it
	for _, line := range lines {
		id, parent := line.get("uuid").word(), line.get("parentUuid").word()
		if id == "" || c.up[id] != "" {
			continue
		}
		c.up[id] = parent
		if parent == "" || !prompt(line) {
			continue
		}
		if before := last[parent]; before != "" && before != id {
			c.given[before] = true
		}
		last[parent] = id
	}
	for _, line := range lines { // lines are written after their parents
		id := line.get("uuid").word()
		c.roots[id] = id
		if root := c.roots[c.up[id]]; root != "" {
			c.roots[id] = root
		}
		if c.given[c.up[id]] {
			c.given[id] = true
		}
	}
}

// prompt reports whether a line is something that the user typed.
func prompt(line value) bool {
	if line.get("type").word() != "user" || line.get("isMeta").flag() || line.get("isSidechain").flag() {
		return false
	}
	content := line.get("message").get("content")
	if content.kind() != '[' {
		return content.kind() == '"'
	}
	for block := range content.items() {
		if block.get("type").word() == "tool_result" {
			return false
		}
	}
	return true
}

// line takes one line.
func (c *claude) line(v value) {
	if v.kind() != '{' {
		v.fail("this is to be a line of a session, an object")
		return
	}
	if id := v.get("sessionId").text(); c.c.ID == "" {
		c.c.ID = clean(id)
	}
	kind, id := v.need("type").text(), v.get("uuid").text()
	switch {
	case v.failed() != nil:
	case kind != "user" && kind != "assistant":
		if kind == "summary" && c.objective == "" {
			c.objective = v.get("summary").word()
		}
		c.leave("line of type " + cut(clean(kind), 60))
	case id != "" && c.seen[id]:
		c.leave("line that is there twice")
	case c.given[id]:
		c.leave("on a branch that was given up")
	case v.get("isMeta").flag():
		c.leave("text that the program added")
	case v.get("isCompactSummary").flag():
		c.leave("summary of what was said before")
	case v.get("isApiErrorMessage").flag():
		c.leave("error of the program")
	default:
		c.message(v, kind)
	}
	c.seen[id] = id != ""
}

// message takes the blocks of a message.
func (c *claude) message(v value, kind string) {
	m := v.need("message")
	at, _ := time.Parse(time.RFC3339Nano, v.get("timestamp").word())
	p := piece{at: at, id: m.get("id").word()}
	side := v.get("isSidechain").flag()
	switch {
	case kind == "assistant" && !side:
		p.speaker = c.seat("assistant", "Claude", transcripts.KindAgent, "")
	case kind == "assistant":
		p.speaker = c.subAgent(v, m)
	case side:
		p.speaker, p.to = c.seat("assistant", "Claude", transcripts.KindAgent, ""), []string{c.subAgent(v, m)}
	default:
		p.speaker = c.seat("user", "", transcripts.KindHuman, "")
	}
	content := m.need("content")
	if content.kind() != '[' {
		c.text(p, content.text(), side)
		return
	}
	for block := range content.items() {
		c.block(p, block, side)
	}
}

func (c *claude) text(p piece, text string, side bool) {
	switch {
	case strings.TrimSpace(text) == "":
		c.leave("message without a text")
	case side && len(p.to) > 0 && c.prompts[text] != "":
		c.leave("prompt of a sub-agent, which is in the call")
	default:
		p.text = text
		c.say(p)
	}
}

// block takes one block.
func (c *claude) block(p piece, b value, side bool) {
	switch kind := b.need("type").text(); kind {
	case "text":
		c.text(p, b.need("text").text(), side)
	case "thinking":
		p.channel = thought
		c.text(p, b.need("thinking").text(), side)
	case "tool_use", "server_tool_use":
		c.use(p, b)
	case "tool_result":
		call := c.made[b.need("tool_use_id").text()]
		c.answer(call, c.content(b.get("content")), piece{at: p.at})
	default:
		c.leave("block that is no text (" + cut(clean(kind), 60) + ")")
	}
}

// use takes the call of a tool. The one that starts a sub-agent is a hand-off
// to it.
func (c *claude) use(p piece, b value) {
	name, input := b.need("name").text(), b.get("input")
	p.id = ""
	if kind := input.get("subagent_type").word(); kind != "" && input.has("prompt") {
		kind = c.seat(kind, "", transcripts.KindAgent, "sub-agent")
		c.made[b.get("id").text()] = madeCall{kind, p.speaker}
		c.prompts[input.get("prompt").text()] = kind
		p.to, p.text = []string{kind}, input.get("prompt").text()
		c.say(p)
		return
	}
	c.call(p.speaker, name, arguments(input), b.get("id").text(), c.made, p)
}

// subAgent returns the seat of whom a line of a side chain is of: the one
// whose prompt started the chain.
func (c *claude) subAgent(v, m value) string {
	root := v.get("agentId").word()
	if root == "" {
		root = c.roots[v.get("uuid").word()]
	}
	seat := c.agents[root]
	if seat == "" {
		if content := m.get("content"); content.kind() == '"' {
			seat = c.prompts[content.text()]
		} else if content.kind() == '[' {
			for b := range content.items() {
				if seat == "" {
					seat = c.prompts[b.get("text").word()]
				}
			}
		}
		if seat == "" {
			seat = "subagent"
		}
		c.agents[root] = seat
	}
	return c.seat(seat, "", transcripts.KindAgent, "sub-agent")
}
