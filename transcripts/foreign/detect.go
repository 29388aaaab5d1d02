package foreign

import (
	"bytes"
	"regexp"
	"strings"
)

// ours reports whether a file that starts like head is for package
// transcripts: an object with the first key of the portable form, an event, or
// an object with a key that only the neutral form has. An empty file is, for the message
// that it gives.
func ours(head []byte) bool {
	head = bytes.TrimSpace(head)
	if len(head) == 0 || bytes.HasPrefix(head, []byte(`{"moot_transcript"`)) || eventStart.Match(head) {
		return true
	}
	for _, key := range keys(head) {
		if key == "participants" || key == "turns" {
			return true
		}
	}
	return false
}

// eventStart is how the first event of a room begins.
var eventStart = regexp.MustCompile(`^\{"v":\d+,"seq":1,`)

// keys returns the keys of the object that head starts, as far as it goes.
func keys(head []byte) (all []string) {
	if head[0] != '{' {
		return nil
	}
	depth, key := 0, true
	for i := 0; i < len(head); i++ {
		switch head[i] {
		case '{', '[':
			depth++
			key = true
		case '}', ']':
			if depth--; depth == 0 {
				return all
			}
		case ',':
			key = true
		case ':':
			key = false
		case '"':
			end := i + 1
			for end < len(head) && head[end] != '"' {
				if head[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(head) {
				return all
			}
			if depth == 1 && key {
				all = append(all, string(head[i+1:end]))
			}
			i = end
		}
	}
	return all
}

// guess learns the form from what a file holds.
func guess(in *input) (Format, error) {
	raw := bytes.TrimSpace(in.raw)
	switch {
	case bytes.HasPrefix(raw, []byte("PK\x03\x04")), bytes.HasPrefix(raw, []byte("PK\x05\x06")):
		return Slack, nil
	case len(raw) > 0 && raw[0] == '{', len(raw) > 1 && raw[0] == '[' && strings.IndexByte("{[\"]", bytes.TrimSpace(raw[1:])[0]) >= 0:
		docs, err := documents(in.raw, in.name)
		if err != nil {
			return "", err
		}
		in.docs = docs
		return guessJSON(in.name, docs[0])
	case bytes.HasPrefix(raw, []byte("WEBVTT")):
		return WebVTT, nil
	case srtStart.Match(raw):
		return SRT, nil
	case looksIRC(raw):
		return IRC, nil
	case bytes.IndexByte(raw, 0) >= 0:
		return "", unknown(in.name, "it is no text")
	}
	return "", unknown(in.name, "it is neither JSON, nor captions, nor a log of IRC, nor a zip")
}

var srtStart = regexp.MustCompile(`^\d+[ \t]*\r?\n\d{1,2}:\d\d:\d\d[,.]\d{1,3} *--> *\d{1,2}:\d\d:\d\d[,.]\d{1,3}`)

// documents returns the JSON of a file: the whole of it, or its lines.
func documents(raw []byte, name string) ([]value, error) {
	trimmed := bytes.TrimSpace(raw)
	first, rest, _ := bytes.Cut(trimmed, []byte("\n"))
	if len(bytes.TrimSpace(rest)) == 0 || !complete(first) {
		v, err := parse(raw, name, 0)
		return []value{v}, err
	}
	var docs []value
	n := 0
	for line := range bytes.SplitSeq(raw, []byte("\n")) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := parse(line, name, n)
		if err != nil {
			return nil, err
		}
		docs = append(docs, v)
	}
	return docs, nil
}

// complete reports whether a line is JSON by itself, an object.
func complete(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	_, err := parse(line, "", 1)
	return err == nil || bytes.HasSuffix(line, []byte("}")) && balanced(line)
}

// balanced reports whether brackets outside strings match, so that a line
// with a fault in it still counts as one, and the fault is named.
func balanced(line []byte) bool {
	depth := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			for i++; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return depth == 0
}

// guessJSON looks at the first document.
func guessJSON(name string, v value) (Format, error) {
	switch v.kind() {
	case '[':
		return guessList(name, v)
	case '{':
	default:
		return "", unknown(name, "it is JSON, but neither an object nor an array")
	}
	switch {
	case v.has("resourceSpans"):
		return OTel, nil
	case v.has("agent_states"), v.has("message_thread"):
		return AutoGenState, nil
	case v.get("info").kind() == '{' && v.get("messages").kind() == '[':
		return OpenCode, nil
	case v.has("payload") && v.has("type"):
		return Codex, nil
	case claudeLine(v):
		return ClaudeCode, nil
	case isTask(unwrapped(v)):
		return A2A, nil
	}
	if list := listed(v); list.kind() == '[' {
		return guessList(name, list)
	}
	if v.has("role") && v.has("content") {
		return OpenAI, nil // one message a line
	}
	var all []string
	for key := range v.members() {
		all = append(all, cut(clean(key), 40))
	}
	return "", unknown(name, "it is a JSON object with the keys "+cut(strings.Join(all, ", "), 200))
}

// listed returns the messages of an object that wraps them.
func listed(v value) value {
	for _, key := range []string{"history", "chat_history", "messages"} {
		if m := v.get(key); m.kind() == '[' {
			return m
		}
	}
	return value{nil, v.at}
}

// guessList tells lists of messages apart.
func guessList(name string, list value) (Format, error) {
	chat, named, plain := false, 0, 0
	for m := range list.items() {
		switch {
		case m.kind() != '{':
			return "", unknown(name, "it is a JSON array of something else than objects")
		case m.has("resourceSpans"):
			return OTel, nil
		case isTask(unwrapped(m)), m.has("messageId") && m.has("parts"):
			return A2A, nil
		case m.get("source").kind() == '"' && !m.has("role"):
			return AutoGenState, nil
		case m.get("role").kind() != '"':
			return "", unknown(name, "it is a JSON array of objects, but not of messages with a role")
		case !chatRoles[m.get("role").word()]:
			return MagenticOne, nil
		}
		chat = true
		switch role := m.get("role").word(); {
		case m.get("name").kind() == '"' && m.get("name").word() != "":
			named++
		case role == "user" || role == "assistant":
			plain++
		}
	}
	switch {
	case !chat:
		return "", unknown(name, "it is an empty JSON array")
	case named > 0 && plain == 0:
		return AutoGen, nil
	}
	return OpenAI, nil
}

// chatRoles are those of chat messages.
var chatRoles = map[string]bool{"system": true, "developer": true, "user": true, "assistant": true, "tool": true, "function": true}
