package foreign

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// spansOrder states how spans were put in line.
const spansOrder = "by the start of the span; of what spans repeat the first"

// A span is one that says something about an agent. Attributes are as values
// of OTLP.
type span struct {
	v          value
	id, parent string
	talk       string // gen_ai.conversation.id, or that of an outer span, or the trace
	start      int64  // nanoseconds since 1970
	attrs      map[string]value
	outer      *span
	inner      bool // an inner span holds messages too
}

// readSpans reads OTLP JSON: {resourceSpans: [{scopeSpans: [{spans}]}]}, one
// document or one a line. Spans with gen_ai attributes make conversations, by
// gen_ai.conversation.id or else by trace.
func readSpans(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		var spans []*span
		others := 0
		for _, doc := range in.docs {
			spans, others = collect(doc, spans, others)
		}
		if err := in.first(); err != nil {
			yield(nil, err)
			return
		}
		nest(spans)
		slices.SortStableFunc(spans, func(a, b *span) int { return cmp.Compare(a.start, b.start) })
		for _, spans := range talksOf(spans) {
			t := speech{talk: newTalk(in.name, OTel, spans[0].talk), made: calls{}, known: map[string]int{}}
			t.report.Order = spansOrder
			for range others {
				t.leave("span without gen_ai attributes")
			}
			others = 0 // they are counted once
			t.tell(spans)
			if !yield(t.done(in.first())) || in.first() != nil {
				return
			}
		}
	}
}

// collect adds the spans of a document.
func collect(doc value, spans []*span, others int) ([]*span, int) {
	if doc.kind() == '[' {
		for item := range doc.items() {
			spans, others = collect(item, spans, others)
		}
		return spans, others
	}
	for resource := range doc.need("resourceSpans").items() {
		for scope := range resource.get("scopeSpans").items() {
			for v := range scope.get("spans").items() {
				s := &span{v: v, id: v.get("spanId").text(), parent: v.get("parentSpanId").text(), start: v.get("startTimeUnixNano").integer()}
				if s.attrs = attributes(v); s.own() { // in the order in which they were said
					s.start = v.get("endTimeUnixNano").integer()
				}
				if s.talk = s.text("gen_ai.conversation.id"); !s.generative() {
					others++
				}
				spans = append(spans, s)
			}
		}
	}
	return spans, others
}

// attributes returns those of a span by name.
func attributes(v value) map[string]value {
	all := map[string]value{}
	for a := range v.get("attributes").items() {
		all[a.need("key").text()] = a.get("value")
	}
	return all
}

// text returns an attribute that is a string.
func (s *span) text(key string) string {
	v, ok := s.attrs[key]
	if !ok {
		return ""
	}
	return v.get("stringValue").word()
}

// generative reports whether the span is about an agent or a model.
func (s *span) generative() bool {
	for key := range s.attrs {
		if len(key) > 7 && key[:7] == "gen_ai." {
			return true
		}
	}
	return false
}

// nest finds for each span the one around it, and what follows from that.
func nest(spans []*span) {
	byID := make(map[string]*span, len(spans))
	for _, s := range spans {
		byID[s.v.get("traceId").text()+"/"+s.id] = s
	}
	for _, s := range spans {
		if o := byID[s.v.get("traceId").text()+"/"+s.parent]; o != s && s.parent != "" {
			s.outer = o
		}
	}
	for _, s := range spans {
		says := s.speaks()
		for o, n := s.outer, 0; o != nil && n < len(spans) && n < maxNested; o, n = o.outer, n+1 {
			o.inner = o.inner || says
			if s.talk == "" {
				s.talk = o.text("gen_ai.conversation.id")
			}
		}
	}
	for _, s := range spans {
		if s.talk == "" {
			s.talk = s.v.get("traceId").text()
		}
	}
}

// maxNested bounds how far a span looks out; a circle of parents ends there.
const maxNested = 256

// speaks reports whether a span holds messages of a model.
func (s *span) speaks() bool {
	for _, key := range []string{"gen_ai.output.messages", "gen_ai.input.messages", "gen_ai.completion", "gen_ai.prompt", "gen_ai.completion.0.content", "gen_ai.prompt.0.content"} {
		if _, ok := s.attrs[key]; ok {
			return true
		}
	}
	return false
}

// talksOf returns the spans of each conversation, in the order of their
// starts.
func talksOf(spans []*span) (talks [][]*span) {
	at := map[string]int{}
	for _, s := range spans {
		if !s.generative() {
			continue
		}
		i, ok := at[s.talk]
		if !ok {
			i = len(talks)
			at[s.talk] = i
			talks = append(talks, nil)
		}
		talks[i] = append(talks[i], s)
	}
	return talks
}

// agent returns who acts in a span: the agent that it or one around it names.
func (s *span) agent() (id, name string) {
	for n := 0; s != nil && n < maxNested; s, n = s.outer, n+1 {
		if name = s.text("gen_ai.agent.name"); name != "" {
			if id = s.text("gen_ai.agent.id"); id == "" {
				id = name
			}
			return id, name
		}
	}
	return "", ""
}

// when is the time at which a span ended, so when its output was said.
func (s *span) when() time.Time {
	if end := s.v.get("endTimeUnixNano"); end.kind() != 0 {
		return nanos(end.integer())
	}
	return nanos(s.start)
}

func nanos(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}
