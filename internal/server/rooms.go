package server

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/preset"
	"github.com/folkmoot/moot/internal/roomlist"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

func (s *Server) registerRooms() {
	route(s, Read, huma.Operation{OperationID: "rooms", Method: http.MethodGet, Path: "/api/rooms", Summary: "List the rooms, the newest last"}, s.list)
	route(s, Admin, huma.Operation{
		OperationID: "createRoom", Method: http.MethodPost, Path: "/api/rooms", Summary: "Create a room, or run a stored one again", DefaultStatus: http.StatusCreated,
	}, s.create)
	route(s, Read, huma.Operation{OperationID: "room", Method: http.MethodGet, Path: "/api/rooms/{room}", Summary: "Show how a room stands"}, s.show)
}

type roomsOutput struct{ Body []api.RoomBrief }

// list lists the rooms that the caller may use.
func (s *Server) list(ctx context.Context, _ *struct{}) (*roomsOutput, error) {
	var node func(context.Context, string) string
	if s.cfg.NodeOf != nil {
		var err error
		if node, err = s.cfg.NodeOf(ctx); err != nil {
			return nil, err
		}
	}
	briefs, err := roomlist.Of(ctx, s.cfg.Host.Log(), s.cfg.Host.Server(), node)
	if err != nil && len(briefs) == 0 {
		return nil, err
	}
	if err != nil {
		s.cfg.Log.Warn("rooms are damaged", "error", err) // the list says it of each
	}
	if c := CallerOf(ctx); c.Room != "" {
		briefs = slices.DeleteFunc(briefs, func(b api.RoomBrief) bool { return b.Room != c.Room })
	}
	if s.cfg.Own {
		briefs = slices.DeleteFunc(briefs, func(b api.RoomBrief) bool { return !s.cfg.Host.Running(b.Room) })
	}
	return &roomsOutput{briefs}, nil
}

type (
	showInput struct {
		Room string `path:"room" maxLength:"128"`
		Last int    `query:"last" minimum:"0" maximum:"1000" doc:"How many of the last events to show"`
	}
	showOutput struct{ Body api.Shown }
)

// show shows a room as the caller may see it.
func (s *Server) show(ctx context.Context, in *showInput) (*showOutput, error) {
	level := CallerOf(ctx).level()
	shown, err := s.shown(ctx, in.Room, level)
	if err != nil {
		return nil, err
	}
	shown.Events, err = s.lastEvents(ctx, shown.View, level, in.Last)
	return &showOutput{shown}, err
}

// shown shows a room to a reader with that level.
func (s *Server) shown(ctx context.Context, id string, level room.Visibility) (api.Shown, error) {
	v, err := s.cfg.Host.View(ctx, id, level)
	if err != nil {
		return api.Shown{}, err
	}
	if level != room.Internal {
		v.InForce.Settings, v.InForce.Config = nil, nil
	}
	shown := api.ShownOf(v, v.InForce)
	shown.Process = s.cfg.Host.Log().Holder(id)
	for _, seat := range v.Seats {
		if tools, why := preset.NotEnforcedAt(seat.Endpoint, seat.Withheld); len(tools) > 0 {
			shown.NotEnforced = append(shown.NotEnforced, api.NotEnforced{Participant: seat.ID, Tools: tools, Why: why})
		}
	}
	return shown, nil
}

// lastEvents returns the last events of a room that a reader with that level sees.
func (s *Server) lastEvents(ctx context.Context, v room.View, level room.Visibility, last int) ([]encoded, error) {
	var out []encoded
	for end := v.Seq; end > 0 && len(out) < last; {
		start := max(0, end-int64(last))
		entries, err := s.cfg.Host.Log().Read(ctx, v.Room, log.At(start), int(end-start))
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(entries) {
			seen, ok := moot.Visible(e.Event, level)
			if !ok || len(out) == last {
				continue
			}
			b, err := api.EventOf(seen)
			if err != nil {
				return nil, err
			}
			out = append(out, b)
		}
		end = start
	}
	slices.Reverse(out)
	return out, nil
}

type (
	createInput  struct{ Body api.Create }
	createOutput struct {
		Status   int
		Location string `header:"Location"`
		Body     api.Created
	}
)

// create creates a room or runs a stored one.
func (s *Server) create(ctx context.Context, in *createInput) (*createOutput, error) {
	q := in.Body
	source, err := sourceOf(q)
	if err != nil {
		return nil, err
	}
	out := &createOutput{Status: http.StatusCreated}
	o, err := s.options(ctx, q.Room, q.Options, &out.Body.Warnings)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // the room is made, also for a caller who has gone
	var r *moot.Room
	if q.Room != "" {
		out.Status = http.StatusOK
		r, err = s.cfg.Host.Open(ctx, q.Room, o)
	} else {
		r, err = s.cfg.Host.Create(ctx, source, o)
	}
	switch {
	case err == nil:
		out.Body.Room = r.ID()
	case q.ID != "" && isCode(err, "ROOM-EXISTS"): // the request is sent again
		out.Status, out.Body.Room = http.StatusOK, q.ID
	default:
		return nil, err
	}
	out.Location = "/api/rooms/" + out.Body.Room
	return out, nil
}

// sourceOf returns where a room is described.
func sourceOf(q api.Create) (moot.Source, error) {
	named := 0
	for _, text := range []string{q.Room, q.YAML, q.File} {
		if text != "" {
			named++
		}
	}
	bad := func(what, fix string) (moot.Source, error) {
		return moot.Source{}, &problem.Error{Code: "API-REQUEST", What: what, Fix: fix}
	}
	switch {
	case named == 0, q.Room != "" && named > 1, q.Room != "" && q.ID != "":
		return bad("a room is described by one of yaml, file and room", "send the text of a room.yaml as yaml, its path as file, or the id of a stored room as room")
	case q.File != "" && !filepath.IsAbs(q.File), q.Dir != "" && !filepath.IsAbs(q.Dir):
		return bad("a path on the server is not absolute", "send file and dir as absolute paths")
	case q.YAML == "":
		return moot.Source{File: q.File, Dir: q.Dir, ID: q.ID}, nil
	case q.Dir == "" && q.File != "":
		q.Dir = filepath.Dir(q.File)
	}
	return moot.Source{YAML: q.YAML, Dir: q.Dir, ID: q.ID}, nil
}

// options returns the options of q, for the stored room id or a new one. Warnings about
// the room.yaml go to warnings.
func (s *Server) options(ctx context.Context, id string, q api.RunOptions, warnings *[]string) (moot.Options, error) {
	o := moot.Options{
		Headless: q.Headless, Foreground: q.Foreground, Mode: q.Mode, Policy: q.Policy, MaxTurns: q.MaxTurns, Limits: q.Limits, Restore: q.Restore,
		As: q.As, Say: q.Say, TrustCommands: q.TrustCommands, Share: q.Share,
		Warn: func(err error) {
			for _, w := range api.ProblemOf(0, err).Errors {
				*warnings = append(*warnings, w.Where+": "+w.What)
			}
		},
	}
	for _, c := range q.First {
		act, err := s.act(ctx, id, c)
		if err != nil {
			return o, err
		}
		o.First = append(o.First, act)
	}
	return o, checkLimits(q.Limits)
}

func isCode(err error, code string) bool {
	p, ok := errors.AsType[*problem.Error](err)
	return ok && p.Code == code
}
