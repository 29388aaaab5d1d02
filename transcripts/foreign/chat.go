package foreign

import (
	"iter"
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// calls knows by its id which tool a call was of, and whose it was.
type calls map[string]madeCall

type madeCall struct{ tool, by string }

// chat takes one message of the shape {role, content, name, tool_calls,
// tool_call_id}, which OpenAI's interface has and many others follow.
func (t *talk) chat(m value, made calls, speaker func(*talk, value) string) {
	role := m.get("role").text()
	switch role {
	case "system", "developer":
		t.leave("instructions of the role " + role)
		return
	case "tool", "function":
		t.toolMessage(m, made)
		return
	}
	who := speaker(t, m)
	if who == "" {
		t.leave("message without a speaker")
		return
	}
	said := false
	if text := t.content(m.get("content")); strings.TrimSpace(text) != "" {
		t.say(piece{speaker: who, text: text})
		said = true
	}
	if text := m.get("refusal").text(); text != "" {
		t.say(piece{speaker: who, text: text})
		said = true
	}
	for call := range m.get("tool_calls").items() {
		f := call.need("function")
		t.call(who, f.need("name").text(), arguments(f.get("arguments")), call.get("id").text(), made, piece{})
		said = true
	}
	if f := m.get("function_call"); f.kind() == '{' {
		t.call(who, f.need("name").text(), arguments(f.get("arguments")), "", made, piece{})
		said = true
	}
	if !said {
		t.leave("message without a text")
	}
}

// call is a turn in which who calls a tool, which has a seat of its own. of
// holds what else is known of the turn.
func (t *talk) call(who, name, args, id string, made calls, of piece) {
	of.speaker, of.channel = who, tool
	if of.text = name + " " + args; !t.seatless {
		name = t.toolSeat(name)
		of.to = []string{name}
	}
	if id != "" {
		made[id] = madeCall{name, who}
	}
	t.say(of)
}

// toolSeat seats a tool.
func (t *talk) toolSeat(name string) string {
	if clean(name) == "" {
		name = "tool"
	}
	return t.seat(name, "", transcripts.KindTool, "")
}

// answer is the turn in which a tool answers a call.
func (t *talk) answer(call madeCall, text string, of piece) {
	of.speaker, of.text = t.toolSeat(call.tool), text
	if i, ok := t.people[of.speaker]; ok && t.c.Participants[i].Kind == transcripts.KindTool {
		of.channel = tool // and not of a sub-agent
	}
	if call.by != "" {
		of.to = []string{call.by}
	}
	t.say(of)
}

// toolMessage takes a message of the role tool or function.
func (t *talk) toolMessage(m value, made calls) {
	id := m.get("tool_call_id").text()
	if list := m.get("tool_responses"); id == "" && list.kind() == '[' { // of AutoGen
		for r := range list.items() {
			id = r.get("tool_call_id").text()
		}
	}
	call := made[id]
	if name := m.get("name").text(); call.tool == "" || t.seatless && name != "" {
		call.tool = name
	}
	t.answer(call, t.content(m.get("content")), piece{})
}

// arguments returns those of a call: JSON, or a string that holds it.
func arguments(v value) string {
	if v.kind() == '"' {
		return v.text()
	}
	return v.compact()
}

// content returns the text of a message: a string, or a list of strings and
// parts. What is no text is counted.
func (t *talk) content(v value) string {
	if v.kind() != '[' {
		return v.text()
	}
	var all []string
	for part := range v.items() {
		switch kind := part.get("type").word(); {
		case part.kind() == '"':
			all = append(all, part.text())
		case part.get("text").kind() == '"':
			all = append(all, part.get("text").text())
		case part.get("refusal").kind() == '"':
			all = append(all, part.get("refusal").text())
		case part.kind() == '{':
			t.leave("part that is no text (" + orPlain(kind) + ")")
		default:
			part.fail("this is to be a string or a part of a message")
		}
	}
	return strings.Join(all, "\n")
}

func orPlain(kind string) string {
	if kind = cut(clean(kind), 40); kind == "" {
		return "of no type"
	}
	return kind
}

// readChats reads OpenAI's chat messages: an array, an object with
// "messages", or lines, each a message or an object with messages. Each
// object with messages is a conversation.
func readChats(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		if len(in.docs) > 1 && in.docs[0].has("role") {
			t := newTalk(in.name, OpenAI, "")
			made := calls{}
			for _, m := range in.docs {
				t.chat(m, made, chatSpeaker)
			}
			yield(t.done(in.first()))
			return
		}
		for _, doc := range in.docs {
			t := newTalk(in.name, OpenAI, "")
			if n := doc.at.document().line; n > 0 {
				t.c.ID += "/" + doc.at.document().where()[strings.LastIndexByte(doc.at.document().where(), ':')+1:]
			}
			t.messages(doc)
			if !yield(t.done(doc.failed())) || doc.failed() != nil {
				return
			}
		}
	}
}

func (t *talk) messages(doc value) {
	list, made := doc, calls{}
	if doc.kind() == '{' {
		list = listed(doc)
		if doc.has("role") {
			t.chat(doc, made, chatSpeaker)
			return
		}
		if list.kind() == 0 {
			doc.need("messages")
		}
	}
	for m := range list.items() {
		if m.kind() != '{' {
			m.fail("this is to be a message, an object")
			return
		}
		t.chat(m, made, chatSpeaker)
	}
}

// chatSpeaker returns who says m: its name, which is there to tell those of
// one role apart, or the role.
func chatSpeaker(t *talk, m value) string {
	role := m.need("role").text()
	kind := transcripts.KindAgent
	if role == "user" {
		kind = transcripts.KindHuman
	}
	if name := m.get("name").text(); name != "" {
		return t.seat(name, "", kind, "")
	}
	return t.seat(role, "", kind, "")
}
