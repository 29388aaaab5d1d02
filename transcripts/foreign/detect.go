package foreign

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// isMoot reports whether package transcripts reads a file that starts with
// head: the header of the portable format, an event, or an object with a key
// that only the neutral format has. It also gets empty files, because its error
// for them is better.
func isMoot(head []byte) bool {
	head = bytes.TrimSpace(head)
	if len(head) == 0 || bytes.HasPrefix(head, []byte(`{"moot_transcript"`)) || eventStart.Match(head) {
		return true
	}
	return slices.ContainsFunc(topLevelKeys(head), func(key string) bool { return key == "participants" || key == "turns" || key == "decisions" })
}

// eventStart matches the first event of a room.
var eventStart = regexp.MustCompile(`^\{"v":\d+,"seq":1,`)

// topLevelKeys returns the keys of the object that head starts, up to its end.
func topLevelKeys(head []byte) (all []string) {
	dec := jsontext.NewDecoder(bytes.NewReader(head), tolerant, jsontext.AllowDuplicateNames(true))
	for {
		token, err := dec.ReadToken()
		if err != nil || dec.StackDepth() == 0 {
			return all
		}
		if kind, n := dec.StackIndex(dec.StackDepth()); dec.StackDepth() == 1 && kind == '{' && n%2 == 1 {
			all = append(all, token.String())
		}
	}
}

// detect detects the format of a file from its content.
func detect(in *input) (Format, error) {
	raw := bytes.TrimSpace(in.raw)
	switch {
	case isZip(raw) && isInspectZip(in.raw):
		return Inspect, nil
	case isZip(raw):
		return Slack, nil
	case len(raw) > 0 && raw[0] == '{', len(raw) > 1 && raw[0] == '[' && strings.IndexByte("{[\"]", bytes.TrimSpace(raw[1:])[0]) >= 0:
		if err := in.parse(); err != nil {
			return "", err
		}
		return in.detectDocuments()
	case bytes.HasPrefix(raw, []byte("WEBVTT")):
		return WebVTT, nil
	case srtStart.Match(raw):
		return SRT, nil
	case looksIRC(raw):
		return IRC, nil
	case bytes.Contains(raw, []byte("\n{")) && in.mostlyLines():
		return in.detectDocuments()
	case bytes.IndexByte(raw, 0) >= 0:
		return "", formatError(in.name, "binary data")
	}
	return "", formatError(in.name, "neither JSON, captions, an IRC log nor a zip")
}

// isZip reports whether a file is a zip.
func isZip(raw []byte) bool {
	return bytes.HasPrefix(raw, []byte("PK\x03\x04")) || bytes.HasPrefix(raw, []byte("PK\x05\x06"))
}

var srtStart = regexp.MustCompile(`^\d+[ \t]*\r?\n\d{1,2}:\d\d:\d\d[,.]\d{1,3} *--> *\d{1,2}:\d\d:\d\d[,.]\d{1,3}`)

// detectLines is how many lines of a file say what it is. The first ones may be odd.
const detectLines = 20

// detectDocuments detects the format of JSON, or of JSON lines.
func (in *input) detectDocuments() (Format, error) {
	f, first := detectJSON(in.name, in.docs[0])
	for i := 1; first != nil && !in.strict && i < min(len(in.docs), detectLines); i++ {
		if f, err := detectJSON(in.name, in.docs[i]); err == nil {
			return f, nil
		}
	}
	return f, first
}

