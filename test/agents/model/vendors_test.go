package model

import (
	"fmt"
	"strings"
)

// A vendor is a dialect from the client's side: how a request is written, and
// where text, tool calls and usage are in an answer.
type vendor struct {
	dialect string
	path    func(stream bool) string
	body    func(text string, stream, tools bool) any
	text    []string // paths to text, in an answer or an event
	name    string   // path to the name of an ordered tool
	usage   func(events []any) Usage
}

func at(v any, path string) any {
	for _, key := range strings.Split(path, ".") {
		switch t := v.(type) {
		case map[string]any:
			v = t[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}

func text(events []any, paths []string) string {
	var b strings.Builder
	for _, e := range events {
		for _, p := range paths {
			if s, ok := at(e, p).(string); ok {
				b.WriteString(s)
			}
		}
	}
	return b.String()
}

// number returns the last value of a path among the events.
func number(events []any, path string) (n int) {
	for _, e := range events {
		if f, ok := at(e, path).(float64); ok {
			n = int(f)
		}
	}
	return n
}

func fixed(path string) func(bool) string { return func(bool) string { return path } }

func chatBody(text string, stream, tools bool) any {
	q := map[string]any{
		"model": "m", "stream": stream, "stream_options": map[string]bool{"include_usage": stream},
		"messages": []any{map[string]any{"role": "system", "content": "be short"}, map[string]any{"role": "user", "content": text}},
	}
	if tools {
		q["tools"] = []any{map[string]any{"type": "function", "function": map[string]string{"name": "fs_write"}}}
	}
	return q
}

var vendors = []vendor{
	{
		dialect: "chat", path: fixed("/v1/chat/completions"), body: chatBody,
		text: []string{"choices.0.message.content", "choices.0.delta.content"}, name: "choices.0.delta.tool_calls.0.function.name",
		usage: func(e []any) Usage {
			return Usage{
				number(e, "usage.prompt_tokens"), number(e, "usage.completion_tokens"),
				number(e, "usage.prompt_tokens_details.cached_tokens"), number(e, "usage.completion_tokens_details.reasoning_tokens"),
			}
		},
	},
	{
		dialect: "responses", path: fixed("/v1/responses"),
		body: func(text string, stream, tools bool) any {
			q := map[string]any{"model": "m", "stream": stream, "instructions": "be short", "input": []any{
				map[string]any{"type": "message", "role": "user", "content": []any{map[string]string{"type": "input_text", "text": text}}},
			}}
			if tools {
				q["tools"] = []any{map[string]string{"type": "function", "name": "fs_write"}}
			}
			return q
		},
		text: []string{"output.0.content.0.text", "delta"}, name: "item.name",
		usage: func(e []any) (u Usage) {
			for _, at := range []string{"usage.", "response.usage."} {
				u.add(Usage{
					number(e, at+"input_tokens"), number(e, at+"output_tokens"),
					number(e, at+"input_tokens_details.cached_tokens"), number(e, at+"output_tokens_details.reasoning_tokens"),
				})
			}
			return u
		},
	},
	{
		dialect: "messages", path: fixed("/v1/messages"),
		body: func(text string, stream, tools bool) any {
			q := map[string]any{"model": "m", "stream": stream, "system": "be short", "messages": []any{map[string]any{"role": "user", "content": text}}}
			if tools {
				q["tools"] = []any{map[string]string{"name": "fs_write"}}
			}
			return q
		},
		text: []string{"content.0.text", "delta.text"}, name: "content_block.name",
		usage: func(e []any) Usage {
			cached := number(e, "usage.cache_read_input_tokens") + number(e, "message.usage.cache_read_input_tokens")
			return Usage{number(e, "usage.input_tokens") + number(e, "message.usage.input_tokens") + cached, number(e, "usage.output_tokens"), cached, 0}
		},
	},
	{
		dialect: "gemini", path: func(stream bool) string {
			if stream {
				return "/v1beta/models/m:streamGenerateContent?alt=sse"
			}
			return "/v1beta/models/m:generateContent"
		},
		body: func(text string, _, tools bool) any {
			q := map[string]any{
				"systemInstruction": map[string]any{"parts": []any{map[string]string{"text": "be short"}}},
				"contents":          []any{map[string]any{"role": "user", "parts": []any{map[string]string{"text": text}}}},
			}
			if tools {
				q["tools"] = []any{map[string]any{"functionDeclarations": []any{map[string]string{"name": "fs_write"}}}}
			}
			return q
		},
		text: []string{"candidates.0.content.parts.0.text"}, name: "candidates.0.content.parts.0.functionCall.name",
		usage: func(e []any) Usage {
			thought := number(e, "usageMetadata.thoughtsTokenCount")
			return Usage{
				number(e, "usageMetadata.promptTokenCount"), number(e, "usageMetadata.candidatesTokenCount") + thought,
				number(e, "usageMetadata.cachedContentTokenCount"), thought,
			}
		},
	},
	{
		dialect: "ollama", path: fixed("/api/chat"), body: chatBody,
		text: []string{"message.content"}, name: "message.tool_calls.0.function.name",
		usage: func(e []any) Usage {
			return Usage{Input: number(e, "prompt_eval_count"), Output: number(e, "eval_count")}
		},
	},
}
