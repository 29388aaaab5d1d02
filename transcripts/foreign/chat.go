package foreign

import (
	"cmp"
	"iter"
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

// readChats reads OpenAI chat messages: an array, an object with "messages", or
// lines, each a message or an object with messages. Each object with messages
// is a conversation.
func readChats(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		if len(in.docs) > 1 && in.docs[0].has("role") {
			t := in.newBuilder(OpenAI, "")
			made := toolCalls{}
			for _, m := range in.docs {
				t.one(m, func(m value) { t.chatMessage(m, made, chatSpeaker) })
			}
			yield(t.done(in.firstError()))
			return
		}
		for _, doc := range in.docs {
			t := in.newBuilder(OpenAI, "")
			if n := doc.at.document().line; n > 0 {
				t.c.ID += "/" + doc.at.document().where()[strings.LastIndexByte(doc.at.document().where(), ':')+1:]
			}
			t.one(doc, t.messages)
			if !yield(t.done(doc.failed())) || doc.failed() != nil {
				return
			}
		}
	}
}

// messages adds all messages of a document.
func (t *builder) messages(doc value) {
	list, made := doc, toolCalls{}
	if doc.kind() == '{' {
		list = messageList(doc)
		if doc.has("role") {
			t.chatMessage(doc, made, chatSpeaker)
			return
		}
		if list.kind() == 0 {
			doc.require("messages").fail("expected an array of messages")
		}
	}
	t.each(list, func(m value) { t.chatMessage(m, made, chatSpeaker) })
}

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
