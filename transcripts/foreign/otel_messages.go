package foreign

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// A speech tells one conversation of spans. Each span of a model repeats all
// that was said before as its input, so of each message that is known as
// often as it stands in an input nothing is taken; every agent of a
// conversation hears the others as user, so roles do not count.
type speech struct {
	*talk
	made  calls
	known map[string]int // messages that were taken, by what they hold
}

// tell takes the spans of a conversation. Those around others come after
// them, for what they hold is mostly what the inner ones held.
func (t *speech) tell(spans []*span) {
	seen := map[string]bool{}
	for _, around := range []bool{false, true} {
		for _, s := range spans {
			if s.inner != around {
				continue
			}
			id := s.v.get("traceId").text() + "/" + s.id
			if s.id != "" && seen[id] {
				t.leave("span that is there twice")
				continue
			}
			seen[id] = true
			t.span(s)
			if s.v.failed() != nil {
				return
			}
		}
	}
}

func (t *speech) span(s *span) {
	switch {
	case s.own():
		t.exported(s)
	case s.speaks():
		here := map[string]int{}
		for _, m := range s.messages("gen_ai.input.messages", "gen_ai.prompt") {
			t.message(s, m, here, nanos(s.start), true)
		}
		for _, m := range s.messages("gen_ai.output.messages", "gen_ai.completion") {
			t.message(s, m, here, s.when(), s.inner)
		}
	case s.text("gen_ai.operation.name") == "execute_tool" || s.text("gen_ai.tool.name") != "":
		t.ran(s)
	default:
		if t.objective == "" {
			t.objective = s.text(transcripts.AttrObjective)
		}
		t.leave("span without messages (" + orPlain(s.text("gen_ai.operation.name")) + ")")
	}
}

// messages returns those of an attribute, which is a JSON text, or the same as
// a value of OTLP; or of the older numbered attributes, key.0.role and so on.
func (s *span) messages(key, older string) []value {
	for _, k := range []string{key, older} {
		a, ok := s.attrs[k]
		if !ok {
			continue
		}
		list := embedded(a)
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
		raw, err := json.Marshal(map[string]string{"role": s.text(prefix + "role"), "content": text.get("stringValue").word()})
		if err != nil {
			return all
		}
		all = append(all, value{raw, text.at})
	}
}

// embedded returns the JSON that an attribute holds.
func embedded(a value) value {
	if text := a.get("stringValue"); text.kind() == '"' {
		v, err := parse([]byte(text.text()), text.at.String(), 0)
		if err != nil {
			if !strings.HasPrefix(strings.TrimLeft(text.text(), " \n"), "[") {
				return text // an emitter that puts the plain text there
			}
			if d := text.at.document(); d.err == nil {
				d.err = err
			}
			return value{nil, text.at}
		}
		v.at = &place{up: text.at, key: "(text)"}
		return v
	}
	raw, err := json.Marshal(plain(a, 0))
	if err != nil {
		return value{nil, a.at}
	}
	return value{raw, a.at}
}

// plain turns a value of OTLP into the JSON that it stands for.
func plain(a value, depth int) any {
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
				all = append(all, plain(item, depth+1))
			}
			return all
		case "kvlistValue":
			all := map[string]any{}
			for pair := range v.get("values").items() {
				all[pair.get("key").word()] = plain(pair.get("value"), depth+1)
			}
			return all
		}
	}
	return nil
}

// message takes a message: {role, parts: [{type: text, content}, {type:
// tool_call, id, name, arguments}, {type: tool_call_response, id, response}]}
// or the older {role, content}.
func (t *speech) message(s *span, m value, here map[string]int, at time.Time, repeats bool) {
	if m.kind() == '"' {
		t.part(s, "user", "", m, "text "+m.text(), here, at, repeats)
		return
	}
	role, name := m.get("role").word(), m.get("name").word()
	parts := m.get("parts")
	switch {
	case role == "system" || role == "developer":
		t.leave("instructions of the role " + role)
	case parts.kind() == '[':
		for part := range parts.items() {
			t.part(s, role, name, part, keyOf(part), here, at, repeats)
		}
	default:
		text := m.get("content")
		if text.kind() != '"' {
			t.leave("message without a text")
			return
		}
		t.part(s, role, name, text, "text "+text.text(), here, at, repeats)
	}
}

// keyOf says what a part holds, for finding it again. Calls and answers have
// ids; some emitters write their contents otherwise the second time.
func keyOf(part value) string {
	kind := part.get("type").word()
	if id := part.get("id").word(); id != "" && strings.HasPrefix(kind, "tool_call") {
		return kind + " " + id
	}
	return kind + " " + firstText(part)
}

func firstText(part value) string {
	for _, key := range []string{"content", "text", "response", "result"} {
		if v := part.get(key); v.kind() == '"' {
			return v.text()
		}
	}
	return part.compact()
}

// part takes one part of a message.
func (t *speech) part(s *span, role, name string, part value, key string, here map[string]int, at time.Time, repeats bool) {
	here[key]++
	if repeats && here[key] <= t.known[key] {
		t.leave("repeated by a later span")
		return
	}
	t.known[key] = max(t.known[key]+1, here[key])
	p := piece{at: at, id: fmt.Sprintf("%s %s", s.id, role)}
	switch kind := part.get("type").word(); {
	case kind == "tool_call":
		p.id = ""
		t.call(t.speaker(s, "assistant", name), part.need("name").text(), arguments(part.get("arguments")), part.get("id").word(), t.made, p)
	case kind == "tool_call_response":
		p.id = ""
		t.answer(t.made[part.get("id").word()], firstText(part), p)
	case kind == "text", kind == "reasoning", part.kind() == '"':
		t.text(s, role, name, kind, part, p)
	default:
		t.leave("part that is no text (" + orPlain(kind) + ")")
	}
}

func (t *speech) text(s *span, role, name, kind string, part value, p piece) {
	if p.text = part.word(); part.kind() == '{' {
		p.text = firstText(part)
	}
	if strings.TrimSpace(p.text) == "" {
		t.leave("message without a text")
		return
	}
	if role == "tool" {
		t.answer(madeCall{tool: name}, p.text, p)
		return
	}
	p.speaker = t.speaker(s, role, name)
	if kind == "reasoning" {
		p.channel = thought
	}
	t.say(p)
}

// speaker seats who says something in a span.
func (t *speech) speaker(s *span, role, name string) string {
	if role == "user" {
		if name == "" {
			name = role
		}
		return t.seat(name, "", transcripts.KindHuman, "")
	}
	id, label := s.agent()
	switch {
	case name != "":
		id, label = name, ""
	case id == "":
		id = "assistant"
	}
	return t.seat(id, label, transcripts.KindAgent, "")
}

// ran takes a span in which a tool ran, which may hold its answer.
func (t *speech) ran(s *span) {
	id, name := s.text("gen_ai.tool.call.id"), s.text("gen_ai.tool.name")
	result, ok := s.attrs["gen_ai.tool.call.result"]
	key := "tool_call_response " + id
	switch {
	case !ok:
		t.leave("span of a tool without its answer")
	case id != "" && t.known[key] > 0:
		t.leave("repeated by a later span")
	default:
		if id != "" {
			t.known[key]++
		}
		call := t.made[id]
		if call.tool == "" {
			call.tool = name
		}
		text := result.get("stringValue").word()
		if text == "" {
			text = embedded(result).compact()
		}
		t.answer(call, text, piece{at: s.when()})
	}
}
