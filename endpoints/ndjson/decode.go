package ndjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/strict"
)

// A piece is what a line of an agent's output turned out to be.
type piece struct {
	typ  string // type of the frame; "" for noise
	raw  []byte // the frame
	blot bool   // noise stood before the frame, or is all there is
	err  error  // a frame that cannot be decoded
}

var ansi = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])`)

var bom = []byte("\xef\xbb\xbf")

// marks are what a frame, or a piece of one, is known by. A broken line with
// none of them is noise.
var marks = [][]byte{[]byte(`"desktop.`), []byte(`"request_id"`), []byte(`"draft_message"`)}

func marked(line []byte) bool {
	return slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Contains(line, m) })
}

// read finds the frame in a line. The second result is false for a blank line.
func read(line []byte) (piece, bool) {
	if bytes.IndexByte(line, 0x1b) >= 0 {
		line = ansi.ReplaceAll(line, nil)
	}
	line = bytes.TrimPrefix(bytes.Trim(line, "\x00\r\n\t "), bom)
	line = bytes.Trim(line, "\x00\r\n\t ")
	if len(line) == 0 {
		return piece{}, false
	}
	start := bytes.IndexByte(line, '{')
	if start < 0 || !marked(line) {
		return piece{blot: true}, true
	}
	// What stands before a frame may hold braces of its own.
	for at, tries := start, 1; ; tries++ {
		typ, err := frameType(line[at:])
		if err == nil {
			return piece{typ: typ, raw: line[at:], blot: typ == "" || at > 0}, true
		}
		next := bytes.Index(line[at+1:], []byte(`{"`))
		if next < 0 || tries == maxTries {
			return piece{raw: line[start:], err: err, blot: start > 0}, true
		}
		at += 1 + next
	}
}

// maxTries bounds how often a line is looked through for a frame.
const maxTries = 8

// maxDepth bounds the nesting of a frame's values.
const maxDepth = 16

// replyKeys are the keys that the frames of an agent have, as JSON pointers.
var replyKeys = []string{
	"/type", "/request_id", "/status", "/draft_message", "/reason", "/metrics", "/outcome", "/usage",
	"/confidence", "/tool_rounds", "/bid", "/message_id", "/call_id", "/to", "/text",
	"/metrics/latency_ms", "/usage/input_tokens", "/usage/output_tokens",
}

