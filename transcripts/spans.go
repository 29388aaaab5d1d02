package transcripts

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Names of attributes. Those of gen_ai.* follow OpenTelemetry's semantic
// conventions for generative AI; moot.* cover the rest.
const (
	attrOperation    = "gen_ai.operation.name"
	attrConversation = "gen_ai.conversation.id"
	attrAgentID      = "gen_ai.agent.id"
	attrAgentName    = "gen_ai.agent.name"
	attrOutput       = "gen_ai.output.messages"
	attrInputTokens  = "gen_ai.usage.input_tokens"
	attrOutputTokens = "gen_ai.usage.output_tokens"
	attrCachedTokens = "gen_ai.usage.cache_read.input_tokens"
	attrReasoning    = "gen_ai.usage.reasoning.output_tokens"

	AttrKind       = "moot.participant.kind" // agent, human or tool
	AttrTo         = "moot.to"               // ids of the addressees, a list
	AttrVisibility = "moot.visibility"
	AttrShown      = "moot.shown"    // whole, summary, hidden or redacted
	AttrClock      = "moot.clock_s"  // seconds of the room's clock
	AttrDecision   = "moot.decision" // of a span that is no message: DecisionDecline or DecisionPass
	AttrSilent     = "moot.silent"   // ids of those who could speak and did not, a list; none for all
	AttrReason     = "moot.reason"
	AttrObjective  = "moot.objective"
	AttrCost       = "moot.cost_usd" // as the agent stated it

	// Of a message that is no utterance.
	AttrMessageKind = "moot.message.kind"
	AttrMessageID   = "moot.message.id"
	AttrCorrelation = "moot.message.correlation_id" // the id of what it answers
)

// Values of [AttrDecision].
const (
	DecisionDecline = "decline" // a declined round
	DecisionPass    = "pass"    // the participant of the span passed its turn
)

// A spanWriter writes OTLP JSON.
type spanWriter struct {
	recordReader
	list  listWriter
	room  string
	start time.Time // wall time at clock 0; the zero Time without one
}

