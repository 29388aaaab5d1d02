package server

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// Bounds of a stream of events.
const (
	queueFrames  = 256              // that wait for the reader
	heartbeat    = 15 * time.Second // of a stream over HTTP
	writeTimeout = 10 * time.Second // of a frame
)

// Media types of a stream.
const (
	typeLines = "application/x-ndjson"
	typeSSE   = "text/event-stream"
)

func (s *Server) registerEvents() {
	update := schemaOf[api.Update](s)
	s.rawAs(Read, huma.Operation{
		OperationID: "events", Method: http.MethodGet, Path: "/api/rooms/{room}/events",
		Summary:     "Watch a room: JSON lines, server-sent events or a WebSocket",
		Description: "Each line, event or message is an Update. A request with Accept: text/event-stream gets server-sent events, whose ids are the numbers of the room's events, and one with Upgrade: websocket a WebSocket. Everything else gets JSON lines, of which empty ones say that the server is there.",
		Parameters: []*huma.Param{
			{Name: "room", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "after", In: "query", Description: "The number of the last event that the reader has", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(float64)}},
			{Name: "level", In: "query", Description: "The level of the reader, at most that of the caller, which is the default", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{room.UserVisible, room.UserRedacted, room.Internal}}},
			{Name: "follow", In: "query", Description: "false: end with what is stored now. true: stay while a person can continue the room. Without it the stream ends when the room is completed, stopped or in error", Schema: &huma.Schema{Type: huma.TypeBoolean}},
			{Name: "form", In: "query", Description: "page: with the HTML of texts and, after changes, the view of the room. The text of redacted messages is left out. messages: only the messages, each as agent_message, which is also the name of its server-sent event", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"page", "messages"}}},
			{Name: "Last-Event-ID", In: "header", Description: "The same as after, by which an EventSource resumes", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(float64)}},
		},
		Responses: map[string]*huma.Response{
			"101": {Description: "A WebSocket of text messages, each an Update"},
			"200": {Description: "Updates", Content: map[string]*huma.MediaType{typeLines: {Schema: update}, typeSSE: {Schema: update}}},
			"204": {Description: "The room has ended before the event after Last-Event-ID: an EventSource does not connect again"},
		},
	}, s.events)
}

// A subscription is what a reader of events asks for.
type subscription struct {
	room   string
	after  int64
	level  room.Visibility
	follow string // "", true or false
	page   bool   // in the form of pages
	only   bool   // the messages only
	tail   int64  // of the room when the stream begins
	ended  bool   // the room had then ended, and nothing comes after after

	updates func(context.Context) iter.Seq2[moot.Update, error]
}

// events serves the events of a room in the form that the reader wants.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	q, err := s.subscribe(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	ctx, cancel := untilClosed(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	accept := r.Header.Get("Accept")
	switch {
	case websocket.IsWebSocketUpgrade(r):
		s.serveWebSocket(w, r, q)
	case accepts(accept, typeSSE) && q.ended:
		w.WriteHeader(http.StatusNoContent)
	case accepts(accept, typeSSE):
		s.stream(r.Context(), q, newHTTPWriter(w, typeSSE))
	case accept == "" || accepts(accept, typeLines, "application/json", "*/*", "application/*"):
		s.stream(r.Context(), q, newHTTPWriter(w, typeLines))
	default:
		s.fail(w, notAcceptable(typeLines+" or "+typeSSE))
	}
}

// subscribe reads what a request for events asks for, and checks it against the room.
func (s *Server) subscribe(r *http.Request) (subscription, error) {
	q := subscription{room: r.PathValue("room")}
	var after string
	for name, values := range r.URL.Query() {
		if len(values) != 1 {
			return q, badQuery(name, "it is given twice")
		}
		switch name {
		case "after":
			after = values[0]
		case "level":
			q.level = room.Visibility(values[0])
		case "follow":
			q.follow = values[0]
		case "form":
			if q.page, q.only = values[0] == "page", values[0] == "messages"; !q.page && !q.only {
				return q, badQuery("form", "it is neither page nor messages")
			}
		default:
			return q, badQuery(name, "there is no such parameter")
		}
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		after = last
	}
	var err error
	if after != "" {
		if q.after, err = strconv.ParseInt(after, 10, 64); err != nil || q.after < 0 {
			return q, badQuery("after", "it is not the number of an event")
		}
	}
	if !slices.Contains([]string{"", "true", "false"}, q.follow) {
		return q, badQuery("follow", "it is neither true nor false")
	}
	if q.level, err = CallerOf(r.Context()).atMost(q.level); err != nil {
		return q, err
	}
	v, err := s.cfg.Host.View(r.Context(), q.room, q.level)
	if err != nil {
		return q, err
	}
	if q.after > v.Seq {
		return q, &problem.Error{
			Code: "ROOM-SEQ", What: fmt.Sprintf("the room has %d events, and no event %d", v.Seq, q.after), Where: "room " + q.room,
			Fix: "watch it from 0, or from an event that it has",
		}
	}
	q.tail, q.ended = v.Seq, hasEnded(v.Phase) && q.after == v.Seq && q.follow != "true"
	q.updates = func(ctx context.Context) iter.Seq2[moot.Update, error] { return s.watch(ctx, q) }
	return q, nil
}

