package model

import (
	"encoding/json"
	"net/http"
)

// toolList is the tools of OpenAI's and Ollama's requests: the name is at the
// top or below "function".
type toolList []struct {
	Name     string
	Function struct{ Name string }
	Tools    toolList // of a namespace, in the responses API
}

// namespaceEnd separates a namespace from the tool in it.
const namespaceEnd = "/"

func (l toolList) names() (out []string) {
	for _, t := range l {
		if t.Name == "" {
			t.Name = t.Function.Name
		}
		for _, inside := range t.Tools.names() {
			out = append(out, t.Name+namespaceEnd+inside)
		}
		if t.Name != "" && t.Tools == nil {
			out = append(out, t.Name)
		}
	}
	return out
}

// chatMessages is the conversation of chat completions and of Ollama.
type chatMessages []struct {
	Role    string
	Content parts
}

func (l chatMessages) messages() (out []Message) {
	for _, m := range l {
		if m.Role == "developer" {
			m.Role = "system"
		}
		out = append(out, Message{m.Role, m.Content.text})
	}
	return out
}

func decodeChat(_ string, body []byte, req *Request) error {
	var q struct {
		Model         string
		Stream        bool
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages chatMessages
		Tools    toolList
	}
	err := json.Unmarshal(body, &q)
	req.Model, req.Stream, req.usage = q.Model, q.Stream, q.StreamOptions.IncludeUsage
	req.Messages, req.Tools = q.Messages.messages(), q.Tools.names()
	return err
}

func chatUsage(u Usage) map[string]any {
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     map[string]int{"cached_tokens": u.Cached},
		"completion_tokens_details": map[string]int{"reasoning_tokens": u.Reasoning},
	}
}

func chatCall(c *Call) []any {
	return []any{map[string]any{
		"index": 0, "id": c.ID, "type": "function",
		"function": map[string]string{"name": c.Name, "arguments": string(c.Arguments)},
	}}
}

func chatWhole(req Request, reply Reply) any {
	message, reason := map[string]any{"role": "assistant", "content": reply.Text}, "stop"
	if reply.Call != nil {
		message, reason = map[string]any{"role": "assistant", "content": nil, "tool_calls": chatCall(reply.Call)}, "tool_calls"
	}
	return map[string]any{
		"id": "chatcmpl-" + reply.id, "object": "chat.completion", "created": 1, "model": req.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": reason}},
		"usage":   chatUsage(reply.Usage),
	}
}

// chatStream ends with the usage if the client asked for it, in a chunk
// without choices.
func chatStream(out *stream, req Request, reply Reply) {
	chunk := func(delta map[string]any, reason any) {
		out.send(map[string]any{
			"id": "chatcmpl-" + reply.id, "object": "chat.completion.chunk", "created": 1, "model": req.Model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
		})
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	if reply.Call != nil {
		chunk(map[string]any{"tool_calls": chatCall(reply.Call)}, nil)
		chunk(map[string]any{}, "tool_calls")
	} else {
		out.pieces(func(p string) { chunk(map[string]any{"content": p}, nil) })
		chunk(map[string]any{}, "stop")
	}
	if req.usage {
		out.send(map[string]any{
			"id": "chatcmpl-" + reply.id, "object": "chat.completion.chunk", "created": 1, "model": req.Model,
			"choices": []any{}, "usage": chatUsage(reply.Usage),
		})
	}
	out.write("data: [DONE]\n\n")
}

func failOpenAI(w http.ResponseWriter, status int, why string) {
	failWith(w, status, map[string]any{"error": map[string]any{"message": why, "type": errorType(status), "code": nil, "param": nil}})
}

// errorType is the type of an error in the APIs of OpenAI and Anthropic.
func errorType(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 500:
		return "api_error"
	default:
		return "invalid_request_error"
	}
}

func failWith(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has left needs no answer
}
