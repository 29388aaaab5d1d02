package foreign

import (
	"cmp"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// A partsReader reads the messages of Gemini's API, which Gemini CLI and Qwen Code
// store: parts with a text, a call of a tool or its result.
type partsReader struct {
	*builder
	calls toolCalls
	agent string // name of the program
}

// speaker returns the participant that a message is of.
func (r partsReader) speaker(user bool) string {
	if user {
		return r.participant("user", "", transcripts.KindHuman, "")
	}
	return r.participant("assistant", r.agent, transcripts.KindAgent, "")
}

// parts adds the parts of a message: a text, one part or a list.
func (r partsReader) parts(p piece, v value) {
	switch v.kind() {
	case '[':
		for part := range v.items() {
			r.part(p, part)
		}
	case '{':
		r.part(p, v)
	default:
		p.text = v.text()
		r.addText(p, "message without a text")
	}
}

func (r partsReader) part(p piece, v value) {
	call, result := v.get("functionCall"), v.get("functionResponse")
	switch {
	case v.kind() == '"':
		p.text = v.text()
		r.addText(p, "message without a text")
	case call.kind() == '{':
		p.id = ""
		r.toolCallTurn(p.speaker, call.require("name").text(), arguments(call.get("args")), call.get("id").maybeText(), r.calls, p)
	case result.kind() == '{':
		r.response(result, piece{at: p.at})
	case v.get("text").kind() == '"':
		if p.text = v.get("text").text(); v.get("thought").flag() {
			p.channel = channelThought
		}
		r.addText(p, "message without a text")
	case v.kind() == '{':
		r.leaveOut("part that is no text")
	default:
		v.fail("expected a string or a part of a message")
	}
}

// response adds the result of a call.
func (r partsReader) response(result value, p piece) {
	made := r.calls[result.get("id").maybeText()]
	made.tool = cmp.Or(made.tool, result.get("name").maybeText())
	text := result.get("response")
	for _, key := range []string{"output", "error", "result"} {
		if inner := text.get(key); inner.kind() == '"' {
			text = inner
			break
		}
	}
	r.toolAnswer(made, text.plain(), p)
}

// readGemini reads a session of Gemini CLI: an object with its messages, or in newer
// releases lines, of which the first one is about the session. A message that was
// written again counts where it is last.
func readGemini(in *input) (*builder, error) {
	g := partsReader{in.newBuilder(Gemini, ""), toolCalls{}, "Gemini"}
	g.report.Order = "as written; of a message that was written again, the last version"
	var messages []value
	for _, doc := range in.docs {
		if id := doc.get("sessionId").maybeText(); id != "" {
			g.c.ID = clean(id)
			g.objective = cmp.Or(doc.get("summary").maybeText(), g.objective)
		}
		switch list := doc.get("messages"); {
		case doc.kind() == '[':
			messages = doc.collect(messages)
		case list.kind() != 0:
			messages = list.collect(messages)
		case doc.has("type"):
			messages = append(messages, doc)
		default:
			g.leaveOut("line about the session")
		}
	}
	last := map[string]int{}
	for i, m := range messages {
		if id := m.get("id").maybeText(); id != "" {
			last[id] = i
		}
	}
	for i, m := range messages {
		if n, ok := last[m.get("id").maybeText()]; ok && n != i {
			g.leaveOut("message that was written again")
			continue
		}
		g.one(m, g.geminiMessage)
	}
	return g.builder, in.firstError()
}

// geminiMessage adds a message of a session, its thoughts before it and the calls of
// tools after it.
func (r partsReader) geminiMessage(m value) {
	at, _ := time.Parse(time.RFC3339Nano, m.get("timestamp").maybeText())
	kind := m.require("type").text()
	if kind != "user" && kind != "gemini" && kind != "model" {
		r.leaveOut("message of the program (" + typeOrNone(kind) + ")")
		return
	}
	p := piece{speaker: r.speaker(kind == "user"), at: at, id: m.get("id").maybeText()}
	first := len(r.c.Turns)
	defer func() { r.state("", first, geminiUsage.of(m.get("tokens"))) }()
	for thought := range m.get("thoughts").itemsOf() {
		text := strings.TrimSpace(thought.get("subject").maybeText() + "\n" + thought.get("description").maybeText())
		r.addText(piece{speaker: p.speaker, at: at, text: text, channel: channelThought}, "thought without a text")
	}
	if content := m.get("content"); content.kind() != 0 && (content.maybeText() != "" || content.kind() != '"') {
		r.parts(p, content)
	} else if !m.has("toolCalls") {
		r.leaveOut("message without a text")
	}
	for call := range m.get("toolCalls").itemsOf() {
		name, id := call.require("name").text(), call.get("id").maybeText()
		r.toolCallTurn(p.speaker, name, arguments(call.get("args")), id, r.calls, piece{at: at})
		results := 0
		for part := range call.get("result").itemsOf() {
			if part.has("functionResponse") {
				r.part(piece{at: at}, part)
				results++
			}
		}
		if text := call.get("resultDisplay").maybeText(); results == 0 && text != "" {
			r.toolAnswer(toolCall{name, p.speaker}, text, piece{at: at})
		}
	}
}

// qwenLine reports whether v is a line of a Qwen Code session.
func qwenLine(v value) bool {
	return v.has("uuid") && v.has("sessionId") && v.get("message").has("parts")
}

// readQwen reads a session of Qwen Code: lines {uuid, parentUuid, sessionId, type,
// message} whose messages are those of Gemini's API. Of two lines with the same parent
// the last one and what follows it counts.
func readQwen(in *input) (*builder, error) {
	q := partsReader{in.newBuilder(Qwen, ""), toolCalls{}, "Qwen"}
	q.report.Order = "as written; of several prompts with the same parent, the last one and its replies"
	abandoned := abandonedLines(in.docs)
	for _, line := range in.docs {
		if id := line.get("sessionId").maybeText(); id != "" {
			q.c.ID = clean(id)
		}
		if abandoned[line.get("uuid").maybeText()] {
			q.leaveOut("on an abandoned branch")
			continue
		}
		q.one(line, q.qwenLine)
	}
	return q.builder, in.firstError()
}

func (r partsReader) qwenLine(v value) {
	at, _ := time.Parse(time.RFC3339Nano, v.get("timestamp").maybeText())
	switch kind := v.require("type").text(); kind {
	case "user", "assistant", "tool_result":
		first := len(r.c.Turns)
		r.parts(piece{speaker: r.speaker(kind == "user"), at: at, id: v.get("uuid").maybeText()}, v.require("message").require("parts"))
		r.state("", first, qwenUsage.of(v.get("usageMetadata")))
	default:
		r.leaveOut("line of type " + typeOrNone(kind))
	}
}

// abandonedLines returns the uuids of lines on branches that were given up: when a user
// edits a prompt, two prompts have the same parent.
func abandonedLines(lines []value) map[string]bool {
	abandoned, last := map[string]bool{}, map[string]string{}
	for _, line := range lines {
		id, parent := line.get("uuid").maybeText(), line.get("parentUuid").maybeText()
		if parent == "" || line.get("type").maybeText() != "user" {
			continue
		}
		if before := last[parent]; before != "" && before != id {
			abandoned[before] = true
		}
		last[parent] = id
	}
	for _, line := range lines { // lines are written after their parents
		if id := line.get("uuid").maybeText(); id != "" && abandoned[line.get("parentUuid").maybeText()] {
			abandoned[id] = true
		}
	}
	return abandoned
}
