package foreign

import (
	"cmp"
	"iter"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// readOpenCode reads the output of `opencode export`: {info, messages: [{info,
// parts}]}. Several sessions, one a line, are one conversation each; child
// sessions too.
func readOpenCode(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		for _, doc := range in.docs {
			o := openCodeReader{in.newBuilder(OpenCode, doc.get("info").get("id").maybeText()), toolCalls{}}
			o.objective = doc.get("info").get("title").maybeText()
			o.each(doc.require("messages"), o.message)
			if !yield(o.done(doc.failed())) || doc.failed() != nil {
				return
			}
		}
	}
}

// An openCodeReader reads one session.
type openCodeReader struct {
	*builder
	calls toolCalls
}

// message adds the parts of a message.
func (o openCodeReader) message(m value) {
	info := m.require("info")
	p := piece{id: info.get("id").maybeText(), at: millis(info.get("time").get("created"))}
	switch role := info.require("role").text(); role {
	case "user":
		p.speaker = o.participant("user", "", transcripts.KindHuman, "")
	case "assistant":
		agent := cmp.Or(info.get("agent").maybeText(), info.get("mode").maybeText(), role) // older releases name a mode
		p.speaker = o.participant(agent, "", transcripts.KindAgent, "")
	default:
		info.get("role").fail("the role must be user or assistant")
		return
	}
	first := len(o.c.Turns)
	for part := range m.require("parts").items() {
		o.part(p, part)
	}
	o.state("", first, openCodeUsage.of(info.get("tokens")))
	if e := info.get("error"); e.kind() == '{' {
		o.leaveOut("error of the model (" + typeOrNone(e.get("name").maybeText()) + ")")
	}
}

// part adds one part of a message.
func (o openCodeReader) part(p piece, part value) {
	switch kind := part.require("type").text(); kind {
	case "text", "reasoning":
		p.text = part.require("text").text()
		if kind == "reasoning" {
			p.channel = channelThought
		}
		if part.get("synthetic").flag() {
			o.leaveOut("text added by the program")
			return
		}
		o.addText(p, "message without a text")
	case "tool":
		o.toolPart(p, part)
	case "agent":
		o.leaveOut("mention of an agent (" + typeOrNone(part.get("name").maybeText()) + ")")
	default:
		o.leaveOut("part that is no text (" + truncate(clean(kind), 60) + ")")
	}
}

// toolPart adds a call of a tool and its result, which are one part. A call that
// starts a sub-agent becomes a message to it.
func (o openCodeReader) toolPart(p piece, part value) {
	state, p := part.require("state"), piece{speaker: p.speaker, at: millis(part.get("state").get("time").get("start"))}
	name, input := part.require("tool").text(), state.get("input")
	call := toolCall{name, p.speaker}
	if kind := input.get("subagent_type").maybeText(); kind != "" && input.has("prompt") {
		call.tool = o.participant(kind, "", transcripts.KindAgent, "sub-agent")
		p.to, p.text = []string{call.tool}, input.get("prompt").text()
		o.addTurn(p)
	} else {
		o.toolCallTurn(p.speaker, name, arguments(input), "", o.calls, p)
	}
	p = piece{at: millis(state.get("time").get("end"))}
	switch status := state.get("status").maybeText(); status {
	case "completed":
		o.toolAnswer(call, state.get("output").text(), p)
	case "error":
		o.toolAnswer(call, "error: "+state.get("error").text(), p)
	default:
		o.leaveOut("call without a result yet")
	}
}

// millis converts milliseconds since 1970; null is the zero Time.
func millis(v value) time.Time {
	if n := v.number(); n > 0 && n < 253402300800000 {
		return time.UnixMilli(int64(n))
	}
	return time.Time{}
}
