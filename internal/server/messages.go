package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/log"
)

func (s *Server) registerMessages() {
	route(s, Read, huma.Operation{
		OperationID: "messages", Method: http.MethodGet, Path: "/api/rooms/{room}/messages", Summary: "Read messages of a room",
	}, s.messages)
	route(s, Read, huma.Operation{
		OperationID: "deliveries", Method: http.MethodGet, Path: "/api/rooms/{room}/deliveries", Summary: "Read what has become of messages to single participants",
	}, s.deliveries)
	route(s, Read, huma.Operation{
		OperationID: "deadLetters", Method: http.MethodGet, Path: "/api/rooms/{room}/dead-letters", Summary: "Read the messages that a room has refused, or whose receivers never acknowledged them",
	}, s.deadLetters)
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
	m, ok := c.sees(posted.Message)
	if m.To == room.Broadcast {
		m.To = ""
	}
	return api.Posted{
		Seq: int64(e.Seq), Turn: m.Turn, From: m.From, To: m.To, Text: cmp.Or(m.Text, m.Summary), Time: e.Event.At.UTC().Format(time.RFC3339),
		Source: m.Source, FromSession: m.FromSession, Cut: m.Cut,
	}, ok
}

// sees returns a message as the caller sees it, and false if it does not.
func (c Caller) sees(m room.Message) (room.Message, bool) {
	switch {
	case c.Scope >= Control:
		return m, true
	case c.Seat != "":
		return m.VisibleTo(c.Seat)
	}
	return m.VisibleAt(room.UserVisible)
}

// agentMessage returns the message of an event that the reader of q sees, and nil if the
// event has none. One that removes the text of a message has this message again, without
// its text.
func (s *Server) agentMessage(ctx context.Context, q subscription, e *room.Event) (*api.AgentMessage, error) {
	if e == nil {
		return nil, nil
	}
	if posted, ok := e.Body.(room.MessagePosted); ok {
		return &api.AgentMessage{Seq: e.Seq, Message: posted.Message}, nil
	}
	redacted, ok := e.Body.(room.Redacted)
	if !ok {
		return nil, nil
	}
	entries, err := s.cfg.Host.Log().Read(ctx, q.room, log.At(redacted.Target-1), 1)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	seen, ok := moot.Visible(entries[0].Event.Redacted(), q.level)
	posted, isMessage := seen.Body.(room.MessagePosted)
	if !ok || !isMessage {
		return nil, nil
	}
	return &api.AgentMessage{Seq: seen.Seq, Redacted: true, Message: posted.Message}, nil
}

type (
	deliveriesInput struct {
		Room  string `path:"room" maxLength:"128"`
		To    string `query:"to" maxLength:"128" doc:"Only those to this participant"`
		From  string `query:"from" maxLength:"128" doc:"Only those of this participant"`
		State string `query:"state" enum:"posted,queued,held,delivered,acked,expired" doc:"Only those in this state"`
		Kind  string `query:"kind" maxLength:"128" doc:"Only messages of this kind"`
		Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Most deliveries of one answer: the newest"`
	}
	deliveriesOutput struct{ Body api.Deliveries }
	deadInput        struct {
		Room string `path:"room" maxLength:"128"`
	}
	deadOutput struct{ Body api.DeadLetters }
)

// matches reports whether a reader has asked for d.
func (in *deliveriesInput) matches(d delivery.Delivery) bool {
	return (in.To == "" || d.To == in.To) && (in.From == "" || d.From == in.From) && (in.Kind == "" || d.Kind == in.Kind) &&
		(in.State == "" || string(d.State) == in.State)
}

// deliveries answers from the state of the room. A caller without control sees those of
// messages that it may read.
func (s *Server) deliveries(ctx context.Context, in *deliveriesInput) (*deliveriesOutput, error) {
	mail, err := s.cfg.Host.Mail(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	out := api.Deliveries{Deliveries: []api.Delivery{}, Dropped: mail.Deliveries.Dropped}
	for _, d := range slices.Backward(mail.Deliveries.All) {
		if !in.matches(d) {
			continue
		}
		seen, ok, err := s.delivery(ctx, in.Room, d)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			continue
		case len(out.Deliveries) == in.Limit:
			out.More = true
		}
		if out.More {
			break
		}
		out.Deliveries = append(out.Deliveries, seen)
	}
	slices.Reverse(out.Deliveries)
	return &deliveriesOutput{out}, nil
}

// delivery returns d as the caller sees it. A participant sees those of its own messages
// and those to it.
func (s *Server) delivery(ctx context.Context, id string, d delivery.Delivery) (api.Delivery, bool, error) {
	c := CallerOf(ctx)
	if c.Scope < Control && c.Seat != "" && c.Seat != d.From && c.Seat != d.To {
		return api.Delivery{}, false, nil
	}
	entries, err := s.cfg.Host.Log().Read(ctx, id, log.At(d.Seq-1), 1)
	if err != nil || len(entries) == 0 {
		return api.Delivery{}, false, err
	}
	posted, _ := entries[0].Event.Body.(room.MessagePosted)
	m, ok := c.sees(posted.Message)
	seen := api.DeliveryOf(d)
	if held := d.State == delivery.Held && c.Seat == d.To; !held {
		seen.Preview = api.PreviewOf(m)
	}
	return seen, ok, nil
}

// deadLetters answers with the newest dead letters of a room. They are internal: a
// caller without control sees its own, and those of messages that it never acknowledged.
func (s *Server) deadLetters(ctx context.Context, in *deadInput) (*deadOutput, error) {
	mail, err := s.cfg.Host.Mail(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	c := CallerOf(ctx)
	out := api.DeadLetters{DeadLetters: []api.DeadLetter{}}
	if c.Scope >= Control {
		out.Total = mail.DeadCount
	}
	for _, d := range mail.Dead {
		if own := c.Seat != "" && (d.Message.From == c.Seat || d.Participant == c.Seat); own || c.Scope >= Control {
			out.DeadLetters = append(out.DeadLetters, api.DeadLetterOf(d))
		}
	}
	return &deadOutput{out}, nil
}
