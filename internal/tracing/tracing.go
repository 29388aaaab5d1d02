// Package tracing sends spans of rooms to a collector of OpenTelemetry.
//
// A room has one trace for as long as it is loaded: a span for the room, and below it a
// span for each decision of the policy and for each turn. Spans have no text: neither of
// messages nor of prompts. The reasons of decisions may quote messages, and are left out
// unless the environment asks for content.
package tracing

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// flushTimeout is how long Close waits for a collector.
const flushTimeout = 3 * time.Second

// Config says who sends the spans.
type Config struct {
	Version string // of this program
	Log     *slog.Logger
}

// A Tracer makes the spans of rooms. It implements [coordinator.Observer]. It is safe for
// concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	reasons  bool // decisions have their reasons

	mu    sync.Mutex
	rooms map[string]*roomSpans
}

// roomSpans are the open spans of a room.
type roomSpans struct {
	ctx   context.Context // with the span of the room
	room  trace.Span
	turn  trace.Span // nil between turns
	phase room.Phase
}

// FromEnvironment makes a Tracer as the standard variables of OpenTelemetry say, or
// returns nil when they name no collector. The caller closes it.
func FromEnvironment(ctx context.Context, c Config) (*Tracer, error) {
	on, err := configured()
	if !on || err != nil {
		return nil, err
	}
	to, err := newCollector()
	if err != nil {
		return nil, err
	}
	res, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "moot"), attribute.String("service.version", c.Version)),
		resource.WithFromEnv(), // it precedes
		resource.WithTelemetrySDK())
	if err != nil {
		return nil, wrongValue("OTEL_RESOURCE_ATTRIBUTES", "write it as NAME=VALUE,NAME=VALUE", err)
	}
	exporter, err := otlptrace.New(ctx, to)
	if err != nil {
		return nil, err
	}
	if c.Log != nil {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { c.Log.Warn("spans were not delivered", "error", err) }))
	}
	p := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(res))
	reasons, _ := strconv.ParseBool(os.Getenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"))
	return &Tracer{
		provider: p, reasons: reasons, rooms: map[string]*roomSpans{},
		tracer: p.Tracer("github.com/folkmoot/moot", trace.WithInstrumentationVersion(c.Version), trace.WithSchemaURL(schemaURL)),
	}, nil
}

// Close ends the open spans and sends what is left, for a short time.
func (t *Tracer) Close() error {
	t.mu.Lock()
	for id := range t.rooms {
		t.end(id)
	}
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

// Unloaded implements [coordinator.Observer].
func (t *Tracer) Unloaded(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end(id)
}

// end ends the spans of a room. The caller holds mu.
func (t *Tracer) end(id string) {
	r := t.rooms[id]
	if r == nil {
		return
	}
	delete(t.rooms, id)
	if r.turn != nil {
		r.turn.End() // of a process that ends: the next one records how
	}
	r.room.SetAttributes(roomPhase.String(string(r.phase)))
	r.room.End()
}

// Committed implements [coordinator.Observer].
func (t *Tracer) Committed(c coordinator.Commit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rooms[c.Room]
	if r == nil {
		r = t.begin(c)
		t.rooms[c.Room] = r
	}
	r.phase = c.Phase
	for _, e := range c.Events {
		t.decision(r, c.Room, e)
		t.turn(r, c.Room, e)
		if b, ok := e.Body.(room.Errored); ok {
			r.room.SetStatus(codes.Error, b.Code)
			r.room.SetAttributes(errorType.String(b.Code))
		}
	}
}

// begin starts the span of a room.
func (t *Tracer) begin(c coordinator.Commit) *roomSpans {
	name := c.Name
	if name == "" {
		name = c.Room
	}
	ctx, span := t.tracer.Start(context.Background(), strings.TrimSpace(invokeWorkflow+" "+c.Name), trace.WithTimestamp(c.Events[0].At), trace.WithAttributes(
		operationName.String(invokeWorkflow), conversationID.String(c.Room), agentName.String(name), workflowName.String(name)))
	return &roomSpans{ctx: ctx, room: span}
}
