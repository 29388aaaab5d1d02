package model

import (
	"encoding/json"
	"strings"
)

// decodeResponses reads a request of OpenAI's responses API. Its input is a
// text, or a list of messages, calls and results.
func decodeResponses(_ string, body []byte, req *Request) error {
	var q struct {
		Model        string
		Stream       bool
		Instructions string
		Input        json.RawMessage
		Tools        toolList
		Text         struct{ Format struct{ Type string } }
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	req.Model, req.Stream, req.Tools = q.Model, q.Stream, q.Tools.names()
	req.JSON = q.Text.Format.Type == "json_schema"
	if q.Instructions != "" {
		req.Messages = append(req.Messages, Message{"system", q.Instructions})
	}
	var text string
	if json.Unmarshal(q.Input, &text) == nil {
		req.Messages = append(req.Messages, Message{"user", text})
		return nil
	}
	var items []struct {
		Type    string
		Role    string
		Content parts
		Output  parts
	}
	err := json.Unmarshal(q.Input, &items)
	for _, it := range items {
		switch it.Type {
		case "", "message":
			if it.Role == "developer" {
				it.Role = "system"
			}
			req.Messages = append(req.Messages, Message{it.Role, it.Content.text})
		case "function_call_output", "custom_tool_call_output":
			req.Messages = append(req.Messages, Message{"tool", it.Output.text})
		}
	}
	return err
}

func responsesItem(reply Reply) map[string]any {
	if c := reply.Call; c != nil {
		item := map[string]any{"id": "fc_" + c.ID, "type": "function_call", "status": "completed", "call_id": c.ID, "name": c.Name, "arguments": string(c.Arguments)}
		if namespace, name, ok := strings.Cut(c.Name, namespaceEnd); ok {
			item["namespace"], item["name"] = namespace, name
		}
		return item
	}
	return map[string]any{
		"id": "msg_" + reply.id, "type": "message", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": reply.Text, "annotations": []any{}}},
	}
}

func responsesWhole(req Request, reply Reply) any { return responsesObject(req, reply, "completed") }

func responsesObject(req Request, reply Reply, status string) map[string]any {
	out := map[string]any{
		"id": "resp_" + reply.id, "object": "response", "created_at": 1, "status": status, "model": req.Model, "output": []any{}, "usage": nil,
	}
	if status == "completed" {
		u := reply.Usage
		out["output"] = []any{responsesItem(reply)}
		out["usage"] = map[string]any{
			"input_tokens": u.Input, "input_tokens_details": map[string]int{"cached_tokens": u.Cached},
			"output_tokens": u.Output, "output_tokens_details": map[string]int{"reasoning_tokens": u.Reasoning},
			"total_tokens": u.Input + u.Output,
		}
	}
	return out
}

func responsesStream(out *stream, req Request, reply Reply) {
	event := func(kind string, fields map[string]any) {
		fields["type"], fields["sequence_number"] = kind, out.n
		out.send(fields)
	}
	event("response.created", map[string]any{"response": responsesObject(req, reply, "in_progress")})
	item := responsesItem(reply)
	if reply.Call != nil {
		event("response.output_item.added", map[string]any{"output_index": 0, "item": item})
		args := string(reply.Call.Arguments)
		event("response.function_call_arguments.delta", map[string]any{"item_id": item["id"], "output_index": 0, "delta": args})
		event("response.function_call_arguments.done", map[string]any{"item_id": item["id"], "output_index": 0, "arguments": args})
	} else {
		at := func(more map[string]any) map[string]any {
			more["item_id"], more["output_index"], more["content_index"] = "msg_"+reply.id, 0, 0
			return more
		}
		event("response.output_item.added", map[string]any{"output_index": 0, "item": map[string]any{
			"id": "msg_" + reply.id, "type": "message", "role": "assistant", "status": "in_progress", "content": []any{},
		}})
		event("response.content_part.added", at(map[string]any{"part": map[string]any{"type": "output_text", "text": "", "annotations": []any{}}}))
		out.pieces(func(p string) { event("response.output_text.delta", at(map[string]any{"delta": p})) })
		event("response.output_text.done", at(map[string]any{"text": reply.Text}))
	}
	event("response.output_item.done", map[string]any{"output_index": 0, "item": item})
	event("response.completed", map[string]any{"response": responsesObject(req, reply, "completed")})
}
