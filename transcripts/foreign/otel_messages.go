package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// A spanConverter converts the spans of one conversation. The input of each
// span repeats all earlier messages, so an input message counts only when it
// occurs more often than in the spans before. Roles are ignored in this
// comparison, because each agent sees the others as user.
type spanConverter struct {
	*builder
	calls toolCalls
	taken map[string]int // number of converted messages by content
}

// convert adds the spans of a conversation. Enclosing spans come after inner
// ones, because they mostly repeat the messages of the inner ones.
func (t *spanConverter) convert(spans []*span) {
	seen := map[string]bool{}
	for _, enclosing := range []bool{false, true} {
		for _, s := range spans {
			if s.innerMessages != enclosing {
				continue
			}
			id := s.trace + "/" + s.id
			if s.id != "" && seen[id] {
				t.leaveOut("repeated span")
				continue
			}
			seen[id] = true
			if s.v.failed() == nil {
				t.span(s)
			}
			if t.skip(s.v.failed()) != nil {
				return
			}
		}
	}
}

func (t *spanConverter) span(s *span) {
	switch {
	case s.isSilence():
		t.silence(s)
	case s.isOwn():
		t.ownSpan(s)
	case s.hasMessages():
		here := map[string]int{}
		for _, m := range s.messages("gen_ai.input.messages", "gen_ai.prompt") {
			t.message(s, m, here, nanos(s.start), true)
		}
		first := len(t.c.Turns)
		for _, m := range s.messages("gen_ai.output.messages", "gen_ai.completion") {
			t.message(s, m, here, s.endTime(), s.innerMessages)
		}
		if !s.innerMessages { // otherwise it is the sum of the inner spans
			t.state("", first, s.usage())
		}
	case s.text("gen_ai.operation.name") == "execute_tool" || s.text("gen_ai.tool.name") != "":
		t.toolSpan(s)
	default:
		t.objective = cmp.Or(t.objective, s.text(transcripts.AttrObjective))
		t.leaveOut("span without messages (" + typeOrNone(s.text("gen_ai.operation.name")) + ")")
	}
}

// messages returns the messages of an attribute, which is JSON text or an OTLP
// value, or those of the older numbered attributes, key.0.role and so on.
func (s *span) messages(key, older string) []value {
	for _, k := range []string{key, older} {
		a, ok := s.attrs[k]
		if !ok {
			continue
		}
		list := embeddedJSON(a)
		if list.kind() == '"' || list.kind() == '{' { // a text, or one message
			return []value{list}
		}
		var all []value
		for m := range list.items() {
			all = append(all, m)
		}
		return all
	}
	var all []value
	for i := 0; ; i++ {
		prefix := older + "." + strconv.Itoa(i) + "."
		text, ok := s.attrs[prefix+"content"]
		if !ok {
			return all
		}
		raw, err := json.Marshal(map[string]string{"role": s.text(prefix + "role"), "content": text.get("stringValue").maybeText()})
		if err != nil {
			return all
		}
		all = append(all, value{raw, text.at})
	}
}

// embeddedJSON returns the JSON in an attribute.
func embeddedJSON(a value) value {
	if text := a.get("stringValue"); text.kind() == '"' {
		v, err := parse([]byte(text.text()), text.at.String(), 0)
		if err != nil {
			if !strings.HasPrefix(strings.TrimLeft(text.text(), " \n"), "[") {
				return text // some emitters write plain text
			}
			if d := text.at.document(); d.err == nil {
				d.err = err
			}
			return value{nil, text.at}
		}
		v.at = &place{up: text.at, key: "(text)"}
		return v
	}
	raw, err := json.Marshal(plainOTLP(a, 0))
	if err != nil {
		return value{nil, a.at}
	}
	return value{raw, a.at}
}

// plainOTLP converts an OTLP value to the JSON that it represents.
func plainOTLP(a value, depth int) any {
	if depth > MaxDepth {
		return nil
	}
	for key, v := range a.members() {
		switch key {
		case "stringValue":
			return v.text()
		case "boolValue":
			return v.flag()
		case "intValue", "doubleValue":
			return v.number()
		case "arrayValue":
			all := []any{}
			for item := range v.get("values").items() {
				all = append(all, plainOTLP(item, depth+1))
			}
			return all
		case "kvlistValue":
			all := map[string]any{}
			for pair := range v.get("values").items() {
				all[pair.get("key").maybeText()] = plainOTLP(pair.get("value"), depth+1)
			}
			return all
		}
	}
	return nil
}