// frameType checks a frame and returns its type: "" for JSON of another kind.
func frameType(b []byte) (string, error) {
	if err := strict.Check(b, maxDepth, replyKeys); err != nil {
		return "", err
	}
	var head struct {
		Type json.RawMessage `json:"type"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return "", err
	}
	var typ string
	if json.Unmarshal(head.Type, &typ) != nil || !strings.HasPrefix(typ, "desktop.") {
		return "", nil
	}
	return typ, nil
}

// Bounds on numbers that an agent states of itself.
const (
	maxTokens  = 1_000_000_000_000
	maxLatency = 1e10 // ms; 115 days
	maxReason  = 4000 // runes
)

// reply turns a response into the result of p, or says which rule it breaks.
// An agent's own report of an error is no breach: its fault has no rule.
func reply(r response, p endpoint.Prompt) (endpoint.Reply, *fault) {
	if f := r.unfit(p); f != nil {
		return endpoint.Reply{}, f
	}
	out := endpoint.Reply{Text: r.Draft, Reason: endpoint.CleanLine(r.Reason, maxReason), Confidence: r.Confidence, ToolRounds: r.ToolRounds}
	if r.Usage != nil {
		out.Usage = endpoint.Usage{Known: true, Input: r.Usage.Input, Output: r.Usage.Output}
	}
	switch {
	case r.Status == "error":
		return endpoint.Reply{Usage: out.Usage}, faultf("", endpoint.ErrAgent, "%s", or(out.Reason, "no reason given"))
	case r.Type == typeBidReply && (r.Status == "" || r.Status == "ok"):
		out.Text, out.Outcome, out.Bid = "", endpoint.Passed, r.Bid
		return out, nil
	case r.Status != "ok":
		return endpoint.Reply{}, faultf("bad_status", endpoint.ErrProtocol, "status is %s, not ok or error", brief(r.Status))
	case p.Kind == endpoint.Bid: // an agent of the note takes a bid for a prompt
		return endpoint.Reply{Outcome: endpoint.Passed, Usage: out.Usage}, nil
	}
	return r.settle(out, p)
}

// settle decides the outcome of a turn.
func (r response) settle(out endpoint.Reply, p endpoint.Prompt) (endpoint.Reply, *fault) {
	switch n := utf8.RuneCountInString(r.Draft); {
	case n > p.MaxOutputChars:
		return endpoint.Reply{Usage: out.Usage}, faultf("too_large", endpoint.ErrTooLarge, "%d characters, and the limit is %d", n, p.MaxOutputChars)
	case r.ToolRounds > 0 && !p.AllowToolUse:
		return endpoint.Reply{Usage: out.Usage}, faultf("tool_rounds", endpoint.ErrProtocol, "tools were used, which is not allowed")
	case r.ToolRounds > p.MaxToolRounds:
		return endpoint.Reply{Usage: out.Usage}, faultf("tool_rounds", endpoint.ErrProtocol, "%d tool rounds, and the limit is %d", r.ToolRounds, p.MaxToolRounds)
	}
	blank := strings.TrimSpace(r.Draft) == ""
	switch r.Outcome {
	case endpoint.Passed:
		out.Outcome, out.Text = endpoint.Passed, ""
	case endpoint.Refused:
		out.Outcome, out.Text, out.Reason = endpoint.Refused, "", or(out.Reason, endpoint.CleanLine(r.Draft, maxReason))
	case endpoint.Said, "":
		out.Outcome = endpoint.Said
		if blank {
			out.Outcome, out.Text = endpoint.Passed, ""
		}
	default:
		return endpoint.Reply{Usage: out.Usage}, faultf("bad_outcome", endpoint.ErrProtocol, "outcome is %s, not said, passed or refused", brief(r.Outcome))
	}
	return out, nil
}

// unfit refuses numbers that would corrupt sums, and bids where none was asked
// for. JSON has no NaN, and what overflows does not decode.
func (r response) unfit(p endpoint.Prompt) *fault {
	bad := func(what string) *fault {
		return faultf("bad_metrics", endpoint.ErrProtocol, "%s is out of range", what)
	}
	switch {
	case r.Metrics != nil && (r.Metrics.LatencyMS < 0 || r.Metrics.LatencyMS > maxLatency):
		return bad("latency_ms")
	case r.Usage != nil && (r.Usage.Input < 0 || r.Usage.Input > maxTokens):
		return bad("input_tokens")
	case r.Usage != nil && (r.Usage.Output < 0 || r.Usage.Output > maxTokens):
		return bad("output_tokens")
	case r.Confidence != nil && (*r.Confidence < 0 || *r.Confidence > 1):
		return bad("confidence")
	case r.Bid != nil && (*r.Bid < 0 || *r.Bid > 1):
		return bad("bid")
	case r.ToolRounds < 0:
		return bad("tool_rounds")
	case r.Type == typeBidReply && p.Kind != endpoint.Bid:
		return faultf("wrong_type", endpoint.ErrProtocol, "a bid answers a prompt")
	case r.Type == typeBidReply && r.Bid == nil && r.Status != "error":
		return faultf("bad_metrics", endpoint.ErrProtocol, "no bid is stated")
	}
	return nil
}

// responseOf decodes a response. Its id is filled in when the rest is wrong.
func responseOf(raw []byte) (response, error) {
	var id struct {
		RequestID json.RawMessage `json:"request_id"`
	}
	var r response
	if err := json.Unmarshal(raw, &id); err != nil {
		return r, err
	}
	if json.Unmarshal(id.RequestID, &r.RequestID) != nil {
		return r, errors.New("request_id is not a string")
	}
	known := r.RequestID
	if err := json.Unmarshal(raw, &r); err != nil {
		return response{RequestID: known}, err
	}
	return r, nil
}

// mismatch words a decoding error for authors of agents in any language.
func mismatch(err error) string {
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) {
		return te.Field + " is a " + te.Value + ", which does not fit"
	}
	return err.Error()
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// brief quotes something foreign within a sentence.
func brief(s string) string { return fmt.Sprintf("%q", endpoint.CleanLine(s, 80)) }
