package foreign

import (
	"iter"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// readTasks reads A2A tasks of protocol versions 0.3 and 1 as JSON: a task, a
// JSON-RPC response that holds one, or several of either, in an array or one a
// line. A list of messages is one conversation.
func readTasks(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		for _, doc := range in.docs {
			if !in.tasksOf(doc, yield) {
				return
			}
		}
	}
}

func (in *input) tasksOf(doc value, yield func(*Conversation, error) bool) bool {
	if doc.kind() != '[' {
		t := in.task(unwrapTask(doc))
		return yield(t.done(doc.failed())) && doc.failed() == nil
	}
	var loose *builder
	for item := range doc.items() {
		if isTask(unwrapTask(item)) {
			t := in.task(unwrapTask(item))
			if !yield(t.done(doc.failed())) || doc.failed() != nil {
				return false
			}
			continue
		}
		if loose == nil {
			loose = in.newBuilder(A2A, item.get("contextId").maybeText())
		}
		loose.one(item, func(m value) { loose.a2aMessage(m, time.Time{}) })
	}
	return loose == nil || yield(loose.done(doc.failed()))
}

// unwrapTask returns the task in a JSON-RPC response, or v itself.
func unwrapTask(v value) value {
	for _, key := range []string{"result", "task"} {
		if inner := v.get(key); inner.kind() == '{' {
			v = inner
		}
	}
	return v
}

// isTask reports whether v is a task.
func isTask(v value) bool {
	return v.get("kind").maybeText() == "task" ||
		v.has("contextId") && v.get("status").kind() == '{' || v.has("artifacts") && v.get("history").kind() == '['
}

func (in *input) task(v value) *builder {
	t := in.newBuilder(A2A, v.get("id").maybeText())
	seen := map[string]bool{}
	if list := v.get("history"); list.kind() != 0 {
		t.each(list, func(m value) {
			seen[m.get("messageId").maybeText()] = true
			t.a2aMessage(m, time.Time{})
		})
	}
	status := v.get("status")
	if m := status.get("message"); m.kind() == '{' {
		at, _ := time.Parse(time.RFC3339Nano, status.get("timestamp").maybeText())
		if id := m.get("messageId").maybeText(); id != "" && seen[id] {
			t.leaveOut("status message that is in the history too")
		} else {
			t.one(m, func(m value) { t.a2aMessage(m, at) })
		}
	}
	if list := v.get("artifacts"); list.kind() != 0 {
		t.each(list, func(a value) {
			p := piece{speaker: t.participant("agent", "", transcripts.KindAgent, ""), id: "artifact " + a.get("artifactId").maybeText()}
			t.a2aParts(p, a)
		})
	}
	return t
}

// a2aMessage adds a message. A2A names the sender by its role only.
func (t *builder) a2aMessage(m value, at time.Time) {
	p := piece{id: m.require("messageId").text(), at: at}
	switch role := m.require("role").text(); role {
	case "user", "ROLE_USER":
		p.speaker = t.participant("user", "", transcripts.KindHuman, "")
	case "agent", "ROLE_AGENT":
		p.speaker = t.participant("agent", "", transcripts.KindAgent, "")
	default:
		m.get("role").fail("the role must be user or agent")
		return
	}
	t.a2aParts(p, m)
}

// a2aParts adds the parts of a message or an artifact as one turn.
func (t *builder) a2aParts(p piece, of value) {
	for part := range of.require("parts").items() {
		switch {
		case part.get("text").kind() == '"':
			p.text = part.get("text").text()
		case part.has("data"):
			p.text = part.get("data").compact()
		default:
			t.leaveOut("part that is a file")
			continue
		}
		t.addText(p, "part without a text")
	}
}