// detectJSON detects the format from a document.
func detectJSON(name string, v value) (Format, error) {
	switch v.kind() {
	case '[':
		return detectList(name, v)
	case '{':
	default:
		return "", formatError(name, "JSON, but neither an object nor an array")
	}
	switch {
	case v.has("resourceSpans"), v.get("batches").kind() == '[', v.get("trace").has("resourceSpans"), jaegerTrace(v.get("data")):
		return OTel, nil
	case v.has("agent_states"), v.has("message_thread"), v.get("llm_context").has("messages"):
		return AutoGenState, nil
	case v.get("info").kind() == '{' && v.get("messages").kind() == '[':
		return OpenCode, nil
	case v.has("payload") && v.has("type"), oldCodexHead(v), oldCodexLine(v):
		return Codex, nil
	case isLangRun(v), isLangRun(firstOf(v.get("runs"))):
		return LangSmith, nil
	case v.has("eval") && v.get("samples").kind() == '[':
		return Inspect, nil
	case v.get("channel").kind() == '{' && v.get("messages").kind() == '[' && v.has("guild"):
		return Discord, nil
	case isMatrixEvent(v), isMatrixEvent(firstOf(matrixEvents(v))), v.has("room_name") && v.get("messages").kind() == '[':
		return Matrix, nil
	case qwenLine(v):
		return Qwen, nil
	case v.has("sessionId") && v.has("projectHash"):
		return Gemini, nil
	case claudeLine(v), claudeLines(v.get("loglines")):
		return ClaudeCode, nil
	case isTask(unwrapTask(v)):
		return A2A, nil
	}
	if list := messageList(v); list.kind() == '[' {
		return detectList(name, list)
	}
	if v.get("role").maybeText() == hermesMeta {
		return Hermes, nil
	}
	if v.has("role") && v.has("content") {
		return OpenAI, nil // one message a line
	}
	var all []string
	for key := range v.members() {
		all = append(all, truncate(clean(key), 40))
	}
	return "", formatError(name, "a JSON object with the keys "+truncate(strings.Join(all, ", "), 200))
}

// firstOf returns the first item of a list.
func firstOf(list value) value {
	for item := range list.itemsOf() {
		return item
	}
	return value{nil, list.at}
}

// jaegerTrace reports whether v are traces of Jaeger.
func jaegerTrace(v value) bool {
	for trace := range v.itemsOf() {
		return trace.has("traceID") && trace.has("spans")
	}
	return false
}

// claudeLines reports whether v are lines of a Claude Code session.
func claudeLines(v value) bool {
	for line := range v.itemsOf() {
		return line.has("type")
	}
	return false
}

// detectList detects the format of a list of messages.
func detectList(name string, list value) (Format, error) {
	chat, routed, odd, named, plain := 0, false, 0, 0, 0
	for m := range list.items() {
		if inner := messageList(m); m.kind() == '{' && inner.kind() == '[' && !m.has("role") && !isTask(unwrapTask(m)) {
			return detectList(name, inner) // an array of conversations
		}
		switch {
		case m.kind() != '{':
			return "", formatError(name, "a JSON array, but not of objects")
		case m.has("resourceSpans"):
			return OTel, nil
		case isLangRun(m):
			return LangSmith, nil
		case isMatrixEvent(m):
			return Matrix, nil
		case isTask(unwrapTask(m)), m.has("messageId") && m.has("parts"):
			return A2A, nil
		case m.get("source").kind() == '"' && !m.has("role"):
			return AutoGenState, nil
		case m.get("role").kind() != '"':
			return "", formatError(name, "a JSON array of objects that are not messages with a role")
		case m.get("role").maybeText() == hermesMeta:
			return Hermes, nil
		case !chatRoles[m.get("role").maybeText()]:
			odd++
			routed = routed || magenticRole(m.get("role").maybeText())
			continue
		}
		chat++
		switch role := m.get("role").maybeText(); {
		case m.get("name").kind() == '"' && m.get("name").maybeText() != "":
			named++
		case role == "user" || role == "assistant":
			plain++
		}
	}
	switch {
	case routed, odd > 0 && chat == 0:
		return MagenticOne, nil
	case chat == 0:
		return "", formatError(name, "an empty JSON array")
	case named > 0 && plain == 0:
		return AutoGen, nil
	}
	return OpenAI, nil
}

// chatRoles are the roles of chat messages.
var chatRoles = map[string]bool{"system": true, "developer": true, "user": true, "assistant": true, "tool": true, "function": true}
