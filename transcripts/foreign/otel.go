package foreign

import (
	"cmp"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"time"
)

// spansOrder says how spans were ordered.
const spansOrder = "by the start of the span; repeated messages once, where they are first"

// A span is an OpenTelemetry span. Attributes are OTLP values.
type span struct {
	v             value
	id, parent    string
	trace         string
	conversation  string // gen_ai.conversation.id, or that of an outer span, or the trace
	start, end    int64  // nanoseconds since 1970; an end of 0 is not known
	attrs         map[string]value
	outer         *span
	innerMessages bool // an inner span holds messages too
}

// readSpans reads OTLP JSON: {resourceSpans: [{scopeSpans: [{spans}]}]}, one
// document or one a line. Spans with gen_ai attributes are grouped into
// conversations by gen_ai.conversation.id, else by trace.
func readSpans(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		var spans []*span
		others := 0
		for _, doc := range in.docs {
			spans, others = in.collectSpans(doc, spans, others)
		}
		if err := in.firstError(); err != nil {
			yield(nil, err)
			return
		}
		linkSpans(spans)
		slices.SortStableFunc(spans, func(a, b *span) int { return cmp.Compare(a.start, b.start) })
		for _, spans := range conversationsOf(spans) {
			t := spanConverter{builder: in.newBuilder(OTel, spans[0].conversation), calls: toolCalls{}, taken: map[string]int{}}
			t.report.Order = spansOrder
			for range others {
				t.leaveOut("span without gen_ai attributes")
			}
			others = 0 // they are counted once
			t.convert(spans)
			if !yield(t.done(in.firstError())) || in.firstError() != nil {
				return
			}
		}
	}
}

// collectSpans appends the spans of a document and counts those without gen_ai
// attributes.
func (in *input) collectSpans(doc value, spans []*span, others int) ([]*span, int) {
	if doc.kind() == '[' {
		for item := range doc.items() {
			spans, others = in.collectSpans(item, spans, others)
		}
		return spans, others
	}
	if trace := doc.get("trace"); trace.kind() == '{' { // of Tempo
		doc = trace
	}
	if data := doc.get("data"); data.kind() == '[' {
		return in.jaegerSpans(data, spans, others)
	}
	resources := doc.get("batches") // of Tempo
	if resources.kind() == 0 {
		resources = doc.require("resourceSpans")
	}
	for resource := range resources.items() {
		scopes := resource.get("scopeSpans")
		if scopes.kind() == 0 {
			scopes = resource.get("instrumentationLibrarySpans") // before OTLP 1.0
		}
		for scope := range scopes.items() {
			for v := range scope.get("spans").items() {
				spans, others = in.addSpan(v, otlpSpan, spans, others)
			}
		}
	}
	return spans, others
}

// addSpan appends the span that convert makes of v.
func (in *input) addSpan(v value, convert func(value) *span, spans []*span, others int) ([]*span, int) {
	if len(spans) == maxItems {
		v.at.document().refuse(tooMany(in.name))
		return spans, others
	}
	if !in.strict {
		v = v.apart()
	}
	s := convert(v)
	if s.conversation = s.text("gen_ai.conversation.id"); !s.hasGenAI() {
		others++
	}
	return append(spans, s), others
}

// otlpSpan reads a span of OTLP.
func otlpSpan(v value) *span {
	s := &span{v: v, id: v.get("spanId").text(), parent: v.get("parentSpanId").text(), trace: v.get("traceId").text()}
	s.start, s.end = v.get("startTimeUnixNano").integer(), v.get("endTimeUnixNano").integer()
	if s.attrs = attributes(v); s.isOwn() || s.isSilence() { // our exports are in the order of their ends
		s.start = s.end
	}
	return s
}

// jaegerSpans appends the spans of traces as the API and the page of Jaeger give them.
func (in *input) jaegerSpans(data value, spans []*span, others int) ([]*span, int) {
	for trace := range data.items() {
		for v := range trace.get("spans").items() {
			spans, others = in.addSpan(v, jaegerSpan, spans, others)
		}
	}
	return spans, others
}

