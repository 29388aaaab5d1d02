package foreign

import (
	"strings"
	"time"
)

// readTeam reads what AutoGen 0.4 and later save: the state of a team, in
// which the manager of the group chat holds the message_thread; that manager's
// state alone; the result of a task; or a list of its messages. Messages are
// typed, see autogen_agentchat.messages.
func readTeam(in *input) (*talk, error) {
	doc, err := in.document()
	if err != nil {
		return nil, err
	}
	t := newTalk(in.name, AutoGenState, "")
	made := calls{}
	for m := range t.thread(doc).items() {
		if m.failed() != nil {
			break
		}
		t.teamMessage(m, made)
	}
	return t, doc.failed()
}

// thread finds the messages.
func (t *talk) thread(doc value) value {
	if doc.kind() == '[' {
		return doc
	}
	for _, key := range []string{"message_thread", "messages"} {
		if list := doc.get(key); list.kind() == '[' {
			return list
		}
	}
	states := doc.need("agent_states")
	for _, state := range states.members() {
		if state.kind() == '{' && state.has("message_thread") {
			return state.need("message_thread")
		}
	}
	states.fail(`of no agent there is a "message_thread"`)
	return value{nil, states.at}
}

// teamMessage takes one message.
func (t *talk) teamMessage(m value, made calls) {
	kind := m.need("type").text()
	who := clean(m.need("source").text())
	if m.failed() != nil {
		return
	}
	p := piece{id: m.get("id").word()}
	if at, err := time.Parse(time.RFC3339Nano, m.get("created_at").word()); err == nil {
		p.at = at
	}
	if who == "" {
		t.leave("message without a source")
		return
	}
	p.speaker = t.seat(who, "", autoGenKind(who), "")
	content := m.get("content")
	switch kind {
	case "ToolCallRequestEvent":
		for call := range content.items() {
			name := call.need("name").text()
			if to, ok := strings.CutPrefix(name, "transfer_to_"); ok { // a HandoffMessage follows
				made[call.get("id").text()] = madeCall{by: p.speaker}
				t.leave("call of a hand-off to " + cut(clean(to), 60) + ", which is a message of its own")
				continue
			}
			t.call(p.speaker, name, arguments(call.get("arguments")), call.get("id").text(), made, piece{at: p.at})
		}
	case "ToolCallExecutionEvent":
		for result := range content.items() {
			call, known := made[result.get("call_id").text()]
			if known && call.tool == "" {
				t.leave("answer to a call of a hand-off")
				continue
			}
			t.answer(madeCall{result.get("name").text(), p.speaker}, result.get("content").text(), piece{at: p.at})
		}
	case "ToolCallSummaryMessage":
		t.leave("summary that repeats the answer of a tool")
	case "ModelClientStreamingChunkEvent":
		t.leave("streamed part of a message that follows whole")
	case "UserInputRequestedEvent", "SelectSpeakerEvent":
		t.leave("event of the team (" + kind + ")")
	case "ThoughtEvent", "SelectorEvent":
		p.channel = thought
		p.text = content.text()
		t.say(p)
	case "HandoffMessage":
		p.to = []string{m.need("target").text()}
		p.text = content.text()
		t.say(p)
	default:
		t.other(p, kind, content)
	}
}

// other takes messages that are a text, whatever they are called: TextMessage,
// StopMessage, MultiModalMessage and those of later releases.
func (t *talk) other(p piece, kind string, content value) {
	switch content.kind() {
	case '"', '[':
		p.text = t.content(content)
	case '{': // StructuredMessage
		p.text = content.compact()
	}
	if strings.TrimSpace(p.text) == "" {
		t.leave("message without a text (" + cut(clean(kind), 60) + ")")
		return
	}
	t.say(p)
}
