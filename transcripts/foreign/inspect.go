package foreign

import (
	"cmp"
	"iter"
	"path"
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// readInspect reads logs of Inspect: a JSON file, or a zip with header.json and a file
// for each sample. Each sample is a conversation.
func readInspect(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		if len(in.docs) > 0 {
			for _, doc := range in.docs {
				task := doc.get("eval").get("task").maybeText()
				for sample := range doc.require("samples").items() {
					if !yield(in.inspectSample(task, sample)) || in.firstError() != nil {
						return
					}
				}
				if doc.failed() != nil {
					yield(nil, doc.failed())
					return
				}
			}
			return
		}
		in.inspectZip(yield)
	}
}

// inspectZip reads the samples of a log that is a zip.
func (in *input) inspectZip(yield func(*Conversation, error) bool) {
	a, err := openArchive(in.raw, in.name)
	if err != nil {
		yield(nil, err)
		return
	}
	task := ""
	if a.files["header.json"] != nil {
		if head, err := a.document("header.json"); err == nil {
			task = head.get("eval").get("task").maybeText()
		}
	}
	for _, name := range a.order {
		if !isInspectSample(name) {
			continue
		}
		sample, err := a.document(name)
		if err != nil && (in.strict || !breaksFormat(err)) {
			yield(nil, err)
			return
		}
		if err != nil {
			in.faults.add(err)
			continue
		}
		if !yield(in.inspectSample(task, sample)) {
			return
		}
	}
}

// isInspectSample reports whether a file of a zip is a sample of a log.
func isInspectSample(name string) bool {
	return strings.HasPrefix(name, "samples/") && path.Ext(name) == ".json"
}

// isInspectZip reports whether a zip is a log: its directory names the header.
func isInspectZip(raw []byte) bool {
	a, err := openArchive(raw, "")
	if err != nil {
		return false
	}
	for _, name := range a.order {
		if isInspectSample(name) {
			return true
		}
	}
	return a.files["header.json"] != nil
}

// An inspectReader reads one sample.
type inspectReader struct {
	*builder
	made        toolCalls
	attachments value
}

func (in *input) inspectSample(task string, sample value) (*Conversation, error) {
	r := inspectReader{in.newBuilder(Inspect, ""), toolCalls{}, sample.get("attachments")}
	r.c.ID += "/" + clean(cmp.Or(sample.get("id").plain(), "sample"))
	if n := sample.get("epoch").plain(); n != "" && n != "1" {
		r.c.ID += "/" + clean(n)
	}
	r.objective = task
	r.one(sample, func(v value) { r.each(v.require("messages"), r.message) })
	return r.done(sample.failed())
}

func (r inspectReader) message(m value) {
	text, thoughts := r.text(m.get("content"))
	switch role := m.require("role").text(); role {
	case "":
	case "system":
		r.leaveOut("instructions of the role system")
	case "user":
		r.addText(piece{speaker: r.participant("user", "", transcripts.KindHuman, ""), text: text}, "message without a text")
	case "assistant":
		r.assistant(m, text, thoughts)
	case "tool":
		call := r.made[m.get("tool_call_id").maybeText()]
		call.tool = cmp.Or(call.tool, m.get("function").maybeText())
		if why := m.get("error").get("message").maybeText(); why != "" && text == "" {
			text = "error: " + why
		}
		r.toolAnswer(call, text, piece{})
	default:
		m.get("role").fail("the role must be system, user, assistant or tool")
	}
}

// assistant adds a message of the model: its reasoning, its text and its calls.
func (r inspectReader) assistant(m value, text, thoughts string) {
	who := r.participant("assistant", m.get("model").maybeText(), transcripts.KindAgent, "")
	if strings.TrimSpace(thoughts) != "" {
		r.addTurn(piece{speaker: who, text: thoughts, channel: channelThought})
	}
	calls := 0
	if strings.TrimSpace(text) != "" {
		r.addTurn(piece{speaker: who, text: text})
		calls++
	}
	for call := range m.get("tool_calls").itemsOf() {
		calls++
		r.toolCallTurn(who, call.require("function").text(), arguments(call.get("arguments")), call.get("id").maybeText(), r.made, piece{})
	}
	if calls == 0 && thoughts == "" {
		r.leaveOut("message without a text")
	}
}

// text returns the text and the reasoning of a content, which is a text or a list.
func (r inspectReader) text(v value) (text, thoughts string) {
	if v.kind() != '[' {
		return r.attached(v.text()), ""
	}
	var said, thought []string
	for part := range v.items() {
		switch kind := part.get("type").maybeText(); kind {
		case "text":
			said = append(said, r.attached(part.get("text").text()))
		case "reasoning":
			thought = append(thought, r.attached(part.get("reasoning").text()))
		default:
			r.leaveOut("part that is no text (" + typeOrNone(kind) + ")")
		}
	}
	return strings.Join(said, "\n"), strings.Join(thought, "\n")
}

// attached returns the text that a log stores apart.
func (r inspectReader) attached(text string) string {
	if id, ok := strings.CutPrefix(text, "attachment://"); ok && r.attachments.kind() == '{' {
		return cmp.Or(r.attachments.get(id).maybeText(), text)
	}
	return text
}
