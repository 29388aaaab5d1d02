package foreign

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// history returns the messages of a document: an array, or an object that wraps
// one and may state the objective.
func (t *builder) history(doc value) value {
	if doc.kind() != '{' {
		return doc
	}
	t.objective = doc.get("question").maybeText()
	list := messageList(doc)
	if list.kind() == 0 {
		doc.require("history")
	}
	return list
}

// autoGenSpeaker returns the participant that says m in a chat history of AutoGen 0.2 and
// AG2. The role is relative to the agent that saved the history.
func autoGenSpeaker(t *builder, m value) string {
	name := cmp.Or(m.get("name").text(), m.get("role").text()) // the first message of some histories has no name
	return t.participant(name, "", autoGenKind(name), "")
}

// autoGenKind recognizes the names that AutoGen's examples and its builder give
// to people and to tools. All others are agents.
func autoGenKind(name string) string {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "")) {
	case "user", "human", "userproxy", "humanproxy", "admin", "humanadmin":
		return transcripts.KindHuman
	case "computerterminal", "tool", "codeexecutor":
		return transcripts.KindTool
	}
	return transcripts.KindAgent
}

// readAutoGenState reads files of AutoGen 0.4 and later: the state of a team,
// in which the group chat manager holds the message_thread; the state of that
// manager alone; the result of a task; or a list of its messages. Message types
// are those of autogen_agentchat.messages.
func readAutoGenState(in *input) (*builder, error) {
	doc, err := in.document()
	if err != nil {
		return nil, err
	}
	t := in.newBuilder(AutoGenState, "")
	made := toolCalls{}
	t.each(t.autoGenThread(doc), func(m value) { t.autoGenMessage(m, made) })
	return t, doc.failed()
}

// autoGenThread returns the list of messages in doc.
func (t *builder) autoGenThread(doc value) value {
	if doc.kind() == '[' {
		return doc
	}
	for _, from := range []value{doc, doc.get("llm_context")} {
		for _, key := range []string{"message_thread", "messages"} {
			if list := from.get(key); list.kind() == '[' {
				return list
			}
		}
	}
	states := doc.require("agent_states")
	for _, state := range states.members() {
		if state.kind() == '{' && state.has("message_thread") {
			return state.require("message_thread")
		}
	}
	states.fail(`no agent has a "message_thread"`)
	return value{nil, states.at}
}

// autoGenMessage adds one message.
func (t *builder) autoGenMessage(m value, made toolCalls) {
	kind := m.require("type").text()
	content := m.get("content")
	switch kind {
	case "SystemMessage": // in the context of an agent's model, where it has no source
		t.leaveOut("instructions of the role system")
		return
	case "FunctionExecutionResultMessage":
		t.autoGenResults(content, "", made, time.Time{})
		return
	}
	who := clean(m.require("source").text())
	if m.failed() != nil {
		return
	}
	p := piece{id: m.get("id").maybeText()}
	if at, err := time.Parse(time.RFC3339Nano, m.get("created_at").maybeText()); err == nil {
		p.at = at
	}
	if who == "" {
		t.leaveOut("message without a source")
		return
	}
	p.speaker = t.participant(who, "", autoGenKind(who), "")
	first := len(t.c.Turns)
	defer func() { t.state("", first, autoGenUsage.of(m.get("models_usage"))) }()
	switch kind {
	case "ToolCallRequestEvent":
		t.autoGenCalls(p, content, made)
	case "AssistantMessage": // of the context of a model: a text, or calls
		if thought := m.get("thought").maybeText(); thought != "" {
			t.addText(piece{speaker: p.speaker, text: thought, channel: channelThought}, "")
		}
		if content.kind() == '[' {
			t.autoGenCalls(p, content, made)
			return
		}
		t.autoGenText(p, kind, content)
	case "ToolCallExecutionEvent":
		t.autoGenResults(content, p.speaker, made, p.at)
	case "ToolCallSummaryMessage":
		t.leaveOut("summary that repeats a tool result")
	case "ModelClientStreamingChunkEvent":
		t.leaveOut("streamed part of a later message")
	case "UserInputRequestedEvent", "SelectSpeakerEvent":
		t.leaveOut("event of the team (" + kind + ")")
	case "ThoughtEvent", "SelectorEvent":
		p.channel = channelThought
		p.text = content.text()
		t.addTurn(p)
	case "HandoffMessage":
		p.to = []string{m.require("target").text()}
		p.text = content.text()
		t.addTurn(p)
	default:
		t.autoGenText(p, kind, content)
	}
}

