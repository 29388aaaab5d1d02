package model

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
)

// A geminiContent is one message: texts, calls and results of tools.
type geminiContent struct {
	Role  string
	Parts []struct {
		Text             string
		Thought          bool
		FunctionResponse *struct{ Response json.RawMessage }
	}
}

func (c geminiContent) message() Message {
	var texts, results []string
	for _, p := range c.Parts {
		if p.FunctionResponse != nil {
			results = append(results, string(p.FunctionResponse.Response))
		} else if p.Text != "" && !p.Thought {
			texts = append(texts, p.Text)
		}
	}
	if len(results) > 0 {
		return Message{"tool", strings.Join(results, "\n")}
	}
	if c.Role == "model" {
		c.Role = "assistant"
	}
	return Message{c.Role, strings.Join(texts, "\n")}
}

// decodeGemini reads a request of the Gemini API. The model and whether to
// stream are in the path.
func decodeGemini(p string, body []byte, req *Request) error {
	var q struct {
		SystemInstruction geminiContent
		Contents          []geminiContent
		Tools             []struct {
			FunctionDeclarations toolList
		}
		GenerationConfig struct{ ResponseMimeType string }
	}
	err := json.Unmarshal(body, &q)
	req.Model, _, _ = strings.Cut(path.Base(p), ":")
	req.JSON = q.GenerationConfig.ResponseMimeType == "application/json"
	req.Stream = strings.HasSuffix(p, ":streamGenerateContent")
	if m := q.SystemInstruction.message(); m.Text != "" {
		req.Messages = append(req.Messages, Message{"system", m.Text})
	}
	for _, c := range q.Contents {
		m := c.message()
		if m.Role == "" {
			m.Role = "user"
		}
		req.Messages = append(req.Messages, m)
	}
	for _, t := range q.Tools {
		req.Tools = append(req.Tools, t.FunctionDeclarations.names()...)
	}
	return err
}

// geminiChunk is one answer or a part of one. Thoughts are told apart from the
// candidates' tokens in this API.
func geminiChunk(part map[string]any, u *Usage) map[string]any {
	candidate := map[string]any{"content": map[string]any{"role": "model", "parts": []any{part}}, "index": 0}
	out := map[string]any{"candidates": []any{candidate}, "modelVersion": "fake-1", "responseId": "r1"}
	if u != nil {
		candidate["finishReason"] = "STOP"
		out["usageMetadata"] = map[string]int{
			"promptTokenCount": u.Input, "cachedContentTokenCount": u.Cached, "candidatesTokenCount": u.Output - u.Reasoning,
			"thoughtsTokenCount": u.Reasoning, "totalTokenCount": u.Input + u.Output,
		}
	}
	return out
}

func geminiPart(reply Reply) map[string]any {
	if c := reply.Call; c != nil {
		return map[string]any{"functionCall": map[string]any{"id": c.ID, "name": c.Name, "args": c.Arguments}}
	}
	return map[string]any{"text": reply.Text}
}

func geminiWhole(_ Request, reply Reply) any { return geminiChunk(geminiPart(reply), &reply.Usage) }

func geminiStream(out *stream, _ Request, reply Reply) {
	if reply.Call != nil {
		out.send(geminiChunk(geminiPart(reply), &reply.Usage))
		return
	}
	out.pieces(func(p string) { out.send(geminiChunk(map[string]any{"text": p}, nil)) })
	out.send(geminiChunk(map[string]any{"text": ""}, &reply.Usage))
}

func failGemini(w http.ResponseWriter, status int, why string) {
	name := "INVALID_ARGUMENT"
	switch {
	case status == http.StatusTooManyRequests:
		name = "RESOURCE_EXHAUSTED"
	case status >= 500:
		name = "INTERNAL"
	}
	failWith(w, status, map[string]any{"error": map[string]any{"code": status, "message": why, "status": name}})
}
