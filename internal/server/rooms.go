package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
)

// registerHealth registers what tells that the server runs. It is the only route
// that needs no credential.
func (s *Server) registerHealth() {
	s.raw(Nobody, http.MethodGet, "/healthz", "Whether the server runs", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // the caller has gone, if not
	})
}

type commandInput struct {
	Room string `path:"room" maxLength:"128"`
	Body api.Command
}

type commandOutput struct{ Body api.Done }

func (s *Server) registerRooms() {
	route(s, Talk, huma.Operation{
		OperationID: "command", Method: http.MethodPost, Path: "/api/rooms/{room}/commands", Summary: "Do something in a room",
	}, s.command)
}

// command carries out a command of the caller.
func (s *Server) command(ctx context.Context, in *commandInput) (*commandOutput, error) {
	act, err := s.act(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	actor, err := CallerOf(ctx).actor(in.Body.As)
	if err != nil {
		return nil, err
	}
	events, err := s.cfg.Host.Do(ctx, in.Room, moot.Command{ID: in.Body.ID, Actor: actor, Via: CallerOf(ctx).Via, Do: act})
	if err != nil {
		return nil, err
	}
	done, err := api.DoneOf(events)
	return &commandOutput{done}, err
}

// act returns the act of a command.
func (s *Server) act(ctx context.Context, c api.Command) (room.Act, error) {
	if c.Do != "policy" {
		return c.Act()
	}
	ref, err := s.cfg.Host.FindPolicy(ctx, c.Policy)
	return room.SetPolicy{Policy: ref}, err
}

// actor returns whom a command of c is done by: its seat, else the person that it
// names, else the host.
func (c Caller) actor(as string) (string, error) {
	if c.Seat != "" {
		return c.Seat, nil
	}
	if err := c.check(Control, "", ""); err != nil {
		return "", err
	}
	if as == "" {
		return room.ActorHost, nil
	}
	return as, nil
}