// autoGenCalls adds the calls of tools.
func (t *builder) autoGenCalls(p piece, content value, made toolCalls) {
	for call := range content.items() {
		name := call.require("name").text()
		if to, ok := strings.CutPrefix(name, "transfer_to_"); ok { // a HandoffMessage follows
			made[call.get("id").text()] = toolCall{by: p.speaker}
			t.leaveOut("call of a hand-off to " + truncate(clean(to), 60) + ", which has its own message")
			continue
		}
		t.toolCallTurn(p.speaker, name, arguments(call.get("arguments")), call.get("id").text(), made, piece{at: p.at})
	}
}

// autoGenResults adds the results of calls of one participant, or of those that made them.
func (t *builder) autoGenResults(content value, who string, made toolCalls, at time.Time) {
	for result := range content.items() {
		call, known := made[result.get("call_id").text()]
		if known && call.tool == "" {
			t.leaveOut("result of a hand-off call")
			continue
		}
		t.toolAnswer(toolCall{cmp.Or(result.get("name").text(), call.tool), cmp.Or(who, call.by)}, result.get("content").text(), piece{at: at})
	}
}

// autoGenText adds a message of text, of any other type: TextMessage,
// StopMessage, MultiModalMessage and those of later releases.
func (t *builder) autoGenText(p piece, kind string, content value) {
	switch content.kind() {
	case '"', '[':
		p.text = t.content(content)
	case '{': // StructuredMessage
		p.text = content.compact()
	}
	t.addText(p, "message without a text ("+truncate(clean(kind), 60)+")")
}

// magenticRoute matches a role in a Magentic-One log: the speaker and, in
// brackets, the agent it hands off to or the kind of the text.
var magenticRoute = regexp.MustCompile(`^(.*?)\s*\((.*)\)$`)

// magenticRole reports whether a role is one that only Magentic-One writes.
func magenticRole(role string) bool {
	return role == "Orchestrator" || role == "MagenticOneOrchestrator" || magenticRoute.MatchString(role)
}

// readMagentic reads a log of Magentic-One: an array of {content, role}, or
// an object that wraps one as "history". "Orchestrator (-> WebSurfer)" hands
// off to WebSurfer. "Orchestrator (thought)" is its internal reasoning. Any
// other word in brackets is the channel of the turn.
func readMagentic(in *input) (*builder, error) {
	doc, err := in.document()
	if err != nil {
		return nil, err
	}
	t := in.newBuilder(MagenticOne, "")
	t.each(t.history(doc), t.magenticMessage)
	return t, doc.failed()
}

// magenticMessage adds one message.
func (t *builder) magenticMessage(m value) {
	p := piece{speaker: clean(m.require("role").text())}
	if parts := magenticRoute.FindStringSubmatch(p.speaker); parts != nil && parts[1] != "" {
		p.speaker = parts[1]
		if to, ok := strings.CutPrefix(strings.TrimSpace(parts[2]), "->"); ok {
			p.to = []string{strings.TrimSpace(to)}
		} else {
			p.channel = strings.TrimSpace(parts[2])
		}
	}
	p.text = t.content(m.get("content"))
	switch {
	case m.failed() != nil:
	case p.speaker == "":
		t.leaveOut("message without a speaker")
	default:
		t.participant(p.speaker, "", magenticKind(p.speaker), "")
		t.addTurn(p)
	}
}

// magenticKind recognizes the people and tools of Magentic-One.
func magenticKind(name string) string {
	switch name {
	case "human", "user", "UserProxy":
		return transcripts.KindHuman
	case "ComputerTerminal", "Computer_terminal":
		return transcripts.KindTool
	}
	return transcripts.KindAgent
}