// message adds a message: {role, parts: [{type: text, content}, {type:
// tool_call, id, name, arguments}, {type: tool_call_response, id, response}]}
// or the older {role, content}.
func (t *spanConverter) message(s *span, m value, here map[string]int, at time.Time, repeats bool) {
	if m.kind() == '"' {
		t.part(s, "user", "", m, "text "+m.text(), here, at, repeats)
		return
	}
	role, name := m.get("role").maybeText(), m.get("name").maybeText()
	parts := m.get("parts")
	switch {
	case role == "system" || role == "developer":
		t.leaveOut("instructions of the role " + role)
	case parts.kind() == '[':
		for part := range parts.items() {
			t.part(s, role, name, part, partKey(part), here, at, repeats)
		}
	default:
		text := m.get("content")
		if text.kind() != '"' {
			t.leaveOut("message without a text")
			return
		}
		t.part(s, role, name, text, "text "+text.text(), here, at, repeats)
	}
}

// partKey returns the key of a part in taken. Calls and results have ids; some
// emitters change their content when they repeat them.
func partKey(part value) string {
	kind := part.get("type").maybeText()
	if id := part.get("id").maybeText(); id != "" && strings.HasPrefix(kind, "tool_call") {
		return kind + " " + id
	}
	return kind + " " + firstText(part)
}

// firstText returns the text of a part, or its JSON.
func firstText(part value) string {
	for _, key := range []string{"content", "text", "response", "result"} {
		if v := part.get(key); v.kind() == '"' {
			return v.text()
		}
	}
	return part.compact()
}

// part adds one part of a message. repeats says that the message may repeat one
// of an earlier span; here counts the parts of this span.
func (t *spanConverter) part(s *span, role, name string, part value, key string, here map[string]int, at time.Time, repeats bool) {
	here[key]++
	if repeats && here[key] <= t.taken[key] {
		t.leaveOut("repeated by a later span")
		return
	}
	t.taken[key] = max(t.taken[key]+1, here[key])
	p := piece{at: at, id: fmt.Sprintf("%s %s", s.id, role)}
	switch kind := part.get("type").maybeText(); {
	case kind == "tool_call":
		p.id = ""
		t.toolCallTurn(t.speaker(s, "assistant", name), part.require("name").text(), arguments(part.get("arguments")), part.get("id").maybeText(), t.calls, p)
	case kind == "tool_call_response":
		p.id = ""
		t.toolAnswer(t.calls[part.get("id").maybeText()], firstText(part), p)
	case kind == "text", kind == "reasoning", part.kind() == '"':
		t.text(s, role, name, kind, part, p)
	default:
		t.leaveOut("part that is no text (" + typeOrNone(kind) + ")")
	}
}

// text adds a part of text.
func (t *spanConverter) text(s *span, role, name, kind string, part value, p piece) {
	if p.text = part.maybeText(); part.kind() == '{' {
		p.text = firstText(part)
	}
	if strings.TrimSpace(p.text) == "" {
		t.leaveOut("message without a text")
		return
	}
	if role == "tool" {
		t.toolAnswer(toolCall{tool: name}, p.text, p)
		return
	}
	p.speaker = t.speaker(s, role, name)
	if kind == "reasoning" {
		p.channel = channelThought
	}
	t.addTurn(p)
}

// speaker returns the participant that speaks in a span.
func (t *spanConverter) speaker(s *span, role, name string) string {
	if role == "user" {
		return t.participant(cmp.Or(name, role), "", transcripts.KindHuman, "")
	}
	id, label := s.agent()
	switch {
	case name != "":
		id, label = name, ""
	case id == "":
		id = "assistant"
	}
	return t.participant(id, label, transcripts.KindAgent, "")
}

// toolSpan adds the result of a tool, if its span has one.
func (t *spanConverter) toolSpan(s *span) {
	id, name := s.text("gen_ai.tool.call.id"), s.text("gen_ai.tool.name")
	result, ok := s.attrs["gen_ai.tool.call.result"]
	key := "tool_call_response " + id
	switch {
	case !ok:
		t.leaveOut("span of a tool without a result")
	case id != "" && t.taken[key] > 0:
		t.leaveOut("repeated by a later span")
	default:
		if id != "" {
			t.taken[key]++
		}
		call := t.calls[id]
		call.tool = cmp.Or(call.tool, name)
		text := result.get("stringValue").maybeText()
		if text == "" {
			text = embeddedJSON(result).compact()
		}
		t.toolAnswer(call, text, piece{at: s.endTime()})
	}
}

