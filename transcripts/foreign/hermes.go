package foreign

import (
	"iter"
	"time"
)

// hermesMeta is the role of the first line of a session of Hermes Agent, which has the
// model and the descriptions of its tools.
const hermesMeta = "session_meta"

// readHermes reads a session of Hermes Agent: chat messages, one a line, with their
// times and the reasoning of the model; or an object or a list of them.
func readHermes(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		for _, talk := range in.talks() {
			h := hermesReader{in.newBuilder(Hermes, ""), toolCalls{}}
			if talk.part != "" {
				h.c.ID += "/" + talk.part
			}
			for _, v := range talk.docs {
				h.one(v, h.document)
			}
			if !yield(h.done(in.firstError())) || in.firstError() != nil {
				return
			}
		}
	}
}

type hermesReader struct {
	*builder
	made toolCalls
}

func (h hermesReader) document(doc value) {
	switch list := messageList(doc); {
	case doc.kind() == '[':
		h.each(doc, h.message)
	case doc.has("role"):
		h.message(doc)
	case list.kind() == '[':
		h.objective = doc.get("title").maybeText()
		h.each(list, h.message)
	default:
		doc.require("role")
	}
}

// message adds a message; its reasoning comes before it.
func (h hermesReader) message(m value) {
	if m.get("role").maybeText() == hermesMeta {
		h.leaveOut("line about the session")
		return
	}
	at := hermesTime(m.get("timestamp"))
	if why := m.get("reasoning").maybeText(); why != "" && m.get("role").maybeText() == "assistant" {
		h.addText(piece{speaker: chatSpeaker(h.builder, m), text: why, channel: channelThought, at: at}, "reasoning without a text")
	}
	first := len(h.c.Turns)
	h.chatMessage(m, h.made, chatSpeaker)
	for i := first; i < len(h.c.Turns) && !at.IsZero(); i++ {
		h.c.Turns[i].At = at.Format(time.RFC3339Nano)
	}
}

// hermesTime reads a time: a date in UTC without its zone, or seconds since 1970.
func hermesTime(v value) time.Time {
	if v.kind() == '0' {
		if n := v.number(); n > 0 && n < 253402300800 {
			return time.UnixMicro(int64(n * 1e6)).UTC()
		}
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, v.maybeText()); err == nil && at.Year() > 0 && at.Year() < 10000 {
			return at.UTC()
		}
	}
	return time.Time{}
}
