package drive

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A field is one part of a decision, as text that can be compared.
type field struct{ name, text string }

// recordedFields are the fields of a decision in the log.
func recordedFields(s *room.State, e *room.Event, record *policy.Record) []field {
	d := policy.Decision{}
	switch b := e.Body.(type) {
	case room.TurnGranted:
		d = policy.Decision{
			Action: policy.ActionSpeak, Agent: b.Participant, Reason: b.Reason, Confidence: b.Confidence,
			Hints: b.Hints, Scores: b.Scores,
		}
	case room.RoundDeclined:
		d = policy.Decision{Action: policy.ActionDecline, Reason: b.Reason, RetryMS: b.Retry.Milliseconds()}
	case room.Completed:
		d = policy.Decision{Action: policy.ActionFinish, Reason: b.Reason}
	}
	return fields(s, d, record.State, record.Fuel)
}

// repeatedFields are the fields that the log would have for d.
func repeatedFields(s *room.State, d policy.Decision, state policy.JSON, fuel uint64) []field {
	d.State = nil
	if d.Action != policy.ActionSpeak {
		d.Agent, d.Confidence, d.Hints, d.Scores = "", nil, nil, nil
	}
	return fields(s, d, room.PolicyStateDigest(state), fuel)
}

// fields lists the parts of d. A missing reason or delay has the default that
// the room records.
func fields(s *room.State, d policy.Decision, state string, fuel uint64) []field {
	retry := ""
	if d.Action == policy.ActionDecline {
		if d.Reason == "" {
			d.Reason = "no decision"
		}
		retry = s.Limits.Retry(d.RetryMS).String()
	}
	confidence := ""
	if d.Confidence != nil {
		confidence = strconv.FormatFloat(*d.Confidence, 'g', -1, 64)
	}
	return []field{
		{"action", d.Action},
		{"agent", d.Agent},
		{"reason", d.Reason},
		{"confidence", confidence},
		{"retry", retry},
		{"hints", string(d.Hints)},
		{"scores", fmt.Sprint(slices.Clip(d.Scores))},
		{"state", state},
		{"fuel", strconv.FormatUint(fuel, 10)},
	}
}