// WriteSpans writes a room as OTLP JSON, as readers at level see it: a span
// invoke_workflow for the room, within it a span invoke_agent for each message,
// with the text as output, or without one for a passed turn, and a span
// moot.policy.decide for each declined round. Span ids are derived from the room and the event, so the same room gives
// the same bytes. Hidden messages have a span without text.
func WriteSpans(w io.Writer, entries iter.Seq2[log.Entry, error], level Level) error {
	out := bufio.NewWriterSize(w, 64<<10)
	t := spanWriter{list: listWriter{w: out, what: "spans"}}
	out.WriteString(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"moot"}}]},` +
		`"scopeSpans":[{"scope":{"name":"github.com/folkmoot/moot/transcripts"},"spans":[`)
	var last record
	for s, err := range t.records(entries, level) {
		if err != nil {
			return err
		}
		if err := t.record(&s); err != nil {
			return err
		}
		last = s
	}
	if err := t.workflow(&last); err != nil {
		return err
	}
	out.WriteString("\n]}]}]}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing spans: %w", err)
	}
	return nil
}

type otlpSpan struct {
	TraceID    string     `json:"traceId"`
	SpanID     string     `json:"spanId"`
	ParentID   string     `json:"parentSpanId,omitempty"`
	Name       string     `json:"name"`
	Kind       int        `json:"kind"` // 1 is internal
	Start      string     `json:"startTimeUnixNano"`
	End        string     `json:"endTimeUnixNano"`
	Attributes []otlpAttr `json:"attributes"`
}

type otlpAttr struct {
	Key   string    `json:"key"`
	Value otlpValue `json:"value"`
}

type otlpValue struct {
	String *string    `json:"stringValue,omitempty"`
	Int    *string    `json:"intValue,omitempty"` // 64 bits are strings in OTLP JSON
	Double *float64   `json:"doubleValue,omitempty"`
	Array  *otlpArray `json:"arrayValue,omitempty"`
}

type otlpArray struct {
	Values []otlpValue `json:"values"`
}

func (s *otlpSpan) text(key, value string) {
	if value != "" {
		s.Attributes = append(s.Attributes, otlpAttr{key, otlpValue{String: &value}})
	}
}

func (s *otlpSpan) integer(key string, value int64) {
	n := strconv.FormatInt(value, 10)
	s.Attributes = append(s.Attributes, otlpAttr{key, otlpValue{Int: &n}})
}

func (s *otlpSpan) list(key string, values []string) {
	if len(values) == 0 {
		return
	}
	a := &otlpArray{}
	for i := range values {
		a.Values = append(a.Values, otlpValue{String: &values[i]})
	}
	s.Attributes = append(s.Attributes, otlpAttr{key, otlpValue{Array: a}})
}

// span returns a span of the room, to be completed.
func (t *spanWriter) span(name string, s *record) otlpSpan {
	if t.room == "" {
		t.room = t.spec.Room
	}
	if t.start.IsZero() && !s.at.IsZero() {
		t.start = s.at.Add(-s.clock)
	}
	at := s.clock.Nanoseconds()
	if !t.start.IsZero() {
		at += t.start.UnixNano()
	}
	at = max(at, 0)
	span := otlpSpan{
		TraceID: t.spanID(0, 16), SpanID: t.spanID(uint64(s.seq), 8), ParentID: t.spanID(0, 8), Name: name, Kind: 1,
		Start: strconv.FormatInt(max(at-s.posted.Latency.Nanoseconds(), 0), 10), End: strconv.FormatInt(at, 10),
	}
	span.text(attrConversation, t.room)
	return span
}

// spanID derives an id of size bytes from the room and a sequence number.
func (t *spanWriter) spanID(seq uint64, size int) string {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, seq), t.room...))
	return hex.EncodeToString(sum[:size])
}

func (t *spanWriter) record(s *record) error {
	switch {
	case s.decline != nil:
		return t.decline(s)
	case s.passed != nil:
		return t.pass(s)
	}
	span := t.agentSpan(s.message.From, s)
	span.text(AttrVisibility, string(s.message.Visibility))
	span.text(AttrShown, s.shown)
	span.text(AttrClock, seconds(s.clock))
	span.list(AttrTo, s.receivers())
	if s.shown == shownWhole || s.shown == shownSummary {
		s.spanKind(&span)
	}
	if s.granted != nil {
		span.text(AttrReason, s.granted.Why())
	}
	span.usage(s.posted.Usage)
	if s.shown == shownWhole || s.shown == shownSummary {
		text, err := outputMessages(s)
		if err != nil {
			return fmt.Errorf("writing spans: %w", err)
		}
		span.text(attrOutput, text)
	}
	return t.list.write(span)
}

// agentSpan returns a span of a participant, to be completed.
func (t *spanWriter) agentSpan(id string, s *record) otlpSpan {
	span := t.span("invoke_agent "+id, s)
	span.text(attrOperation, "invoke_agent")
	span.text(attrAgentID, id)
	span.text(attrAgentName, cmp.Or(s.sender.Name, id))
	span.text(AttrKind, kindOf(s.sender))
	return span
}

// decline writes a declined round.
func (t *spanWriter) decline(s *record) error {
	span := t.span("moot.policy.decide", s)
	span.text(attrOperation, "moot.policy.decide")
	span.text("moot.policy", s.decline.Record.Policy)
	span.text(AttrDecision, DecisionDecline)
	span.list(AttrSilent, s.decline.Silent)
	span.text(AttrClock, seconds(s.clock))
	span.text(AttrReason, s.decline.Reason)
	return t.list.write(span)
}

// pass writes a turn that a participant got and passed.
func (t *spanWriter) pass(s *record) error {
	span := t.agentSpan(s.sender.ID, s)
	span.text(AttrDecision, DecisionPass)
	span.text(AttrClock, seconds(s.clock))
	span.usage(s.passed.Usage)
	return t.list.write(span)
}

// usage sets what the agent has stated of the turn.
func (s *otlpSpan) usage(u room.Usage) {
	if u.Known {
		s.integer(attrInputTokens, u.Input)
		s.integer(attrOutputTokens, u.Output)
	}
	if u.CachedInput > 0 {
		s.integer(attrCachedTokens, u.CachedInput)
	}
	if u.Reasoning > 0 {
		s.integer(attrReasoning, u.Reasoning)
	}
	if u.CostKnown {
		s.text(AttrCost, dollars(u))
	}
}

// outputMessages returns the message in the shape of gen_ai.output.messages.
func outputMessages(s *record) (string, error) {
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	role := "assistant"
	if kindOf(s.sender) == KindHuman {
		role = "user"
	}
	b, err := json.Marshal([]struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}{{role, []part{{"text", s.message.Text}}}})
	return string(b), err
}

// workflow writes the span of the room, which encloses the others; last is the
// last record of the room.
func (t *spanWriter) workflow(last *record) error {
	span := t.span("invoke_workflow "+t.spec.Room, last)
	span.SpanID, span.ParentID = t.spanID(0, 8), ""
	span.Start = "0"
	if !t.start.IsZero() {
		span.Start = strconv.FormatInt(max(t.start.UnixNano(), 0), 10)
	}
	span.text(attrOperation, "invoke_workflow")
	span.text(AttrObjective, t.spec.Objective)
	return t.list.write(span)
}

// spanKind adds the kind of a message that is no utterance, and what it answers.
func (s *record) spanKind(span *otlpSpan) {
	if m := s.message; m.Kind != room.KindUtterance {
		span.text(AttrMessageKind, m.Kind)
		span.text(AttrMessageID, m.ID)
		span.text(AttrCorrelation, cmp.Or(m.Correlation, m.Parent))
	}
}
