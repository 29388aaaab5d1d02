package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/fork"
	"github.com/folkmoot/moot/internal/sight"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
)

func (s *Server) registerTurns() {
	route(s, Control, huma.Operation{
		OperationID: "turn", Method: http.MethodGet, Path: "/api/rooms/{room}/turns/{turn}", Summary: "Show what an agent was handed at a turn, made again from the log",
	}, s.sight)
	route(s, Admin, huma.Operation{
		OperationID: "fork", Method: http.MethodPost, Path: "/api/rooms/{room}/forks", Summary: "Make a new room of the beginning of a room, and run it", DefaultStatus: http.StatusCreated,
	}, s.fork)
	s.registerCalls()
}

// registerCalls registers the calls of agents by agents. An agent makes them in its turn.
func (s *Server) registerCalls() {
	const path = "/api/rooms/{room}/seats/{seat}/calls"
	route(s, Control, huma.Operation{
		OperationID: "calls", Method: http.MethodGet, Path: "/api/rooms/{room}/calls", Summary: "List the calls of agents by agents: the open ones and the newest ended ones",
	}, s.listCalls)
	route(s, Talk, huma.Operation{
		OperationID: "call", Method: http.MethodPost, Path: path, Summary: "Call an agent as another one, and wait for its result",
	}, s.makeCalls)
	route(s, Talk, huma.Operation{
		OperationID: "awaitCall", Method: http.MethodGet, Path: path + "/{call}", Summary: "Show how a call stands, after a wait for its result",
	}, s.getCall)
	route(s, Talk, huma.Operation{
		OperationID: "replyCall", Method: http.MethodPost, Path: path + "/{call}/reply", Summary: "Answer the question of a called agent", DefaultStatus: http.StatusNoContent,
	}, s.replyCall)
	route(s, Talk, huma.Operation{
		OperationID: "cancelCall", Method: http.MethodPost, Path: path + "/{call}/cancel", Summary: "End a call, and all below it", DefaultStatus: http.StatusNoContent,
	}, s.cancelCall)
}

// A CallPath names a call of a seat.
type CallPath struct {
	SeatPath
	Call string `path:"call" maxLength:"128"`
}

type (
	callsInput struct {
		Room string `path:"room" maxLength:"128"`
	}
	callsOutput    struct{ Body api.Calls }
	makeCallsInput struct {
		SeatPath
		Body api.CallRequest
	}
	answersOutput struct{ Body api.CallAnswers }
	getCallInput  struct {
		CallPath
		Wait string `query:"wait" maxLength:"20" doc:"How long to wait for the result, such as 25s"`
	}
	replyCallInput struct {
		CallPath
		Body api.CallReply
	}
	cancelCallInput struct {
		CallPath
		Body api.CallCancel
	}
)

func (s *Server) listCalls(ctx context.Context, in *callsInput) (*callsOutput, error) {
	all, err := s.cfg.Host.Calls(ctx, in.Room)
	return &callsOutput{api.CallsOf(all)}, err
}

func (s *Server) makeCalls(ctx context.Context, in *makeCallsInput) (*answersOutput, error) {
	if err := CallerOf(ctx).mayHold(in.Seat); err != nil {
		return nil, err
	}
	most := api.MaxWait.Milliseconds()
	bound := func(a *api.CallArgs) {
		if a.WaitMS == nil || *a.WaitMS > most {
			a.WaitMS = &most
		}
	}
	for i := range in.Body.Calls {
		bound(&in.Body.Calls[i])
	}
	if in.Body.Calls == nil {
		bound(&in.Body.CallArgs)
	}
	args, err := json.Marshal(in.Body)
	if err != nil {
		return nil, err
	}
	answers, err := s.cfg.Host.CallAgents(ctx, in.Room, in.Seat, args)
	return &answersOutput{api.CallAnswers{Calls: answers}}, err
}

func (s *Server) getCall(ctx context.Context, in *getCallInput) (*answersOutput, error) {
	if err := CallerOf(ctx).mayHold(in.Seat); err != nil {
		return nil, err
	}
	wait := time.Duration(0)
	if in.Wait != "" {
		var err error
		if wait, err = time.ParseDuration(in.Wait); err != nil || wait < 0 {
			return nil, &problem.Error{Code: "API-REQUEST", What: "wait is no time", Where: "query.wait", Fix: "write it as 25s"}
		}
	}
	a, err := s.cfg.Host.GetCall(ctx, in.Room, in.Seat, in.Call, min(wait, api.MaxWait))
	return &answersOutput{api.CallAnswers{Calls: []calls.Answer{a}}}, err
}

func (s *Server) replyCall(ctx context.Context, in *replyCallInput) (*struct{}, error) {
	if err := CallerOf(ctx).mayHold(in.Seat); err != nil {
		return nil, err
	}
	return nil, s.cfg.Host.ReplyCall(ctx, in.Room, in.Seat, in.Call, in.Body.Text)
}

func (s *Server) cancelCall(ctx context.Context, in *cancelCallInput) (*struct{}, error) {
	if err := CallerOf(ctx).mayHold(in.Seat); err != nil {
		return nil, err
	}
	return nil, s.cfg.Host.CancelCall(ctx, in.Room, in.Seat, in.Call, in.Body.Reason)
}

type (
	sightInput struct {
		Room string `path:"room" maxLength:"128"`
		Turn int    `path:"turn" minimum:"1"`
	}
	sightOutput struct{ Body sight.Sight }
	forkInput   struct {
		Room string `path:"room" maxLength:"128"`
		Body api.Fork
	}
)

func (s *Server) sight(ctx context.Context, in *sightInput) (*sightOutput, error) {
	seen, err := sight.Of(ctx, s.cfg.Host.Log(), in.Room, in.Turn)
	return &sightOutput{seen}, err
}

// fork makes a new room, and runs it unless that is not wanted.
func (s *Server) fork(ctx context.Context, in *forkInput) (*createOutput, error) {
	at, err := fork.ParsePlace(in.Body.At)
	if err != nil {
		return nil, err
	}
	v, err := s.cfg.Host.View(ctx, in.Room, CallerOf(ctx).level())
	if err != nil {
		return nil, err
	}
	id := in.Body.ID
	if id == "" {
		id = coordinator.NewRoomID()
	}
	from := fork.Source{Room: in.Room, Entries: s.entries(ctx, in.Room, 0, v.Seq)}
	_, err = fork.Make(ctx, s.cfg.Host.Log(), from, at, id)
	if errors.Is(err, log.ErrConflict) {
		err = &problem.Error{Code: "ROOM-EXISTS", What: "there is a room " + id, Fix: "choose another id, or leave it out", Kind: log.ErrConflict}
	}
	if err != nil {
		return nil, err
	}
	out := &createOutput{Status: http.StatusCreated, Location: "/api/rooms/" + id, Body: api.Created{Room: id}}
	if !in.Body.Run {
		return out, nil
	}
	_, err = s.cfg.Host.Open(context.WithoutCancel(ctx), id, moot.Options{Policy: in.Body.Policy})
	return out, err
}
