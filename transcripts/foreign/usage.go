package foreign

import (
	"strconv"
	"strings"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// usageKeys says where an object has the tokens of a message. Each is a list of paths
// that are added up, separated by spaces.
type usageKeys struct{ input, output, cached, reasoning string }

var (
	anthropicUsage = usageKeys{input: "input_tokens cache_creation_input_tokens cache_read_input_tokens", output: "output_tokens", cached: "cache_read_input_tokens"}
	codexUsage     = usageKeys{input: "input_tokens", output: "output_tokens", cached: "cached_input_tokens", reasoning: "reasoning_output_tokens"}
	geminiUsage    = usageKeys{input: "input", output: "output thoughts", cached: "cached", reasoning: "thoughts"}
	qwenUsage      = usageKeys{
		input: "promptTokenCount", output: "candidatesTokenCount thoughtsTokenCount", cached: "cachedContentTokenCount", reasoning: "thoughtsTokenCount",
	}
	openCodeUsage = usageKeys{input: "input cache.read cache.write", output: "output reasoning", cached: "cache.read", reasoning: "reasoning"}
	langUsage     = usageKeys{input: "input_tokens", output: "output_tokens", cached: "input_token_details.cache_read", reasoning: "output_token_details.reasoning"}
	autoGenUsage  = usageKeys{input: "prompt_tokens", output: "completion_tokens"}
	spanUsage     = usageKeys{
		input: "gen_ai.usage.input_tokens", output: "gen_ai.usage.output_tokens", cached: "gen_ai.usage.cache_read.input_tokens", reasoning: "gen_ai.usage.reasoning.output_tokens",
	}
	olderSpanUsage = usageKeys{input: "gen_ai.usage.prompt_tokens", output: "gen_ai.usage.completion_tokens"}
)

// of returns the usage that v states. It is not known if v has no output, or figures that
// cannot be right.
func (k usageKeys) of(v value) room.Usage {
	return k.read(func(path string) (int64, bool) {
		at := v
		for key := range strings.SplitSeq(path, ".") {
			at = at.get(key)
		}
		return at.tokens()
	})
}

// usage returns the usage that the attributes of a span state.
func (s *span) usage() room.Usage {
	if u := spanUsage.ofSpan(s); u.Known {
		return u
	}
	return olderSpanUsage.ofSpan(s)
}

func (k usageKeys) ofSpan(s *span) room.Usage {
	return k.read(func(name string) (int64, bool) {
		a := s.attrs[name]
		for _, kind := range []string{"intValue", "doubleValue", "stringValue"} {
			if n, ok := a.get(kind).tokens(); ok {
				return n, true
			}
		}
		return 0, false
	})
}

func (k usageKeys) read(number func(path string) (int64, bool)) room.Usage {
	sum := func(paths string) (n int64, known bool) {
		for path := range strings.FieldsSeq(paths) {
			m, ok := number(path)
			n, known = n+m, known || ok
		}
		return n, known
	}
	var u room.Usage
	u.Input, _ = sum(k.input)
	u.Output, u.Known = sum(k.output)
	cached, _ := sum(k.cached)
	reasoning, _ := sum(k.reasoning)
	u.CachedInput, u.Reasoning = min(cached, u.Input), min(reasoning, u.Output)
	if !u.Known || u.OutOfRange() != "" {
		return room.Usage{}
	}
	return u
}

// tokens returns a count, as a number or a text with one.
func (v value) tokens() (int64, bool) {
	text := string(v.raw)
	switch v.kind() {
	case '0':
	case '"':
		text = unquote(v.raw)
	default:
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n > 1e15 {
		return 0, false
	}
	return int64(n), true
}

// A stated usage is that of the turns that are one message.
type stated struct {
	turns []int
	usage room.Usage
}

// state notes the usage of a message: of the turns of its author, the first agent that
// speaks from the index first on. A message in several pieces has an id, and states its
// usage with each.
func (t *builder) state(id string, first int, u room.Usage) {
	var turns []int
	author := ""
	for i := first; i < len(t.c.Turns); i++ {
		speaker := t.c.Turns[i].Speaker
		if n, ok := t.index[speaker]; author == "" && ok && t.c.Participants[n].Kind == transcripts.KindAgent {
			author = speaker
		}
		if author != "" && speaker == author {
			turns = append(turns, i)
		}
	}
	if i, ok := t.statedOf[id]; ok && id != "" {
		s := &t.stated[i]
		if s.turns = append(s.turns, turns...); u.Known && u.Output >= s.usage.Output {
			s.usage = u
		}
		return
	}
	if !u.Known {
		return
	}
	if t.statedOf == nil {
		t.statedOf = map[string]int{}
	}
	t.statedOf[id] = len(t.stated)
	t.stated = append(t.stated, stated{turns, u})
}

// shareUsage sets the usage of the turns: the output by the length of their texts, all
// else at the first one.
func (t *builder) shareUsage() {
	for _, s := range t.stated {
		total, before, given := 0, 0, int64(0)
		for _, i := range s.turns {
			total += len(t.c.Turns[i].Text)
		}
		for n, i := range s.turns {
			before += len(t.c.Turns[i].Text)
			part := s.usage.Output - given
			if n+1 < len(s.turns) {
				part = int64(float64(s.usage.Output)*float64(before)/float64(max(total, 1))) - given
			}
			given += part
			u := room.Usage{Known: true, Output: part}
			if n == 0 {
				u.Input, u.CachedInput, u.Reasoning = s.usage.Input, s.usage.CachedInput, min(s.usage.Reasoning, part)
			}
			t.c.Turns[i].Usage = u
		}
	}
}
