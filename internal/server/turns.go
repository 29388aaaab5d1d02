package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/fork"
	"github.com/folkmoot/moot/internal/sight"
	"github.com/folkmoot/moot/problem"
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
