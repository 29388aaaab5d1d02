package foreign

import (
	"iter"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// readOpenCode reads what `opencode export` writes: {info, messages: [{info,
// parts}]}; several of them, one a line, are a conversation
// each, as a child session is.
func readOpenCode(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		for _, doc := range in.docs {
			o := opencode{newTalk(in.name, OpenCode, doc.get("info").get("id").word()), calls{}}
			o.objective = doc.get("info").get("title").word()
			for m := range doc.need("messages").items() {
				o.message(m)
			}
			if !yield(o.done(doc.failed())) || doc.failed() != nil {
				return
			}
		}
	}
}

type opencode struct {
	*talk
	made calls
}

// message takes the parts of a message.
func (o opencode) message(m value) {
	info := m.need("info")
	p := piece{id: info.get("id").word(), at: millis(info.get("time").get("created"))}
	switch role := info.need("role").text(); role {
	case "user":
		p.speaker = o.seat("user", "", transcripts.KindHuman, "")
	case "assistant":
		agent := info.get("agent").word()
		if agent == "" {
			agent = info.get("mode").word() // older releases
		}
		if agent == "" {
			agent = role
		}
		p.speaker = o.seat(agent, "", transcripts.KindAgent, "")
	default:
		info.get("role").fail("a role is user or assistant")
		return
	}
	for part := range m.need("parts").items() {
		o.part(p, part)
	}
	if e := info.get("error"); e.kind() == '{' {
		o.leave("error of the model (" + orPlain(e.get("name").word()) + ")")
	}
}

func (o opencode) part(p piece, part value) {
	switch kind := part.need("type").text(); kind {
	case "text", "reasoning":
		p.text = part.need("text").text()
		if kind == "reasoning" {
			p.channel = thought
		}
		switch {
		case part.get("synthetic").flag():
			o.leave("text that the program added")
		case strings.TrimSpace(p.text) == "":
			o.leave("message without a text")
		default:
			o.say(p)
		}
	case "tool":
		o.tool(p, part)
	case "agent":
		o.leave("mention of an agent (" + orPlain(part.get("name").word()) + ")")
	default:
		o.leave("part that is no text (" + cut(clean(kind), 60) + ")")
	}
}

// tool takes the call of a tool and its answer, which are one part. The tool
// that starts a sub-agent is a hand-off to it.
func (o opencode) tool(p piece, part value) {
	state, p := part.need("state"), piece{speaker: p.speaker, at: millis(part.get("state").get("time").get("start"))}
	name, input := part.need("tool").text(), state.get("input")
	call := madeCall{name, p.speaker}
	if kind := input.get("subagent_type").word(); kind != "" && input.has("prompt") {
		call.tool = o.seat(kind, "", transcripts.KindAgent, "sub-agent")
		p.to, p.text = []string{call.tool}, input.get("prompt").text()
		o.say(p)
	} else {
		o.call(p.speaker, name, arguments(input), "", o.made, p)
	}
	p = piece{at: millis(state.get("time").get("end"))}
	switch status := state.get("status").word(); status {
	case "completed":
		o.answer(call, state.get("output").text(), p)
	case "error":
		o.answer(call, "error: "+state.get("error").text(), p)
	default:
		o.leave("call that has no answer yet")
	}
}

// millis is a time in milliseconds since 1970; the zero Time without one.
func millis(v value) time.Time {
	if n := v.number(); n > 0 && n < 253402300800000 {
		return time.UnixMilli(int64(n))
	}
	return time.Time{}
}
