package model

import (
	"encoding/json"
	"net/http"
)

// decodeOllama reads a request of Ollama's own chat API, which streams unless
// told otherwise.
func decodeOllama(_ string, body []byte, req *Request) error {
	var q struct {
		Model    string
		Stream   *bool
		Messages chatMessages
		Tools    toolList
	}
	err := json.Unmarshal(body, &q)
	req.Model, req.Stream = q.Model, q.Stream == nil || *q.Stream
	req.Messages, req.Tools = q.Messages.messages(), q.Tools.names()
	return err
}

// ollamaLine is one line of an answer; the last one has the usage.
func ollamaLine(req Request, message map[string]any, u *Usage) map[string]any {
	out := map[string]any{"model": req.Model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": u != nil}
	if u != nil {
		out["done_reason"], out["prompt_eval_count"], out["eval_count"] = "stop", u.Input, u.Output
	}
	return out
}

func ollamaMessage(reply Reply) map[string]any {
	m := map[string]any{"role": "assistant", "content": reply.Text}
	if c := reply.Call; c != nil {
		m["tool_calls"] = []any{map[string]any{"function": map[string]any{"name": c.Name, "arguments": c.Arguments}}}
	}
	return m
}

func ollamaWhole(req Request, reply Reply) any {
	return ollamaLine(req, ollamaMessage(reply), &reply.Usage)
}

func ollamaStream(out *stream, req Request, reply Reply) {
	if reply.Call != nil {
		out.send(ollamaLine(req, ollamaMessage(reply), nil))
	} else {
		out.pieces(func(p string) { out.send(ollamaLine(req, map[string]any{"role": "assistant", "content": p}, nil)) })
	}
	out.send(ollamaLine(req, map[string]any{"role": "assistant", "content": ""}, &reply.Usage))
}

func failOllama(w http.ResponseWriter, status int, why string) {
	failWith(w, status, map[string]string{"error": why})
}
