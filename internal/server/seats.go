package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// registerSeats registers what a session that already runs needs to hold its seat.
func (s *Server) registerSeats() {
	const path = "/api/rooms/{room}/seats/{seat}/"
	route(s, Talk, huma.Operation{
		OperationID: "awaitTurn", Method: http.MethodPost, Path: path + "await", Summary: "Await the turn of a seat, and renew its lease",
	}, s.awaitTurn)
	route(s, Talk, huma.Operation{
		OperationID: "answerTurn", Method: http.MethodPost, Path: path + "answer", Summary: "Answer the turn of a seat, once",
	}, s.answerTurn)
	route(s, Talk, huma.Operation{
		OperationID: "passTurn", Method: http.MethodPost, Path: path + "pass", Summary: "Give the turn of a seat back without a message",
	}, s.passTurn)
	route(s, Talk, huma.Operation{
		OperationID: "handOff", Method: http.MethodPost, Path: path + "handoff", Summary: "Name who should go on after the open turn of a seat",
	}, s.handOff)
	route(s, Talk, huma.Operation{
		OperationID: "post", Method: http.MethodPost, Path: path + "post", Summary: "Post a message of a seat apart from its answers, and get what has become of it",
	}, s.post)
	route(s, Talk, huma.Operation{
		OperationID: "pull", Method: http.MethodGet, Path: path + "pull", Summary: "Read the messages to a seat that are not settled, in the order of the log; it changes nothing",
	}, s.pull)
	route(s, Talk, huma.Operation{
		OperationID: "ack", Method: http.MethodPost, Path: path + "ack", Summary: "Acknowledge a message to a seat",
	}, s.ack)
	route(s, Talk, huma.Operation{
		OperationID: "claimTask", Method: http.MethodPost, Path: path + "claims", Summary: "Claim a free task of the room's plan for a seat: only one of several gets it",
	}, s.claimTask)
}

// A SeatPath names the seat of a request.
type SeatPath struct {
	Room string `path:"room" maxLength:"128"`
	Seat string `path:"seat" maxLength:"128"`
}

type (
	seatAwaitInput struct {
		SeatPath
		Body api.Await
	}
	seatAnswerInput struct {
		SeatPath
		Body api.SeatAnswer
	}
	seatPassInput struct {
		SeatPath
		Body api.SeatPass
	}
	handOffInput struct {
		SeatPath
		Body api.HandOff
	}
	handedOffOutput struct{ Body api.HandedOff }

	seatPostInput struct {
		SeatPath
		Body api.Post
	}
	seatPullInput struct {
		SeatPath
		Max int `query:"max_items" minimum:"1" maximum:"100" default:"50" doc:"Most messages of one answer"`
	}
	seatAckInput struct {
		SeatPath
		Body api.Ack
	}
	claimInput struct {
		SeatPath
		Body api.Claim
	}
	claimedOutput  struct{ Body api.Task }
	receiptOutput  struct{ Body api.Receipt }
	pulledOutput   struct{ Body api.Inbox }
	turnOutput     struct{ Body api.Turn }
	answeredOutput struct{ Body api.SeatAnswered }
)

// mayHold refuses a caller who is neither bound to the seat nor the user of this
// device.
func (c Caller) mayHold(seat string) error {
	if c.Seat == seat || c.Seat == "" && c.Scope >= Admin {
		return nil
	}
	return &problem.Error{Code: "API-FORBIDDEN", What: c.Name + " has no seat " + seat, Fix: "use a token of that seat"}
}

func (s *Server) awaitTurn(ctx context.Context, in *seatAwaitInput) (*turnOutput, error) {
	if err := CallerOf(ctx).mayHold(in.Seat); err != nil {
		return nil, err
	}
	wait := api.DefaultWait
	if in.Body.Wait != "" {
		var err error
		if wait, err = time.ParseDuration(in.Body.Wait); err != nil || wait < 0 {
			return nil, &problem.Error{Code: "API-REQUEST", What: "wait is no time", Where: "body.wait", Fix: "write it as 25s"}
		}
	}
	t, ok, err := s.cfg.Host.Await(ctx, in.Room, in.Seat, min(wait, api.MaxWait), in.Body.Fresh)
	switch {
	case errors.Is(err, room.ErrOver):
		return &turnOutput{api.Turn{Ended: true, Why: api.ProblemOf(0, err).Detail}}, nil
	case errors.Is(err, moot.ErrSilent):
		return &turnOutput{api.Turn{Again: true, Why: "the device that runs the room does not answer"}}, nil
	case err != nil:
		return nil, err
	case !ok:
		return &turnOutput{api.Turn{Again: true}}, nil
	}
	return &turnOutput{api.Turn{
		Turn: true, Room: in.Room, Seat: in.Seat, Request: t.ID, Epoch: t.Epoch, Number: t.Number, Deadline: t.Deadline.UTC(), Text: t.Text,
	}}, nil
}

