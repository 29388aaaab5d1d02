package ndjson

import (
	"encoding/json"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// An ackRequest acknowledges messages of the agent's inbox.
type ackRequest struct {
	MessageIDs []string `json:"message_ids"`
}

// An ackReply is the room's answer to an ackRequest, in its order.
type ackReply struct {
	Type   string  `json:"type"`
	Acks   []acked `json:"acks"`
	Reason string  `json:"reason,omitempty"` // of a request that cannot be read
}

type acked struct {
	MessageID string `json:"message_id"`
	Allowed   bool   `json:"allowed"`
	Reason    string `json:"reason,omitempty"`
}

// A claimRequest takes a task of the plan.
type claimRequest struct {
	Task string `json:"task"`
}

// A claimReply is the room's answer to a claimRequest.
type claimReply struct {
	Type    string `json:"type"`
	Task    string `json:"task"`
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"`
}

// Bounds of acknowledgements and claims.
const (
	maxAcks = 100 // of one frame
	maxID   = 128 // bytes
)

const notTaken = "the room did not take it"

// acknowledge raises the acknowledgements of a frame.
func (w *wire) acknowledge(raw []byte) {
	var q ackRequest
	if why := q.read(raw); why != "" {
		w.refuse(why, ackReply{Type: typeAckReply, Acks: []acked{}, Reason: why})
		return
	}
	w.signals.Ask(endpoint.Signal{Kind: endpoint.SignalAck, Of: q.MessageIDs}, func(a endpoint.Answer, err error) {
		w.reply(q.answered(a, err))
	})
}

// read decodes the frame, and says why it is none.
func (q *ackRequest) read(raw []byte) string {
	if err := json.Unmarshal(raw, q); err != nil {
		return "an acknowledgement cannot be read: " + describe(err)
	}
	if len(q.MessageIDs) == 0 || len(q.MessageIDs) > maxAcks {
		return "an acknowledgement has message_ids, at most 100"
	}
	for _, id := range q.MessageIDs {
		if id == "" || len(id) > maxID {
			return "an id of message_ids has 1 to 128 bytes"
		}
	}
	return ""
}

func (q *ackRequest) answered(a endpoint.Answer, err error) ackReply {
	if err != nil {
		a = endpoint.Answer{Reason: notTaken}
	}
	v := ackReply{Type: typeAckReply}
	for i, id := range q.MessageIDs {
		one := acked{MessageID: id, Allowed: a.Allowed, Reason: a.Reason}
		if len(a.Reasons) == len(q.MessageIDs) { // a floor that refuses all states none
			one.Reason = a.Reasons[i]
			one.Allowed = one.Reason == ""
		}
		v.Acks = append(v.Acks, one)
	}
	return v
}

// claim raises the claim of a task.
func (w *wire) claim(raw []byte) {
	var q claimRequest
	why := ""
	if err := json.Unmarshal(raw, &q); err != nil {
		why = "a claim cannot be read: " + describe(err)
	} else if q.Task == "" || len(q.Task) > maxID {
		why = "a claim has a task of 1 to 128 bytes"
	}
	if why != "" {
		w.refuse(why, claimReply{Type: typeClaimReply, Reason: why})
		return
	}
	w.signals.Ask(endpoint.Signal{Kind: endpoint.SignalClaim, Code: q.Task}, func(a endpoint.Answer, err error) {
		if err != nil {
			a = endpoint.Answer{Reason: notTaken}
		}
		w.reply(claimReply{typeClaimReply, q.Task, a.Allowed, a.Reason})
	})
}

// refuse reports a frame that breaks the protocol, and answers it.
func (w *wire) refuse(why string, answer any) {
	broken := endpoint.Signal{Kind: endpoint.SignalViolation, Code: "bad_frame", Detail: endpoint.CleanLine(why, maxReason)}
	w.signals.Ask(broken, func(endpoint.Answer, error) { w.reply(answer) })
}

// reply sends the agent an answer of the room.
func (w *wire) reply(v any) {
	if b, err := encodeLine(v); err == nil {
		_, _ = w.send(w.signals.Context(), b) // an agent that has ended needs no answer
	}
}
