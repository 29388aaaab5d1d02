package model

import (
	"encoding/json"
	"net/http"
	"strings"
)

// decodeMessages reads a request of Anthropic's messages API. Results of tools
// are parts of a user's message; text next to them is the agent's own, such as
// a reminder, and no message of the user.
func decodeMessages(_ string, body []byte, req *Request) error {
	var q struct {
		Model    string
		Stream   bool
		System   parts
		Messages chatMessages
		Tools    toolList
		Output   struct{ Format struct{ Type string } } `json:"output_config"`
	}
	err := json.Unmarshal(body, &q)
	req.Model, req.Stream, req.Tools = q.Model, q.Stream, q.Tools.names()
	req.JSON = q.Output.Format.Type == "json_schema"
	if q.System.text != "" {
		req.Messages = append(req.Messages, Message{"system", q.System.text})
	}
	for _, m := range q.Messages {
		if len(m.Content.results) > 0 {
			req.Messages = append(req.Messages, Message{"tool", strings.Join(m.Content.results, "\n")})
			continue
		}
		req.Messages = append(req.Messages, Message{m.Role, m.Content.text})
	}
	return err
}

// messagesUsage tells the cached tokens apart from the others, as this API
// does: input_tokens are those that were not read from the cache.
func messagesUsage(u Usage) map[string]any {
	return map[string]any{
		"input_tokens": u.Input - u.Cached, "cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": 0, "output_tokens": u.Output,
	}
}

func messagesBlock(reply Reply) (block map[string]any, reason string) {
	if c := reply.Call; c != nil {
		return map[string]any{"type": "tool_use", "id": "toolu_" + c.ID, "name": c.Name, "input": c.Arguments}, "tool_use"
	}
	return map[string]any{"type": "text", "text": reply.Text}, "end_turn"
}

func messagesWhole(req Request, reply Reply) any {
	block, reason := messagesBlock(reply)
	return map[string]any{
		"id": "msg_" + reply.id, "type": "message", "role": "assistant", "model": req.Model, "content": []any{block},
		"stop_reason": reason, "stop_sequence": nil, "usage": messagesUsage(reply.Usage),
	}
}

func messagesStream(out *stream, req Request, reply Reply) {
	block, reason := messagesBlock(reply)
	begun := messagesUsage(reply.Usage)
	begun["output_tokens"] = 1
	out.send(map[string]any{"type": "message_start", "message": map[string]any{
		"id": "msg_" + reply.id, "type": "message", "role": "assistant", "model": req.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": begun,
	}})
	delta := func(d map[string]any) {
		out.send(map[string]any{"type": "content_block_delta", "index": 0, "delta": d})
	}
	if reply.Call != nil {
		block["input"] = map[string]any{}
		out.send(map[string]any{"type": "content_block_start", "index": 0, "content_block": block})
		delta(map[string]any{"type": "input_json_delta", "partial_json": string(reply.Call.Arguments)})
	} else {
		out.send(map[string]any{"type": "content_block_start", "index": 0, "content_block": map[string]any{"type": "text", "text": ""}})
		out.pieces(func(p string) { delta(map[string]any{"type": "text_delta", "text": p}) })
	}
	out.send(map[string]any{"type": "content_block_stop", "index": 0})
	out.send(map[string]any{
		"type": "message_delta", "delta": map[string]any{"stop_reason": reason, "stop_sequence": nil},
		"usage": map[string]int{"output_tokens": reply.Usage.Output},
	})
	out.send(map[string]any{"type": "message_stop"})
}

func failAnthropic(w http.ResponseWriter, status int, why string) {
	failWith(w, status, map[string]any{"type": "error", "error": map[string]string{"type": errorType(status), "message": why}})
}
