package foreign

import (
	"cmp"
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// A matrixReader reads the events of a Matrix room: an export of Element, an answer of
// the API with a chunk, a list of events, or one event a line.
type matrixReader struct {
	*builder
	names   map[string]string // of members
	edits   map[string]value  // the last new content of an event
	senders map[string]string // of events
}

func readMatrix(in *input) (*builder, error) {
	r := matrixReader{in.newBuilder(Matrix, ""), map[string]string{}, map[string]value{}, map[string]string{}}
	var events []value
	for _, doc := range in.docs {
		r.objective = cmp.Or(r.objective, doc.get("topic").maybeText())
		list := doc
		if doc.kind() == '{' {
			list = matrixEvents(doc)
		}
		if list.kind() != '[' {
			events = append(events, doc)
			continue
		}
		events = list.collect(events)
	}
	for _, e := range events {
		r.note(e)
	}
	for _, e := range events {
		r.one(e, r.event)
	}
	return r.builder, in.firstError()
}

// matrixEvents returns the list of events in an object.
func matrixEvents(v value) value {
	for _, key := range []string{"messages", "chunk"} {
		if list := v.get(key); list.kind() == '[' {
			return list
		}
	}
	return value{nil, v.at}
}

// isMatrixEvent reports whether v is an event of a room.
func isMatrixEvent(v value) bool {
	return strings.HasPrefix(v.get("type").maybeText(), "m.room.") && v.has("sender") && v.has("content")
}

// note takes from an event what other events need.
func (r matrixReader) note(e value) {
	content := e.get("content")
	if name := content.get("displayname").maybeText(); name != "" {
		r.names[cmp.Or(e.get("state_key").maybeText(), e.get("sender").maybeText())] = name
	}
	if rel := content.get("m.relates_to"); rel.get("rel_type").maybeText() == "m.replace" {
		r.edits[rel.get("event_id").maybeText()] = content.get("m.new_content")
	}
	r.senders[e.get("event_id").maybeText()] = e.get("sender").maybeText()
}

func (r matrixReader) event(e value) {
	kind, content := e.require("type").text(), e.get("content")
	rel := content.get("m.relates_to")
	switch {
	case e.failed() != nil:
		return
	case kind == "m.room.encrypted":
		r.leaveOut("encrypted message")
		return
	case kind != "m.room.message":
		r.leaveOut("event of the room (" + typeOrNone(kind) + ")")
		return
	case rel.get("rel_type").maybeText() == "m.replace":
		r.leaveOut("edit of an earlier message")
		return
	}
	if edit, ok := r.edits[e.get("event_id").maybeText()]; ok && edit.kind() == '{' {
		content = edit
	}
	p := piece{speaker: r.person(clean(e.require("sender").text()), content), at: millis(e.get("origin_server_ts"))}
	switch what := content.get("msgtype").maybeText(); what {
	case "m.text", "m.emote", "m.notice":
		p.text = content.get("body").text()
	case "":
		r.leaveOut("message that was removed")
		return
	default:
		r.leaveOut("message that is no text (" + typeOrNone(what) + ")")
		return
	}
	if of := r.senders[rel.get("m.in_reply_to").get("event_id").maybeText()]; of != "" {
		p.to, p.text = append(p.to, r.participant(of, r.names[of], transcripts.KindHuman, "")), withoutQuote(p.text)
	}
	for id := range content.get("m.mentions").get("user_ids").itemsOf() {
		p.to = append(p.to, id.maybeText())
	}
	r.addText(p, "message without a text")
}

// person adds a member. A sender of notices is a program.
func (r matrixReader) person(id string, content value) string {
	kind := transcripts.KindHuman
	if content.get("msgtype").maybeText() == "m.notice" {
		kind = transcripts.KindAgent
	}
	return r.participant(id, r.names[id], kind, "")
}

// withoutQuote returns the text of a reply without the quoted lines before it.
func withoutQuote(text string) string {
	rest := text
	for strings.HasPrefix(rest, "> ") {
		_, after, more := strings.Cut(rest, "\n")
		if !more {
			return text
		}
		rest = after
	}
	return strings.TrimPrefix(rest, "\n")
}
