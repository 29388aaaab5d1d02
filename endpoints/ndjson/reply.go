package ndjson

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Bounds on the numbers that an agent states, and on its reason.
const (
	maxLatency = 1e10 // ms; 115 days
	maxReason  = 4000 // runes
)

// replyTo returns the reply to p, or the rule that r breaks. An error that the
// agent reports itself is a fault without a rule.
func replyTo(p endpoint.Prompt, r response) (endpoint.Reply, *fault) {
	if f := r.violation(p); f != nil {
		return endpoint.Reply{}, f
	}
	out := endpoint.Reply{Text: r.Draft, Reason: endpoint.CleanLine(r.Reason, maxReason), Confidence: r.Confidence, ToolRounds: r.ToolRounds}
	if r.Usage != nil {
		out.Usage = r.Usage.stated()
	}
	for _, c := range r.ToolCalls {
		out.Tools = append(out.Tools, endpoint.ToolCall{Kind: c.Kind, Title: c.Title, Status: c.Status, Paths: c.Paths})
	}
	if r.Handoff != nil {
		out.Handoff = &endpoint.Handoff{To: r.Handoff.To, Reason: r.Handoff.Reason}
	}
	switch {
	case r.Status == "error":
		return endpoint.Reply{Usage: out.Usage}, faultf("", endpoint.ErrAgent, "%s", cmp.Or(out.Reason, "no reason given"))
	case r.Type == typeBidReply && (r.Status == "" || r.Status == "ok"):
		out.Text, out.Outcome, out.Bid, out.Handoff = "", endpoint.Passed, r.Bid, nil
		return out, nil
	case r.Status != "ok":
		return endpoint.Reply{}, faultf("bad_status", endpoint.ErrProtocol, "status is %s, not ok or error", endpoint.Quote(r.Status))
	case p.Kind == endpoint.Bid: // an agent that does not know bids answers as to a prompt
		return endpoint.Reply{Outcome: endpoint.Passed, Usage: out.Usage}, nil
	}
	return turnReply(p, r, out)
}

// turnReply completes the reply to a turn with its outcome.
func turnReply(p endpoint.Prompt, r response, out endpoint.Reply) (endpoint.Reply, *fault) {
	failed := endpoint.Reply{Usage: out.Usage}
	switch n := utf8.RuneCountInString(r.Draft); {
	case n > p.MaxOutputChars:
		return failed, faultf("too_large", endpoint.ErrTooLarge, "%d characters, and the limit is %d", n, p.MaxOutputChars)
	case (r.ToolRounds > 0 || len(r.ToolCalls) > 0) && !p.AllowToolUse:
		return failed, faultf("tool_rounds", endpoint.ErrProtocol, "tools were used, which is not allowed")
	case r.ToolRounds > p.MaxToolRounds:
		return failed, faultf("tool_rounds", endpoint.ErrProtocol, "%d tool rounds, and the limit is %d", r.ToolRounds, p.MaxToolRounds)
	}
	switch r.Outcome {
	case endpoint.Passed:
		out.Outcome, out.Text = endpoint.Passed, ""
	case endpoint.Refused:
		out.Outcome, out.Text, out.Reason = endpoint.Refused, "", cmp.Or(out.Reason, endpoint.CleanLine(r.Draft, maxReason))
	case endpoint.Said, "":
		out.Outcome = endpoint.Said
		if strings.TrimSpace(r.Draft) == "" {
			out.Outcome, out.Text = endpoint.Passed, ""
		}
	default:
		return failed, faultf("bad_outcome", endpoint.ErrProtocol, "outcome is %s, not said, passed or refused", endpoint.Quote(r.Outcome))
	}
	return out, nil
}

// violation returns the fault of a number that would corrupt sums, and of a bid
// that was not asked for. JSON has no NaN, and an overflow does not decode.
func (r response) violation(p endpoint.Prompt) *fault {
	outOfRange := func(field string) *fault {
		return faultf("bad_metrics", endpoint.ErrProtocol, "%s is out of range", field)
	}
	switch {
	case r.Metrics != nil && (r.Metrics.LatencyMS < 0 || r.Metrics.LatencyMS > maxLatency):
		return outOfRange("latency_ms")
	case r.Usage != nil && r.Usage.outOfRange() != "":
		return outOfRange(r.Usage.outOfRange())
	case r.Confidence != nil && (*r.Confidence < 0 || *r.Confidence > 1):
		return outOfRange("confidence")
	case r.Bid != nil && (*r.Bid < 0 || *r.Bid > 1):
		return outOfRange("bid")
	case r.ToolRounds < 0:
		return outOfRange("tool_rounds")
	case r.Type == typeBidReply && p.Kind != endpoint.Bid:
		return faultf("wrong_type", endpoint.ErrProtocol, "a bid answers a prompt")
	case r.Type == typeBidReply && r.Bid == nil && r.Status != "error":
		return faultf("bad_metrics", endpoint.ErrProtocol, "no bid is stated")
	}
	return nil
}
