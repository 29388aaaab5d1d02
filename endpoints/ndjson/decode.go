package ndjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/spawn"
	"github.com/folkmoot/moot/internal/strict"
)

// A line of an agent is read in three passes at most: strict.Check finds
// malformed JSON, the head has the type and the request id, and the frame of
// that type is decoded by responseOf or sideMessageOf.

// A frame is the frame in a line of an agent's output, not yet decoded.
type frame struct {
	typ       string // "" when the line has no frame
	requestID json.RawMessage
	raw       []byte
	noise     bool  // the line has text before the frame, or no frame
	err       error // the frame is malformed
}

// marks identify a frame, or a part of one. A malformed line without any is
// noise.
var marks = [][]byte{[]byte(`"desktop.`), []byte(`"request_id"`), []byte(`"draft_message"`)}

func hasMark(line []byte) bool {
	return slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Contains(line, m) })
}

// maxTries bounds how many braces of a line are tried as the start of a frame.
const maxTries = 8

// findFrame finds the frame in a line. ok is false for a blank line.
func findFrame(line []byte) (f frame, ok bool) {
	line = spawn.TrimLine(line)
	if len(line) == 0 {
		return frame{}, false
	}
	start := bytes.IndexByte(line, '{')
	if start < 0 || !hasMark(line) {
		return frame{noise: true}, true
	}
	for at, tries := start, 1; ; tries++ { // text before a frame may have braces too
		f, err := headOf(line[at:])
		if err == nil {
			f.noise = f.typ == "" || at > 0
			return f, true
		}
		next := bytes.Index(line[at+1:], []byte(`{"`))
		if next < 0 || tries == maxTries {
			return frame{raw: line[start:], err: err, noise: start > 0}, true
		}
		at += 1 + next
	}
}

// maxDepth bounds the nesting of a frame's values.
const maxDepth = 16

// replyKeys are the keys of the frames of an agent, as JSON pointers.
var replyKeys = []string{
	"/type", "/request_id", "/status", "/draft_message", "/reason", "/metrics", "/outcome", "/usage",
	"/confidence", "/tool_rounds", "/bid", "/message_id", "/call_id", "/to", "/text",
	"/summary", "/payload", "/priority", "/requires_ack", "/correlation_id", "/parent_id", "/thread_id", "/visibility", "/notify",
	"/message_ids", "/task", "/calls", "/agent_name",
	"/permission_id", "/kind", "/title", "/command", "/argv", "/paths", "/detail", "/always",
	"/metrics/latency_ms", "/usage/input_tokens", "/usage/output_tokens",
	"/usage/cached_input_tokens", "/usage/reasoning_tokens", "/usage/cost_usd",
	"/handoff", "/handoff/to", "/handoff/reason",
}

// headOf checks a frame and reads its head. The type is "" for JSON that is no
// frame.
func headOf(b []byte) (frame, error) {
	if err := strict.Check(b, maxDepth, replyKeys); err != nil {
		return frame{}, err
	}
	var head struct {
		Type      json.RawMessage `json:"type"`
		RequestID json.RawMessage `json:"request_id"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return frame{}, err
	}
	f := frame{requestID: head.RequestID, raw: b}
	if json.Unmarshal(head.Type, &f.typ) != nil || !strings.HasPrefix(f.typ, "desktop.") {
		f.typ = ""
	}
	return f, nil
}

// responseOf decodes a response. Its request id is set even if the rest is
// wrong.
func responseOf(f frame) (response, error) {
	var id string
	if json.Unmarshal(f.requestID, &id) != nil {
		return response{}, errors.New("request_id is not a string")
	}
	var r response
	if err := json.Unmarshal(f.raw, &r); err != nil {
		return response{RequestID: id}, err
	}
	return r, nil
}

// describe words a decoding error for authors of agents in any language.
func describe(err error) string {
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) {
		return strings.TrimPrefix(te.Field, "Post.") + " is a " + te.Value + ", which does not fit"
	}
	return err.Error()
}