func (s *Server) answerTurn(ctx context.Context, in *seatAnswerInput) (*answeredOutput, error) {
	return s.answer(ctx, in.SeatPath, moot.SeatAnswer{Request: in.Body.Request, Epoch: in.Body.Epoch, Reply: moot.Reply{
		Outcome: moot.Said, Text: in.Body.Text, Confidence: in.Body.Confidence,
	}})
}

func (s *Server) passTurn(ctx context.Context, in *seatPassInput) (*answeredOutput, error) {
	return s.answer(ctx, in.SeatPath, moot.SeatAnswer{Request: in.Body.Request, Epoch: in.Body.Epoch, Reply: moot.Reply{
		Outcome: moot.Passed, Reason: in.Body.Reason,
	}})
}

// handOff records a hand-off. A refused one is no error: its sender reads why.
func (s *Server) handOff(ctx context.Context, in *handOffInput) (*handedOffOutput, error) {
	if err := CallerOf(ctx).mayHold(in.Seat); err != nil {
		return nil, err
	}
	refused, err := s.cfg.Host.HandOff(context.WithoutCancel(ctx), in.Room, in.Seat, in.Body.To, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	return &handedOffOutput{api.HandedOff{Accepted: refused == "", Refused: refused}}, nil
}

// answer gives the room an answer. It is stored even if the caller does not wait.
func (s *Server) answer(ctx context.Context, p SeatPath, a moot.SeatAnswer) (*answeredOutput, error) {
	if err := CallerOf(ctx).mayHold(p.Seat); err != nil {
		return nil, err
	}
	done, err := s.cfg.Host.Answer(context.WithoutCancel(ctx), p.Room, p.Seat, a)
	if err != nil {
		return nil, err
	}
	return &answeredOutput{api.SeatAnswered{Request: a.Request, Outcome: done.Outcome, Number: done.Turn, Seq: done.Seq}}, nil
}

// post posts a message of the seat, also if the caller does not wait.
func (s *Server) post(ctx context.Context, in *seatPostInput) (*receiptOutput, error) {
	c := CallerOf(ctx)
	if err := c.mayHold(in.Seat); err != nil {
		return nil, err
	}
	r, err := s.cfg.Host.Post(context.WithoutCancel(ctx), in.Room, in.Seat, c.Via, in.Body.Message())
	return &receiptOutput{api.ReceiptOf(r)}, err
}

func (s *Server) pull(ctx context.Context, in *seatPullInput) (*pulledOutput, error) {
	if err := CallerOf(ctx).mayHold(in.Seat); err != nil {
		return nil, err
	}
	items, waiting, err := s.cfg.Host.Pull(ctx, in.Room, in.Seat, in.Max)
	if err != nil {
		return nil, err
	}
	out := api.Inbox{Messages: []api.Mailed{}, Waiting: waiting}
	for _, x := range items {
		m := x.Envelope
		out.Messages = append(out.Messages, api.Mailed{
			Delivery: api.DeliveryOf(x.Delivery), Text: m.Text, Summary: m.Summary, Payload: m.Payload,
			Correlation: m.Correlation, Parent: m.Parent, Thread: m.Thread, Redacted: x.Redacted,
		})
	}
	return &pulledOutput{out}, nil
}

func (s *Server) ack(ctx context.Context, in *seatAckInput) (*receiptOutput, error) {
	c := CallerOf(ctx)
	if err := c.mayHold(in.Seat); err != nil {
		return nil, err
	}
	r, err := s.cfg.Host.Acknowledge(context.WithoutCancel(ctx), in.Room, in.Seat, c.Via, in.Body.ID)
	return &receiptOutput{api.ReceiptOf(r)}, err
}

// claimTask gives a task to the seat, also if the caller does not wait.
func (s *Server) claimTask(ctx context.Context, in *claimInput) (*claimedOutput, error) {
	c := CallerOf(ctx)
	if err := c.mayHold(in.Seat); err != nil {
		return nil, err
	}
	t, err := s.cfg.Host.ClaimTask(context.WithoutCancel(ctx), in.Room, in.Seat, c.Via, in.Body.Task)
	return &claimedOutput{api.TaskOf(t)}, err
}
