package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/folkmoot/moot/internal/api"
)

// The tools of a session that holds a seat.

// Seconds of a wait. The API waits for so long at most.
const (
	defaultWait = 25
	maxWait     = 55
)

var awaitTurn = tool{
	name: "await_turn", title: "Wait for your turn", shownTo: caller.mayTakeTurns,
	describe: func(string) string {
		return "Wait until your seat has the turn, `wait` seconds at most. The result has the prompt and its request id; or it says again: then call await_turn again, as long as you take part. Answer with answer_turn or pass_turn. Until then you get the same prompt again. While you wait you are live in the room, otherwise away."
	},
	add: handler(func(ctx context.Context, u use, in struct {
		chair
		Wait  int  `json:"wait,omitempty" jsonschema:"seconds from 1 to 55; without it 25"`
		Fresh bool `json:"fresh,omitempty" jsonschema:"you remember nothing of the room: the next prompt has the whole history"`
	},
	) (any, error) {
		path, err := u.seatPath(ctx, in.chair)
		if err != nil {
			return nil, err
		}
		if in.Wait <= 0 {
			in.Wait = defaultWait
		}
		defer u.reportProgress(ctx, "waiting for the turn")()
		var out json.RawMessage
		body := api.Await{Wait: fmt.Sprint(min(in.Wait, maxWait), "s"), Fresh: in.Fresh}
		if err := u.api.Call(ctx, "POST", path+"/await", body, &out); err != nil {
			return nil, err
		}
		return turnResult(out)
	}),
}

// turnResult puts the prompt into the text of the result, where models read it best.
func turnResult(answer json.RawMessage) (any, error) {
	var t api.Turn
	if err := json.Unmarshal(answer, &t); err != nil || !t.Turn {
		return answer, err
	}
	text := fmt.Sprintf("It is your turn. Answer with answer_turn and the request %q, or pass with pass_turn, until %s. The prompt follows.\n\n%s", t.Request, t.Deadline.Format(time.RFC3339), t.Text)
	return &sdk.CallToolResult{StructuredContent: answer, Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
}

var answerTurn = tool{
	name: "answer_turn", title: "Answer in your turn", shownTo: caller.mayTakeTurns,
	describe: func(string) string {
		return "Answer the prompt that await_turn gave you. One request takes one answer: a second one is refused, and so is one after the deadline. If a person has to approve the answer, the result has an id: call answer_turn with it as `waiting`, without text, to ask how it stands."
	},
	add: handler(func(ctx context.Context, u use, in struct {
		chair
		Request string `json:"request,omitempty" jsonschema:"the request id of the prompt"`
		Text    string `json:"text,omitempty" jsonschema:"your message for the room"`
		Waiting string `json:"waiting,omitempty" jsonschema:"id of an answer that a person has to approve"`
	},
	) (any, error) {
		id := in.Waiting
		if state := u.req.Params.RequestState; state != "" {
			id = state
		}
		if id != "" {
			return u.decided(ctx, in.chair, id)
		}
		path, err := u.seatPath(ctx, in.chair)
		if err != nil {
			return nil, err
		}
		return u.finishTurn(ctx, path+"/answer", api.SeatAnswer{Request: in.Request, Text: in.Text})
	}),
}

var passTurn = tool{
	name: "pass_turn", title: "Pass your turn", shownTo: caller.mayTakeTurns,
	describe: func(string) string {
		return "Pass the turn that await_turn gave you, when you have nothing to add. The room goes on with other participants, and you get the next turn as usual."
	},
	add: handler(func(ctx context.Context, u use, in struct {
		chair
		Request string `json:"request,omitempty" jsonschema:"the request id of the prompt"`
		Reason  string `json:"reason,omitempty" jsonschema:"why, as one sentence that participants may read"`
	},
	) (any, error) {
		path, err := u.seatPath(ctx, in.chair)
		if err != nil {
			return nil, err
		}
		return u.finishTurn(ctx, path+"/pass", api.SeatPass{Request: in.Request, Reason: in.Reason})
	}),
}

// finishTurn answers or passes. A draft waits for a person.
func (u use) finishTurn(ctx context.Context, path string, body any) (any, error) {
	var out json.RawMessage
	if err := u.api.Call(ctx, "POST", path, body, &out); err != nil {
		return nil, err
	}
	var done api.SeatAnswered
	if err := json.Unmarshal(out, &done); err != nil || done.Outcome != "drafted" {
		return out, err
	}
	return u.askPerson(draftID{Turn: done.Number, Seq: done.Seq}), nil
}

var handOff = tool{
	name: "hand_off", title: "Hand off to another participant", shownTo: caller.mayHandOff,
	describe: func(string) string {
		return "During your turn: name the agent that should go on after you. Then answer as usual. The room's policy decides whether it follows. The result says whether the room has accepted it, or why not. Other products call this handoff or transfer_to."
	},
	add: handler(func(ctx context.Context, u use, in struct {
		chair
		To     string `json:"to" jsonschema:"id of the participant that should go on, or a role that one participant has"`
		Reason string `json:"reason,omitempty" jsonschema:"why, as one sentence that participants may read"`
	},
	) (any, error) {
		path, err := u.seatPath(ctx, in.chair)
		if err != nil {
			return nil, err
		}
		return u.call(ctx, "POST", path+"/handoff", api.HandOff{To: in.To, Reason: in.Reason})
	}),
}
