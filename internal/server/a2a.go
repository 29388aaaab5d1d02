package server

import (
	"context"
	"iter"
	"net/http"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/server/a2aroom"
	"github.com/folkmoot/moot/room"
)

// a2aPath is where the agent of a room is reached, and where its card is searched for.
const a2aPath = "/api/rooms/{room}/a2a"

// registerA2A registers rooms as agents of the Agent2Agent protocol.
func (s *Server) registerA2A() {
	h := a2aroom.Handler(s.a2aRoom, s.cfg.Log)
	s.raw(Talk, http.MethodPost, a2aPath, "The room as an agent of the Agent2Agent protocol 1.0, over JSON-RPC", func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), a2aKey{}, r.PathValue("room"))))
	})
	s.raw(Read, http.MethodGet, a2aPath+"/.well-known/agent-card.json", "The agent card of the room", s.agentCard)
}

// agentCard writes the card of a room.
func (s *Server) agentCard(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("room")
	v, err := s.cfg.Host.View(r.Context(), id, room.UserVisible)
	if err != nil {
		s.fail(w, err)
		return
	}
	b, err := a2aroom.Card(v, s.base(r)+"/api/rooms/"+id+"/a2a", s.cfg.Version)
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // the caller has gone, if not
}

// base returns the address of the server, as the sender of a request reaches it.
func (s *Server) base(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

type a2aKey struct{}

// a2aRoom returns the room of a request, whose sender has been identified.
func (s *Server) a2aRoom(ctx context.Context) (a2aroom.Room, error) {
	id, _ := ctx.Value(a2aKey{}).(string)
	actor, err := CallerOf(ctx).actor("")
	return &taskRoom{s.cfg.Host, id, actor}, err
}

// A taskRoom is a room as the sender of a task sees it: what it shows to everybody.
type taskRoom struct {
	host      *moot.Host
	id, actor string
}

// ID implements [a2aroom.Room], like the other methods.
func (t *taskRoom) ID() string { return t.id }

func (t *taskRoom) Say(ctx context.Context, id, text string) (int64, error) {
	events, err := t.host.Do(ctx, t.id, moot.Command{ID: id, Actor: t.actor, Via: "a2a", Do: room.Say{Text: text}})
	if err != nil {
		return 0, err
	}
	for _, e := range events {
		if _, ok := e.Body.(room.MessagePosted); ok {
			return e.Seq, nil
		}
	}
	v, err := t.View(ctx)
	return v.Seq, err
}

func (t *taskRoom) Watch(ctx context.Context, after int64) iter.Seq2[moot.Update, error] {
	return t.host.Watch(ctx, t.id, after, room.UserVisible)
}

func (t *taskRoom) View(ctx context.Context) (room.View, error) {
	return t.host.View(ctx, t.id, room.UserVisible)
}
