package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// A dialect is one vendor's API.
type dialect struct {
	name   string
	paths  []string // what its paths end with
	named  bool     // events of its streams have names
	lines  bool     // its streams are lines of JSON instead of server-sent events
	decode func(path string, body []byte, req *Request) error
	whole  func(req Request, reply Reply) any
	stream func(out *stream, req Request, reply Reply)
	fail   func(w http.ResponseWriter, status int, why string)
}

var dialects = []dialect{
	{name: "chat", paths: []string{"/chat/completions"}, decode: decodeChat, whole: chatWhole, stream: chatStream, fail: failOpenAI},
	{name: "responses", paths: []string{"/responses"}, named: true, decode: decodeResponses, whole: responsesWhole, stream: responsesStream, fail: failOpenAI},
	{name: "messages", paths: []string{"/v1/messages"}, named: true, decode: decodeMessages, whole: messagesWhole, stream: messagesStream, fail: failAnthropic},
	{name: "gemini", paths: []string{":generateContent", ":streamGenerateContent"}, decode: decodeGemini, whole: geminiWhole, stream: geminiStream, fail: failGemini},
	{name: "ollama", paths: []string{"/api/chat"}, lines: true, decode: decodeOllama, whole: ollamaWhole, stream: ollamaStream, fail: failOllama},
}

// dialectOf finds the API of a path, and the seat that the path begins with.
func dialectOf(path string) (seat string, d dialect, ok bool) {
	for _, d := range dialects {
		for _, end := range d.paths {
			if strings.HasSuffix(path, end) {
				return seatOf(path), d, true
			}
		}
	}
	return "", dialect{}, false
}

// seatOf returns the first part of a path, unless it belongs to the API.
func seatOf(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "v1", "v1beta", "api", "chat", "responses", "models":
		return ""
	}
	return first
}

// A stream writes the events of one streamed answer. After its first error it
// writes nothing more.
type stream struct {
	w            http.ResponseWriter
	reply        Reply
	left         <-chan struct{} // closed when the client leaves
	named, lines bool
	n            int // events so far
	err          error
}

func (s *stream) begin() {
	kind := "text/event-stream"
	if s.lines {
		kind = "application/x-ndjson"
	}
	s.w.Header().Set("Content-Type", kind)
	s.w.Header().Set("Cache-Control", "no-cache")
}

// send writes one event. Its type is its name where the dialect names events.
func (s *stream) send(v map[string]any) {
	b, _ := json.Marshal(v) // maps of strings and numbers
	switch {
	case s.lines:
		s.write("%s\n", b)
	case s.named:
		s.write("event: %s\ndata: %s\n\n", v["type"], b)
	default:
		s.write("data: %s\n\n", b)
	}
}

func (s *stream) write(format string, args ...any) {
	if s.err != nil {
		return
	}
	if _, err := fmt.Fprintf(s.w, format, args...); err != nil {
		s.err = errLeft
		return
	}
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
	s.n++
}

// pieces calls send for each piece of the text. A reply that is cut or held
// ends or waits behind the first one.
func (s *stream) pieces(send func(piece string)) {
	for i, p := range split(s.reply.Text, 8) {
		if s.err != nil {
			return
		}
		send(p)
		if i == 0 && s.err == nil {
			s.err = s.pause()
		}
	}
}

// pause carries out Cut and Hold.
func (s *stream) pause() error {
	switch {
	case s.reply.Cut:
		return errCut
	case s.reply.Hold:
		<-s.left
		return errLeft
	}
	return nil
}

// split cuts a text into pieces of n runes: at least one.
func split(text string, n int) []string {
	out := []string{}
	r := []rune(text)
	for len(r) > n {
		out, r = append(out, string(r[:n])), r[n:]
	}
	return append(out, string(r))
}

// parts is the text of a message, which is a string or a list of parts.
type parts struct {
	text    string
	results []string // of tools, among the parts
}

// UnmarshalJSON accepts a string and a list of objects; anything else is an
// empty text, for vendors add kinds of parts.
func (p *parts) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &p.text) == nil {
		return nil
	}
	var list []struct {
		Type    string
		Text    string
		Content json.RawMessage
	}
	if json.Unmarshal(b, &list) != nil {
		return nil
	}
	var texts []string
	for _, e := range list {
		if e.Type == "tool_result" {
			var inner parts
			_ = inner.UnmarshalJSON(e.Content) // never fails
			p.results = append(p.results, inner.text)
			continue
		}
		texts = append(texts, e.Text)
	}
	p.text = strings.Join(texts, "\n")
	return nil
}
