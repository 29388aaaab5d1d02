package foreign

import (
	"cmp"
	"iter"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// toolCalls maps the id of a call to the call.
type toolCalls map[string]toolCall

// A toolCall is the call of a tool by a participant.
type toolCall struct{ tool, by string }

// chatMessage adds one message of the shape {role, content, name, tool_calls,
// tool_call_id}. It is the shape of OpenAI's API, which many others use too.
func (t *builder) chatMessage(m value, made toolCalls, speaker func(*builder, value) string) {
	if m.kind() != '{' {
		m.fail("expected a message, an object")
		return
	}
	role := m.get("role").text()
	switch role {
	case "system", "developer":
		t.leaveOut("instructions of the role " + role)
		return
	case "tool", "function":
		t.toolMessage(m, made)
		return
	}
	who := speaker(t, m)
	if who == "" {
		t.leaveOut("message without a speaker")
		return
	}
	said := false
	for _, text := range []string{t.content(m.get("content")), m.get("refusal").text()} {
		if strings.TrimSpace(text) != "" {
			t.addTurn(piece{speaker: who, text: text})
			said = true
		}
	}
	for call := range m.get("tool_calls").items() {
		f := call.require("function")
		t.toolCallTurn(who, f.require("name").text(), arguments(f.get("arguments")), call.get("id").text(), made, piece{})
		said = true
	}
	if f := m.get("function_call"); f.kind() == '{' {
		t.toolCallTurn(who, f.require("name").text(), arguments(f.get("arguments")), "", made, piece{})
		said = true
	}
	if !said {
		t.leaveOut("message without a text")
	}
}

// toolCallTurn adds a turn in which who calls a tool. The tool is a participant,
// unless toolsHaveNoSeat is set. of holds the other fields of the turn.
func (t *builder) toolCallTurn(who, name, args, id string, made toolCalls, of piece) {
	of.speaker, of.channel = who, channelTool
	if of.text = name + " " + args; !t.toolsHaveNoSeat {
		name = t.toolParticipant(name)
		of.to = []string{name}
	}
	if id != "" {
		made[id] = toolCall{name, who}
	}
	t.addTurn(of)
}

// toolParticipant makes a tool a participant.
func (t *builder) toolParticipant(name string) string {
	return t.participant(cmp.Or(clean(name), "tool"), "", transcripts.KindTool, "")
}

// toolAnswer adds the turn in which a tool answers a call.
func (t *builder) toolAnswer(call toolCall, text string, of piece) {
	of.speaker, of.text = t.toolParticipant(call.tool), text
	if i, ok := t.index[of.speaker]; ok && t.c.Participants[i].Kind == transcripts.KindTool {
		of.channel = channelTool // a sub-agent answers in the normal channel
	}
	if call.by != "" {
		of.to = []string{call.by}
	}
	t.addTurn(of)
}

// toolMessage adds a message of the role tool or function.
func (t *builder) toolMessage(m value, made toolCalls) {
	id := m.get("tool_call_id").text()
	if list := m.get("tool_responses"); id == "" && list.kind() == '[' { // AutoGen
		for r := range list.items() {
			id = r.get("tool_call_id").text()
		}
	}
	call := made[id]
	if name := m.get("name").text(); call.tool == "" || t.toolsHaveNoSeat && name != "" {
		call.tool = name
	}
	t.toolAnswer(call, t.content(m.get("content")), piece{})
}

// arguments returns the arguments of a call: JSON, or a string that holds JSON.
func arguments(v value) string {
	if v.kind() == '"' {
		return v.text()
	}
	return v.compact()
}

// content returns the text of a message: a string, or a list of strings and
// parts. Parts of other kinds are counted as left out.
func (t *builder) content(v value) string {
	if v.kind() != '[' {
		return v.text()
	}
	var all []string
	for part := range v.items() {
		switch kind := part.get("type").maybeText(); {
		case part.kind() == '"':
			all = append(all, part.text())
		case part.get("text").kind() == '"':
			all = append(all, part.get("text").text())
		case part.get("refusal").kind() == '"':
			all = append(all, part.get("refusal").text())
		case part.kind() == '{':
			t.leaveOut("part that is no text (" + typeOrNone(kind) + ")")
		default:
			part.fail("expected a string or a part of a message")
		}
	}
	return strings.Join(all, "\n")
}

// typeOrNone returns a type for a reason in a report.
func typeOrNone(kind string) string {
	return cmp.Or(truncate(clean(kind), 40), "of no type")
}

// readChats returns the reader of chat messages of a format: an array, an object that
// wraps one, or lines, each a message or such an object. Each object with messages is a
// conversation, also in an array of them.
func readChats(f Format, speaker func(*builder, value) string) func(*input) iter.Seq2[*Conversation, error] {
	return func(in *input) iter.Seq2[*Conversation, error] {
		return func(yield func(*Conversation, error) bool) {
			for _, talk := range in.talks() {
				c := chatReader{in.newBuilder(f, ""), toolCalls{}, speaker}
				c.toolsHaveNoSeat = f == AutoGen
				if talk.part != "" {
					c.c.ID += "/" + talk.part
				}
				for _, v := range talk.docs {
					c.one(v, c.document)
				}
				if !yield(c.done(in.firstError())) || in.firstError() != nil {
					return
				}
			}
		}
	}
}

// A talk are the documents of one conversation. part is its name in the file, "" if it
// is the only one.
type talk struct {
	docs []value
	part string
}

// talks divides a file of chat messages into conversations.
func (in *input) talks() (all []talk) {
	if len(in.docs) > 1 && in.docs[0].has("role") {
		return []talk{{docs: in.docs}}
	}
	for _, doc := range in.docs {
		part := ""
		if n := doc.at.document().line; n > 0 {
			part = strconv.Itoa(n)
		}
		n := 0
		for item := range wrapped(doc) {
			n++
			all = append(all, talk{[]value{item}, strings.TrimPrefix(part+"/"+strconv.Itoa(n), "/")})
		}
		if n == 0 {
			all = append(all, talk{[]value{doc}, part})
		}
	}
	return all
}

// wrapped yields the items of an array of objects with messages.
func wrapped(doc value) iter.Seq[value] {
	return func(yield func(value) bool) {
		if doc.kind() != '[' {
			return
		}
		wraps := false
		for item := range doc.items() {
			if wraps = wraps || messageList(item).kind() == '['; !wraps || !yield(item) {
				return
			}
		}
	}
}

// A chatReader reads the messages of one conversation.
type chatReader struct {
	*builder
	made    toolCalls
	speaker func(*builder, value) string
}

// document adds all messages of a document.
func (c chatReader) document(doc value) {
	list := doc
	if doc.kind() == '{' {
		if doc.has("role") {
			c.message(doc)
			return
		}
		c.objective = doc.get("question").maybeText()
		if list = messageList(doc); list.kind() == 0 {
			doc.require("messages").fail("expected an array of messages")
		}
	}
	c.each(list, c.message)
}

func (c chatReader) message(m value) { c.chatMessage(m, c.made, c.speaker) }

// chatSpeaker returns the participant that says m: its name, which tells
// speakers of one role apart, or else its role.
func chatSpeaker(t *builder, m value) string {
	role := m.require("role").text()
	kind := transcripts.KindAgent
	if role == "user" {
		kind = transcripts.KindHuman
	}
	return t.participant(cmp.Or(m.get("name").text(), role), "", kind, "")
}