// jaegerSpan reads a span of Jaeger, whose times are in microseconds.
func jaegerSpan(v value) *span {
	s := &span{v: v, id: v.get("spanID").text(), trace: v.get("traceID").text(), attrs: map[string]value{}}
	s.start = 1000 * min(v.get("startTime").integer(), math.MaxInt64/2000)
	s.end = s.start + 1000*min(v.get("duration").integer(), math.MaxInt64/2000)
	for ref := range v.get("references").items() {
		if ref.get("refType").maybeText() == "CHILD_OF" {
			s.parent = ref.get("spanID").text()
		}
	}
	for tag := range v.get("tags").items() {
		text := tag.get("value")
		raw, err := json.Marshal(map[string]string{"stringValue": text.plain()})
		if err != nil {
			continue
		}
		s.attrs[tag.require("key").text()] = value{raw, text.at}
	}
	return s
}

// attributes returns the attributes of a span by name.
func attributes(v value) map[string]value {
	all := map[string]value{}
	for a := range v.get("attributes").items() {
		all[a.require("key").text()] = a.get("value")
	}
	return all
}

// text returns a string attribute, or "".
func (s *span) text(key string) string {
	return s.attrs[key].get("stringValue").maybeText()
}

// hasGenAI reports whether the span has gen_ai attributes.
func (s *span) hasGenAI() bool {
	for key := range s.attrs {
		if len(key) > 7 && key[:7] == "gen_ai." {
			return true
		}
	}
	return false
}

// linkSpans links each span to its enclosing span and inherits its conversation.
func linkSpans(spans []*span) {
	byID := make(map[string]*span, len(spans))
	for _, s := range spans {
		byID[s.trace+"/"+s.id] = s
	}
	for _, s := range spans {
		if o := byID[s.trace+"/"+s.parent]; o != s && s.parent != "" {
			s.outer = o
		}
	}
	for _, s := range spans {
		says := s.hasMessages()
		for o, n := s.outer, 0; o != nil && n < len(spans) && n < maxNested; o, n = o.outer, n+1 {
			o.innerMessages = o.innerMessages || says
			if s.conversation == "" {
				s.conversation = o.text("gen_ai.conversation.id")
			}
		}
	}
	for _, s := range spans {
		if s.conversation == "" {
			s.conversation = s.trace
		}
	}
}

// maxNested bounds the number of enclosing spans, because parents can be cyclic.
const maxNested = 256

// hasMessages reports whether a span contains messages of a model.
func (s *span) hasMessages() bool {
	keys := []string{"gen_ai.output.messages", "gen_ai.input.messages", "gen_ai.completion", "gen_ai.prompt", "gen_ai.completion.0.content", "gen_ai.prompt.0.content"}
	return slices.ContainsFunc(keys, func(key string) bool { _, ok := s.attrs[key]; return ok })
}

// conversationsOf groups spans by conversation, in the order of their starts.
func conversationsOf(spans []*span) (talks [][]*span) {
	at := map[string]int{}
	for _, s := range spans {
		if !s.hasGenAI() {
			continue
		}
		i, ok := at[s.conversation]
		if !ok {
			i = len(talks)
			at[s.conversation] = i
			talks = append(talks, nil)
		}
		talks[i] = append(talks[i], s)
	}
	return talks
}

// agent returns the agent that the span, or the nearest enclosing one, names.
func (s *span) agent() (id, name string) {
	for n := 0; s != nil && n < maxNested; s, n = s.outer, n+1 {
		if name = s.text("gen_ai.agent.name"); name != "" {
			return cmp.Or(s.text("gen_ai.agent.id"), name), name
		}
	}
	return "", ""
}

// endTime returns the end of a span, which is the time of its output.
func (s *span) endTime() time.Time {
	if s.end > 0 {
		return nanos(s.end)
	}
	return nanos(s.start)
}

func nanos(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}