// isOwn reports whether transcripts.WriteSpans wrote the span. Such a span is
// one message.
func (s *span) isOwn() bool { return s.text(transcripts.AttrKind) != "" }

// isSilence reports whether transcripts.WriteSpans wrote the span for a declined round or
// a passed turn.
func (s *span) isSilence() bool { return s.text(transcripts.AttrDecision) != "" }

// silence adds the decisions of a span that is no message.
func (t *spanConverter) silence(s *span) {
	at := s.clock()
	if s.v.failed() != nil {
		return
	}
	switch s.text(transcripts.AttrDecision) {
	case transcripts.DecisionPass:
		if id := t.ownParticipant(s); id != "" {
			t.decline(id, at)
		}
	case transcripts.DecisionDecline:
		n := 0
		for v := range s.attrs[transcripts.AttrSilent].get("arrayValue").get("values").items() {
			if id := t.presumeAgent(v.get("stringValue").text()); id != "" {
				t.decline(id, at)
			}
			n++
		}
		if n == 0 {
			t.decline("", at)
		}
	default:
		s.attrs[transcripts.AttrDecision].fail("the decision must be decline or pass")
	}
}

// clock returns the room clock of a span that WriteSpans wrote, nil without one.
func (s *span) clock() *float64 {
	clock, ok := s.attrs[transcripts.AttrClock]
	if !ok {
		return nil
	}
	n := clock.get("stringValue").number()
	if !(math.Abs(n) <= transcripts.MaxSeconds) {
		clock.fail("the clock is out of range")
	}
	return &n
}

// ownParticipant returns the participant of a span that WriteSpans wrote, "" without one.
func (t *spanConverter) ownParticipant(s *span) string {
	kind := s.text(transcripts.AttrKind)
	if kind != transcripts.KindAgent && kind != transcripts.KindHuman && kind != transcripts.KindTool {
		at, ok := s.attrs[transcripts.AttrKind]
		if !ok {
			at = s.v
		}
		at.fail("the kind must be agent, human or tool")
		return ""
	}
	name := s.text("gen_ai.agent.name")
	return t.participant(cmp.Or(s.text("gen_ai.agent.id"), name), name, kind, "")
}

// ownSpan adds a span that WriteSpans wrote. Its moot attributes state all
// fields, so nothing is inferred.
func (t *spanConverter) ownSpan(s *span) {
	if shown := s.text(transcripts.AttrShown); shown == "hidden" || shown == "redacted" {
		t.leaveOut("message hidden by the export (" + shown + ")")
		return
	}
	p := piece{speaker: t.ownParticipant(s), seconds: s.clock()}
	switch {
	case s.v.failed() != nil:
		return
	case p.speaker == "":
		t.leaveOut("message without a speaker")
		return
	}
	if to, ok := s.attrs[transcripts.AttrTo]; ok {
		for v := range to.get("arrayValue").get("values").items() {
			p.to = append(p.to, v.get("stringValue").text())
		}
	}
	if s.text(transcripts.AttrVisibility) == string(room.Internal) {
		p.channel = channelThought
	}
	if kind := s.text(transcripts.AttrMessageKind); transcripts.ValidKind(kind) {
		p.sent = sent{kind, truncate(s.text(transcripts.AttrMessageID), transcripts.MaxMessageID), truncate(s.text(transcripts.AttrCorrelation), transcripts.MaxMessageID)}
	}
	if at := s.endTime(); at.Year() > 1970 { // otherwise it is the room clock, which has no date
		p.at = at
	}
	var texts []string
	for _, m := range s.messages("gen_ai.output.messages", "gen_ai.completion") {
		for part := range m.get("parts").items() {
			texts = append(texts, part.get("content").maybeText())
		}
	}
	if p.text = strings.Join(texts, "\n"); s.v.failed() != nil {
		return
	}
	first := len(t.c.Turns)
	t.addTurn(p)
	t.state("", first, s.usage())
}