func badQuery(name, what string) error {
	p := api.ProblemOf(http.StatusUnprocessableEntity, &problem.Error{Code: "API-REQUEST", What: "query." + name + ": " + what, Fix: "`moot schema openapi` describes the requests"})
	p.Errors = []api.Cause{{Where: "query." + name, What: what}}
	return p
}

func hasEnded(p room.Phase) bool {
	return p == room.PhaseCompleted || p == room.PhaseStopped || p == room.PhaseError
}

// A frame is one line of a stream.
type frame struct {
	seq  int64  // of the event; 0 for live text
	name string // of a server-sent event; "" is the default
	line []byte // nil: the reader does not want it
}

// A frameWriter sends frames in one of the forms of a stream. An error ends the
// stream.
type frameWriter interface {
	frame(f frame, more bool) error // more frames follow at once
	end(e api.End, line []byte)
	alive() error // says that the server is there
}

// stream sends what q asks for until the room ends, the reader goes or is too slow,
// or the server ends.
func (s *Server) stream(ctx context.Context, q subscription, w frameWriter) {
	ctx, cancel := context.WithCancel(ctx)
	frames := make(chan frame, queueFrames)
	var end api.End
	go func() {
		defer close(frames)
		end = s.pump(ctx, q, frames)
	}()
	defer func() {
		cancel()
		for range frames { // wait for the pump
		}
	}()
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	views := viewer{s: s, q: q, w: w, due: time.After(0)}
	for {
		var err error
		select {
		case f, ok := <-frames:
			if !ok {
				_ = views.send(ctx) // the reader has gone, if not
				s.sendEnd(w, end)
				return
			}
			err = w.frame(f, len(frames) > 0)
			views.changed(f)
		case <-views.due:
			err = views.send(ctx)
		case <-ticker.C:
			err = w.alive()
		case <-ctx.Done():
			return
		}
		if err != nil {
			s.cfg.Log.Debug("a reader of events has gone", "room", q.room, "error", err)
			return
		}
	}
}

func (s *Server) sendEnd(w frameWriter, e api.End) {
	line, err := encodeLine(api.Update{End: &e})
	if err != nil {
		s.cfg.Log.Error("the end of a stream cannot be encoded", "error", err)
		return
	}
	w.end(e, line)
}

// pump puts what q asks for into the queue. An event that was stored when
// the stream began waits for the reader. A new one ends the stream if the queue is full;
// live text is then left out.
func (s *Server) pump(ctx context.Context, q subscription, queue chan<- frame) api.End {
	end := api.End{After: q.after}
	for u, err := range q.updates(ctx) {
		var f frame
		if err == nil {
			f, err = s.frameOf(ctx, q, u)
		}
		if err != nil {
			end.Code, end.Problem = api.EndFailed, s.problemOf(ctx, err)
			return end
		}
		switch {
		case f.line == nil:
		case f.seq > 0 && f.seq <= q.tail:
			select {
			case queue <- f:
			case <-ctx.Done():
				return end
			}
		default:
			select {
			case queue <- f:
			default:
				if f.seq > 0 {
					end.Code = api.EndSlow
					return end
				}
			}
		}
		end.After = max(end.After, f.seq)
	}
	if ctx.Err() == nil { // otherwise the reader has gone
		end.Code = s.whyEnded(ctx, q)
	}
	return end
}

// watch yields what q asks for.
func (s *Server) watch(ctx context.Context, q subscription) iter.Seq2[moot.Update, error] {
	switch q.follow {
	case "true":
		return s.cfg.Host.Follow(ctx, q.room, q.after, q.level)
	case "false":
		return s.stored(ctx, q)
	}
	return s.cfg.Host.Watch(ctx, q.room, q.after, q.level)
}

// whyEnded says why the watch of q has ended.
func (s *Server) whyEnded(ctx context.Context, q subscription) string {
	if q.follow == "false" {
		return api.EndStored
	}
	if v, err := s.cfg.Host.View(ctx, q.room, q.level); err == nil && hasEnded(v.Phase) {
		return api.EndRoom
	}
	return api.EndServer
}

func (s *Server) frameOf(ctx context.Context, q subscription, u moot.Update) (f frame, err error) {
	if u.Event != nil {
		f.seq = u.Event.Seq
	}
	var wire api.Update
	switch {
	case q.page:
		wire, err = pageUpdate(u)
	case q.only:
		wire.AgentMessage, err = s.agentMessage(ctx, q, u.Event)
		if wire.AgentMessage == nil {
			return f, err
		}
		f.name = "agent_message"
	default:
		wire, err = api.UpdateOf(u)
	}
	if err != nil {
		return frame{}, err
	}
	f.line, err = encodeLine(wire)
	return f, err
}

// encodeLine encodes u without a line break. Events keep their bytes.
func encodeLine(u api.Update) ([]byte, error) {
	if u.Event != nil && u.HTML == "" && u.PayloadBytes == 0 {
		return fmt.Appendf(nil, `{"event":%s}`, u.Event), nil
	}
	return json.Marshal(u)
}
