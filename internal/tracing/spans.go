package tracing

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// decision makes the span of a decision, which has ended when its event is made.
func (t *Tracer) decision(r *roomSpans, id string, e room.Event) {
	d, ok := decisionOf(e)
	if !ok {
		return
	}
	attributes := []attribute.KeyValue{
		operationName.String(policyDecide), conversationID.String(id), agentName.String(d.record.Policy), policyDigest.String(d.record.Digest),
		decisionNumber.Int64(d.record.Decision), decisionAction.String(d.action),
	}
	if d.agent != "" {
		attributes = append(attributes, decisionAgent.String(d.agent))
	}
	if t.reasons {
		attributes = append(attributes, decisionReason.String(d.reason))
	}
	began := e.At.Add(-time.Duration(d.record.Micros) * time.Microsecond)
	_, span := t.tracer.Start(r.ctx, policyDecide, trace.WithTimestamp(began), trace.WithAttributes(attributes...))
	if d.record.Code != "" {
		fail(span, d.record.Code)
	}
	span.End(trace.WithTimestamp(e.At))
}

// A decision is what an event says of a decision of the policy.
type decision struct {
	action, agent, reason string
	record                *policy.Record
}

func decisionOf(e room.Event) (d decision, ok bool) {
	switch b := e.Body.(type) {
	case room.TurnGranted:
		d = decision{"speak", b.Participant, b.Reason, b.Record}
	case room.RoundDeclined:
		d = decision{"decline", "", b.Reason, &b.Record}
	case room.Completed:
		d = decision{"finish", "", b.Reason, b.Record}
	case room.Paused:
		d = decision{"failed", "", b.Reason, b.Record}
	}
	return d, d.record != nil
}

// turn starts or ends the span of a turn.
func (t *Tracer) turn(r *roomSpans, id string, e room.Event) {
	if b, ok := e.Body.(room.TurnGranted); ok {
		_, r.turn = t.tracer.Start(r.ctx, invokeAgent+" "+b.Participant, trace.WithTimestamp(e.At), trace.WithAttributes(
			operationName.String(invokeAgent), conversationID.String(id), agentName.String(b.Participant), turnNumber.Int(b.Turn)))
		return
	}
	if r.turn == nil {
		return // granted by an earlier process
	}
	switch b := e.Body.(type) {
	case room.TurnDrafted:
		r.turn.AddEvent("moot.turn.drafted", trace.WithTimestamp(e.At))
	case room.MessagePosted:
		if b.Turn != 0 {
			r.endTurn(e, "posted", b.Usage, "")
		}
	case room.TurnPassed:
		r.endTurn(e, "passed", b.Usage, "")
	case room.TurnFailed:
		r.endTurn(e, "failed", b.Usage, b.Code)
	case room.TurnRejected:
		r.endTurn(e, "rejected", room.Usage{}, "")
	case room.TurnInterrupted:
		r.endTurn(e, "interrupted", room.Usage{}, "")
	}
}

func (r *roomSpans) endTurn(e room.Event, outcome string, u room.Usage, code string) {
	r.turn.SetAttributes(turnOutcome.String(outcome))
	if u.Known {
		r.turn.SetAttributes(inputTokens.Int64(u.Input), outputTokens.Int64(u.Output))
	}
	if code != "" {
		fail(r.turn, code)
	}
	r.turn.End(trace.WithTimestamp(e.At))
	r.turn = nil
}

func fail(s trace.Span, code string) {
	s.SetAttributes(errorType.String(code))
	s.SetStatus(codes.Error, code)
}
