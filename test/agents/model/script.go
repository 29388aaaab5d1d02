package model

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// directive is an order to the model in a message of the user.
var directive = regexp.MustCompile(`\b(CALL:[\w.-]+:\{.*\}|WRITE:\{.*\}|SAY:[^\n]+|FAIL:[45]\d\d(?::\d+)?|CUT:|HOLD:)`)

// Script answers a request by the newest message of the user:
//
//	CALL:tool:{json}          call the tool whose name is or ends with "tool"
//	WRITE:{"path":…,"content":…}  call the tool that writes a file, by its name in this agent
//	SAY:text                  answer with the rest of the line
//	FAIL:400                  an HTTP error; a 429 has Retry-After: 1
//	FAIL:500:2                the error for the first two attempts, then an answer
//	CUT:                      end the connection in the middle of the answer
//	HOLD:                     begin an answer and end it only when the client leaves
//
// Behind the result of a tool it answers with that result, and otherwise it
// echoes the end of the message. A side call gets a title and no directive.
func Script(req Request) *Reply {
	if req.Side {
		if req.JSON {
			return &Reply{Text: `{"title":"A title"}`} // another answer is asked for again in each turn
		}
		return &Reply{Text: "A title"}
	}
	text, result := newest(req.Messages)
	if result != "" {
		return &Reply{Text: "the tool says: " + harmless(head(result, 200))}
	}
	m := directive.FindString(text)
	name, rest, _ := strings.Cut(m, ":")
	switch name {
	case "CALL":
		tool, args, _ := strings.Cut(rest, ":")
		return callOf(req, tool, args)
	case "WRITE":
		return writeOf(req, rest)
	case "SAY":
		return &Reply{Text: strings.TrimSpace(rest)}
	case "FAIL":
		return failure(req, rest)
	case "CUT":
		return &Reply{Text: echo(text), Cut: true}
	case "HOLD":
		return &Reply{Text: echo(text), Hold: true}
	}
	return &Reply{Text: echo(text)}
}

// newest returns the newest text of the user, and the newest result of a tool
// behind it.
func newest(messages []Message) (text, result string) {
	for _, m := range messages {
		switch m.Role {
		case "user":
			text, result = m.Text, ""
		case "tool":
			result = m.Text
			if result == "" {
				result = "(nothing)"
			}
		}
	}
	return text, result
}

// failure is FAIL:status or FAIL:status:times.
func failure(req Request, order string) *Reply {
	code, times, limited := strings.Cut(order, ":")
	if n, err := strconv.Atoi(times); limited && err == nil && req.Attempt > n {
		return &Reply{Text: "answer at attempt " + strconv.Itoa(req.Attempt)}
	}
	reply := &Reply{}
	reply.Status, _ = strconv.Atoi(code) // the pattern admits digits
	if reply.Status == 429 {
		reply.RetryAfter = 1
	}
	return reply
}

func callOf(req Request, tool, args string) *Reply {
	raw, ok := firstValue(args)
	if !ok {
		return &Reply{Text: "the arguments of the ordered call are not JSON"}
	}
	for _, t := range req.Tools {
		if strings.HasSuffix(t, tool) {
			return &Reply{Call: &Call{Name: t, Arguments: raw}}
		}
	}
	return &Reply{Text: fmt.Sprintf("there is no tool %s among %s", tool, strings.Join(req.Tools, " "))}
}

// firstValue returns the JSON value that a text begins with: a directive may
// stand in front of other text on its line.
func firstValue(s string) (json.RawMessage, bool) {
	var raw json.RawMessage
	err := json.NewDecoder(strings.NewReader(s)).Decode(&raw)
	return raw, err == nil
}

// writeOf orders the agent's own tool for writing a file.
func writeOf(req Request, order string) *Reply {
	var file struct{ Path, Content string }
	raw, ok := firstValue(order)
	if !ok || json.Unmarshal(raw, &file) != nil || file.Path == "" {
		return &Reply{Text: "the ordered file needs a path and a content"}
	}
	script := fmt.Sprintf("printf %%s %s > %s", quote(file.Content), quote(file.Path))
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"Write", map[string]any{"file_path": file.Path, "content": file.Content}},      // Claude Code
		{"write_file", map[string]any{"file_path": file.Path, "content": file.Content}}, // Gemini, Qwen
		{"write", map[string]any{"filePath": file.Path, "content": file.Content}},       // opencode
		// Codex asks its user only if the model wants to leave its sandbox.
		{"exec_command", map[string]any{"cmd": script, "sandbox_permissions": "require_escalated", "justification": "May I write the file?"}},
		{"shell_command", map[string]any{"command": script}},
		{"shell", map[string]any{"command": []string{"sh", "-c", script}}},
	} {
		if slices.Contains(req.Tools, c.tool) {
			args, _ := json.Marshal(c.args) // strings
			return &Reply{Call: &Call{Name: c.tool, Arguments: args}}
		}
	}
	return &Reply{Text: "there is no tool that writes among " + strings.Join(req.Tools, " ")}
}

// quote quotes a word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// echo is the default answer. It has no directive, for other agents read it.
func echo(text string) string { return "echo: " + harmless(tail(strings.TrimSpace(text), 60)) }

// harmless takes directives out of a text.
func harmless(s string) string {
	return strings.NewReplacer("CALL:", "call ", "WRITE:", "write ", "SAY:", "say ", "FAIL:", "fail ", "CUT:", "cut ", "HOLD:", "hold ").Replace(s)
}

func tail(s string, n int) string {
	r := []rune(s)
	return string(r[max(0, len(r)-n):])
}

func head(s string, n int) string {
	r := []rune(s)
	return string(r[:min(len(r), n)])
}

// These words are in the calls that agents make for the title of a session,
// and for their memory.
var (
	memoryWords = regexp.MustCompile(`memory extraction subagent`)
	titleWords  = regexp.MustCompile(`(?i)title generator|(generate|write|create)\b.{0,60}\btitle\b|\btitle for\b`)
)

// isSide recognizes the calls that agents make for themselves. Those for a
// title have no tools. Claude Code and Qwen guess the user's next prompt with
// all tools, and Qwen looks for facts to remember.
func isSide(req Request) bool {
	text, _ := newest(req.Messages)
	system := func(re *regexp.Regexp) bool {
		return slices.ContainsFunc(req.Messages, func(m Message) bool { return m.Role == "system" && re.MatchString(m.Text) })
	}
	if len(req.Tools) > 0 {
		return strings.Contains(text, "[SUGGESTION MODE:") || system(memoryWords)
	}
	return req.JSON && titleWords.MatchString(text) || system(titleWords)
}

// usageOf makes figures that differ from call to call: a quarter of the bytes,
// as the usual estimate has it.
func usageOf(req Request, reply Reply) Usage {
	out := len(reply.Text)
	if reply.Call != nil {
		out = len(reply.Call.Name) + len(reply.Call.Arguments)
	}
	u := Usage{Input: req.Bytes/4 + 1, Output: out/4 + 4, Reasoning: 3}
	u.Cached = u.Input / 3
	if req.Dialect == "messages" || req.Dialect == "ollama" {
		u.Reasoning = 0 // not told apart there
	}
	if req.Dialect == "ollama" {
		u.Cached = 0
	}
	return u
}

// attempt counts how often a seat has sent the same bytes, up to a bound on
// what is kept.
func (s *Server) attempt(seat string, body []byte) int {
	key := sha256.Sum256(append([]byte(seat+"\x00"), body...))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.attempts) > 10_000 {
		clear(s.attempts)
	}
	s.attempts[key]++
	return s.attempts[key]
}
