package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

func (s *Server) registerMessages() {
	route(s, Read, huma.Operation{
		OperationID: "messages", Method: http.MethodGet, Path: "/api/rooms/{room}/messages", Summary: "Read messages of a room",
	}, s.messages)
}

type messagesInput struct {
	Room  string `path:"room" maxLength:"128"`
	After int64  `query:"after" minimum:"0" doc:"Messages behind this sequence number; without it all"`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"100" doc:"Most messages of one answer"`
}

type messagesOutput struct{ Body api.Messages }

// Bounds of one answer with messages.
const (
	readEvents  = 1000
	maxAnswered = 1 << 20 // bytes of texts, but one message at least
)

// messages reads messages from the log, which needs no room that runs.
func (s *Server) messages(ctx context.Context, in *messagesInput) (*messagesOutput, error) {
	out := api.Messages{Messages: []api.Posted{}, Next: in.After}
	caller, size := CallerOf(ctx), 0
	for {
		entries, err := s.cfg.Host.Log().Read(ctx, in.Room, log.At(out.Next), readEvents)
		if errors.Is(err, log.ErrNotFound) { // no such room, or nothing so far
			_, err = s.cfg.Host.View(ctx, in.Room, room.UserVisible)
		}
		if err != nil || len(entries) == 0 {
			return &messagesOutput{out}, err
		}
		for _, e := range entries {
			m, ok := caller.message(e)
			if ok && len(out.Messages) > 0 && (len(out.Messages) == in.Limit || size+len(m.Text) > maxAnswered) {
				out.More = true
				return &messagesOutput{out}, nil
			}
			if ok {
				out.Messages, size = append(out.Messages, m), size+len(m.Text)
			}
			out.Next = int64(e.Seq)
		}
	}
}

// message returns the message in an entry as the caller sees it.
func (c Caller) message(e log.Entry) (api.Posted, bool) {
	posted, ok := e.Event.Body.(room.MessagePosted)
	if !ok || e.Redacted {
		return api.Posted{}, false
	}
	m := posted.Message
	switch {
	case c.Scope >= Control:
	case c.Seat != "":
		m, ok = m.VisibleTo(c.Seat)
	default:
		m, ok = m.VisibleAt(room.UserVisible)
	}
	if m.To == room.Broadcast {
		m.To = ""
	}
	return api.Posted{
		Seq: int64(e.Seq), Turn: m.Turn, From: m.From, To: m.To, Text: cmp.Or(m.Text, m.Summary), Time: e.Event.At.UTC().Format(time.RFC3339),
		Source: m.Source, FromSession: m.FromSession, Cut: m.Cut,
	}, ok
}
