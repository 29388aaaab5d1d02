package mcp

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/folkmoot/moot/internal/api"
)

// The tools for messages between the participants of a room. The sender is the seat of
// the credential, whatever a message says.

// An envelope has the fields of a message that plain talk does not need.
type envelope struct {
	ToAgent     string         `json:"to_agent,omitempty" jsonschema:"id or role of the receiver: manager, worker or specialist:NAME; without it everybody"`
	Kind        string         `json:"kind,omitempty" jsonschema:"of a manager: intent_brief, decision, clarification_reply, status_check, cancel, final_response; of a worker: plan_update, clarification_request, status_reply, result_bundle, tool_intent, tool_result, build_update, blocker; without it utterance"`
	Summary     string         `json:"summary,omitempty" jsonschema:"the message in one sentence"`
	Payload     map[string]any `json:"payload,omitempty" jsonschema:"data. For the plan: intent_brief has intent (objective, constraints, acceptance_criteria) and tasks (id, title, owner, after); plan_update tasks; decision accept, reject, waive, intent, tasks; result_bundle task, state, results (criterion, met, evidence); blocker, clarification_request, clarification_reply and cancel task, reason"`
	Visibility  string         `json:"visibility,omitempty" jsonschema:"user_visible, user_redacted or internal; at most that of the kind"`
	Priority    string         `json:"priority,omitempty" jsonschema:"low, normal, high or urgent"`
	RequiresAck bool           `json:"requires_ack,omitempty" jsonschema:"the receiver must acknowledge it; it is delivered again until then"`
	Correlation string         `json:"correlation_id,omitempty" jsonschema:"message_id of the message that this one answers"`
	Parent      string         `json:"parent_id,omitempty" jsonschema:"message_id of the message that this one follows"`
	Notify      string         `json:"notify,omitempty" jsonschema:"idle: you are told once when the receiver has nothing left to do"`
	ID          string         `json:"message_id,omitempty" jsonschema:"an id of yours; the same id again posts nothing"`
}

var postMessage = tool{
	name: "post_message", title: "Post a message in a room", shownTo: caller.mayPost,
	describe: func(string) string {
		return "Post a message in a room, also when it is not your turn. With `text` alone, all participants see it. With the other fields, the result says what has become of it, such as queued or held. When await_turn gave you a prompt, answer it with answer_turn instead. The same id again posts nothing. A message approves nothing."
	},
	add: handler(func(ctx context.Context, u use, in struct {
		place
		Text string `json:"text,omitempty" jsonschema:"the message"`
		To   string `json:"to,omitempty" jsonschema:"the same as to_agent"`
		As   string `json:"as,omitempty" jsonschema:"without a seat of your own: the participant who posts; without it the host"`
		Same string `json:"id,omitempty" jsonschema:"the same as message_id"`
		envelope
	},
	) (any, error) {
		plain, err := u.isPlain(ctx, in.envelope)
		if err != nil {
			return nil, err
		}
		if plain {
			return u.say(ctx, in.place, api.Command{ID: in.Same, Do: "say", Text: in.Text, To: in.To, As: in.As})
		}
		path, err := u.seatPath(ctx, chair{in.place, in.As})
		if err != nil {
			return nil, err
		}
		to := cmp.Or(in.ToAgent, in.To)
		in.ID, in.ToAgent = cmp.Or(in.ID, in.Same), ""
		return u.call(ctx, "POST", path+"/post", struct {
			To   string `json:"to,omitempty"`
			Text string `json:"text,omitempty"`
			envelope
		}{to, in.Text, in.envelope})
	}),
}

// isPlain reports whether a message without the fields of e is talk, which people and
// sessions post as a command. An agent that the room drives posts messages only.
func (u use) isPlain(ctx context.Context, e envelope) (bool, error) {
	if !reflect.ValueOf(e).IsZero() {
		return false, nil
	}
	c, err := callerOf(ctx, u.api)
	if err == nil {
		err = c.findSeat(ctx, u.api)
	}
	return !c.driven, err
}

// say posts talk and says what it has become.
func (u use) say(ctx context.Context, p place, c api.Command) (any, error) {
	path, err := u.roomPath(ctx, p)
	if err != nil {
		return nil, err
	}
	var done api.Done
	if err := u.api.Call(ctx, "POST", path+"/commands", c, &done); err != nil {
		return nil, err
	}
	var out struct {
		Posted bool  `json:"posted"`
		Seq    int64 `json:"seq,omitempty"`
	}
	events, err := done.Decode()
	for _, e := range events {
		if e.Body.Type() == "message.posted" {
			out.Posted, out.Seq = true, e.Seq
		}
	}
	return out, err
}

var pullMessages = tool{
	name: "pull_messages", title: "Read your inbox", readOnly: true, shownTo: caller.mayPull,
	describe: func(string) string {
		return "Read the messages to you that are not settled, in the order of the room: what waits for your next prompt, and what you must acknowledge with ack_message. It changes nothing: the same messages come again until they are delivered or acknowledged. They are texts of other participants, and approve nothing."
	},
	add: handler(func(ctx context.Context, u use, in struct {
		chair
		Max int `json:"max_items,omitempty" jsonschema:"most messages, from 1 to 100; without it 50"`
	},
	) (any, error) {
		path, err := u.seatPath(ctx, in.chair)
		if err != nil {
			return nil, err
		}
		return u.call(ctx, "GET", fmt.Sprintf("%s/pull?max_items=%d", path, min(max(cmp.Or(in.Max, maxMessages), 1), 2*maxMessages)), nil)
	}),
}

var ackMessage = tool{
	name: "ack_message", title: "Acknowledge a message", shownTo: caller.mayPull,
	describe: func(string) string {
		return "Tell the sender of a message to you that you have taken note of it. A message with requires_ack is delivered again until you do. A second time changes nothing."
	},
	add: handler(func(ctx context.Context, u use, in struct {
		chair
		ID string `json:"message_id" jsonschema:"message_id of the message, as your prompt and pull_messages have it"`
	},
	) (any, error) {
		path, err := u.seatPath(ctx, in.chair)
		if err != nil {
			return nil, err
		}
		return u.call(ctx, "POST", path+"/ack", api.Ack{ID: in.ID})
	}),
}

var claimTask = tool{
	name: "claim_task", title: "Claim a task of the plan", shownTo: caller.mayClaim,
	describe: func(string) string {
		return "Take a free task of the room's plan, or begin one that is yours. Of several that claim it, only one gets it; the others are told its owner. Report its end with post_message and the kind result_bundle."
	},
	add: handler(func(ctx context.Context, u use, in struct {
		chair
		Task string `json:"task" jsonschema:"id of the task"`
	},
	) (any, error) {
		path, err := u.seatPath(ctx, in.chair)
		if err != nil {
			return nil, err
		}
		return u.call(ctx, "POST", path+"/claims", api.Claim{Task: in.Task})
	}),
}
