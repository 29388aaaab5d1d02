package foreign

import (
	"iter"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// readTasks reads tasks of the A2A protocol as its JSON has them, of version
// 0.3 and 1: a task, or an answer of JSON-RPC that holds one, or several in
// an array or one a line. A list of messages is one conversation.
func readTasks(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		for _, doc := range in.docs {
			if !tasksOf(in.name, doc, yield) {
				return
			}
		}
	}
}

func tasksOf(name string, doc value, yield func(*Conversation, error) bool) bool {
	if doc.kind() != '[' {
		t := task(name, unwrapped(doc))
		return yield(t.done(doc.failed())) && doc.failed() == nil
	}
	var loose *talk
	for item := range doc.items() {
		if isTask(unwrapped(item)) {
			t := task(name, unwrapped(item))
			if !yield(t.done(doc.failed())) || doc.failed() != nil {
				return false
			}
			continue
		}
		if loose == nil {
			loose = newTalk(name, A2A, item.get("contextId").word())
		}
		loose.a2aMessage(item, time.Time{})
	}
	return loose == nil || yield(loose.done(doc.failed()))
}

// unwrapped returns the task in an answer.
func unwrapped(v value) value {
	for _, key := range []string{"result", "task"} {
		if inner := v.get(key); inner.kind() == '{' {
			v = inner
		}
	}
	return v
}

// isTask reports whether v is a task.
func isTask(v value) bool {
	return v.get("kind").word() == "task" ||
		v.has("contextId") && v.get("status").kind() == '{' || v.has("artifacts") && v.get("history").kind() == '['
}

func task(name string, v value) *talk {
	t := newTalk(name, A2A, v.get("id").word())
	seen := map[string]bool{}
	if list := v.get("history"); list.kind() != 0 {
		for m := range list.items() {
			seen[m.get("messageId").word()] = true
			t.a2aMessage(m, time.Time{})
		}
	}
	status := v.get("status")
	if m := status.get("message"); m.kind() == '{' {
		at, _ := time.Parse(time.RFC3339Nano, status.get("timestamp").word())
		if id := m.get("messageId").word(); id != "" && seen[id] {
			t.leave("message of the status, which is in the history")
		} else {
			t.a2aMessage(m, at)
		}
	}
	if list := v.get("artifacts"); list.kind() != 0 {
		for a := range list.items() {
			p := piece{speaker: t.seat("agent", "", transcripts.KindAgent, ""), id: "artifact " + a.get("artifactId").word()}
			t.a2aParts(p, a)
		}
	}
	return t
}

// a2aMessage takes a message. Its role is the only name that its sender has.
func (t *talk) a2aMessage(m value, at time.Time) {
	p := piece{id: m.need("messageId").text(), at: at}
	switch role := m.need("role").text(); role {
	case "user", "ROLE_USER":
		p.speaker = t.seat("user", "", transcripts.KindHuman, "")
	case "agent", "ROLE_AGENT":
		p.speaker = t.seat("agent", "", transcripts.KindAgent, "")
	default:
		m.get("role").fail("a role is user or agent")
		return
	}
	t.a2aParts(p, m)
}

// a2aParts takes the parts of a message or an artifact; those of one are one
// turn.
func (t *talk) a2aParts(p piece, of value) {
	for part := range of.need("parts").items() {
		switch {
		case part.get("text").kind() == '"':
			p.text = part.get("text").text()
		case part.has("data"):
			p.text = part.get("data").compact()
		default:
			t.leave("part that is a file")
			continue
		}
		if strings.TrimSpace(p.text) == "" {
			t.leave("part without a text")
			continue
		}
		t.say(p)
	}
}
