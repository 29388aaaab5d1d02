package server

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// encoded is an event as it is sent.
type encoded = json.RawMessage

type (
	commandInput struct {
		Room string `path:"room" maxLength:"128"`
		Body api.Command
	}
	commandOutput struct{ Body api.Done }
)

func (s *Server) registerCommands() {
	route(s, Talk, huma.Operation{
		OperationID: "command", Method: http.MethodPost, Path: "/api/rooms/{room}/commands", Summary: "Do something in a room: say needs the scope talk, everything else control",
	}, s.command)
}

// command carries out a command of the caller.
func (s *Server) command(ctx context.Context, in *commandInput) (*commandOutput, error) {
	c := CallerOf(ctx)
	if in.Body.Do != "say" {
		if err := c.check(Control, "", ""); err != nil {
			return nil, err
		}
	}
	act, err := s.act(ctx, in.Room, in.Body)
	if err != nil {
		return nil, err
	}
	actor, err := c.actor(in.Body.As)
	if err != nil {
		return nil, err
	}
	events, err := s.cfg.Host.Do(ctx, in.Room, moot.Command{ID: in.Body.ID, Actor: actor, Via: c.Via, Do: act})
	if err != nil {
		return nil, err
	}
	done, err := api.DoneOf(c.visible(events))
	return &commandOutput{done}, err
}

// act returns the act of a command in a room, "" for one that is still to be made.
func (s *Server) act(ctx context.Context, id string, c api.Command) (room.Act, error) {
	if c.Limits != nil {
		if err := checkLimits(*c.Limits); err != nil {
			return nil, err
		}
	}
	if c.Do != "policy" {
		return c.Act()
	}
	choice, err := policyChoice(ctx, c.Policy, c.Digest, c.Settings)
	if err != nil {
		return nil, err
	}
	ref, err := s.cfg.Host.PolicyFor(ctx, id, choice)
	return room.SetPolicy{Policy: ref}, err
}

// checkLimits refuses limits below 0. The limit 0 is the default.
func checkLimits(l room.Limits) error {
	for field, v := range reflect.ValueOf(l).Fields() {
		if v.Int() < 0 {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			return &problem.Error{Code: "API-REQUEST", What: "a limit is negative", Where: "limits." + name, Fix: "write a number above 0; without the limit its default holds"}
		}
	}
	return nil
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

// level returns which messages the caller sees.
func (c Caller) level() room.Visibility {
	if c.Scope >= Control {
		return room.Internal
	}
	return room.UserVisible
}

// atMost returns the level that the caller asks for, "" for its own. A caller sees no
// more than its own.
func (c Caller) atMost(asked room.Visibility) (room.Visibility, error) {
	switch asked {
	case "":
		return c.level(), nil
	case room.UserVisible, room.UserRedacted, room.Internal:
	default:
		return "", &problem.Error{Code: "API-REQUEST", What: "there is no such level", Where: "query.level", Fix: "use user_visible, user_redacted or internal"}
	}
	if asked != room.UserVisible && c.level() != room.Internal {
		return "", &problem.Error{Code: "API-FORBIDDEN", What: c.Name + " sees only what is visible to all", Where: "query.level", Fix: "use a token with the scope control"}
	}
	return asked, nil
}

// visible returns what the caller sees of events. It sees its own message whole.
func (c Caller) visible(events []room.Event) []room.Event {
	var seen []room.Event
	for _, e := range events {
		m, ok := e.Body.(room.MessagePosted)
		if own := ok && c.Seat != "" && m.Message.From == c.Seat; !own {
			if e, ok = moot.Visible(e, c.level()); !ok {
				continue
			}
		}
		seen = append(seen, e)
	}
	return seen
}
