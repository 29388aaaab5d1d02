package server

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/internal/local"
)

type inboxOutput struct {
	Body struct {
		Items []inbox.Item `json:"items" doc:"The oldest first"`
	}
}

type answerInput struct {
	Room string `path:"room" maxLength:"128"`
	Item string `path:"item" maxLength:"64" doc:"The item's id after the room: the hash of a draft, or TURN.N"`
	Body inbox.Answer
}

// registerInbox registers what waits for a person. Only callers with control may see
// it: it holds drafts, and what the owner's agents do here.
func (s *Server) registerInbox() {
	route(s, Control, huma.Operation{
		OperationID: "inbox", Method: http.MethodGet, Path: "/api/inbox", Summary: "List the items that wait for a person, in all rooms",
	}, s.listInbox)
	change := schemaOf[inbox.Change](s)
	s.rawAs(Control, huma.Operation{
		OperationID: "inbox-changes", Method: http.MethodGet, Path: "/api/inbox/changes",
		Summary:     "Follow the items that wait: JSON lines, server-sent events or a WebSocket",
		Description: "Each line, event or message is a Change. The forms are chosen as for the events of a room.",
		Responses: map[string]*huma.Response{
			"101": {Description: "A WebSocket of text messages, each a Change"},
			"200": {Description: "Changes", Content: map[string]*huma.MediaType{typeLines: {Schema: change}, typeSSE: {Schema: change}}},
		},
	}, s.watchInbox)
	route(s, Control, huma.Operation{
		OperationID: "answer-item", Method: http.MethodPost, Path: "/api/inbox/{room}/{item}/answer", Summary: "Answer a draft, a permission request or a question",
		Description: "The id of an item is ROOM/ITEM, as it stands in this path. An item is answered once: the second answer is a problem with status 409 and code ROOM-ANSWERED, which says who was first.",
	}, s.answerItem)
}

func (s *Server) listInbox(ctx context.Context, _ *struct{}) (*inboxOutput, error) {
	items := s.cfg.Host.Inbox().Running()
	if s.answersForAll(ctx) {
		var err error
		if items, err = s.cfg.Host.Inbox().Items(ctx); err != nil {
			return nil, err
		}
	}
	others, err := s.others(ctx)()
	if err != nil {
		return nil, err
	}
	for _, c := range others {
		more, err := c.Inbox(ctx)
		c.Close()
		if err != nil {
			s.cfg.Log.Debug("a process does not say what waits in its rooms", "error", err) // it has mostly just ended
		}
		items = append(items, more...)
	}
	out := &inboxOutput{}
	out.Body.Items = []inbox.Item{}
	seen := map[string]bool{}
	for _, x := range items {
		if CallerOf(ctx).mayUse(x.Room) && !seen[x.ID] {
			seen[x.ID] = true
			out.Body.Items = append(out.Body.Items, x)
		}
	}
	slices.SortStableFunc(out.Body.Items, func(x, y inbox.Item) int { return x.Since.Compare(y.Since) })
	return out, nil
}

// answersForAll reports whether an answer is about stored rooms and other processes too. One to
// another node is not: that node asks all others itself.
func (s *Server) answersForAll(ctx context.Context) bool {
	return s.cfg.Others != nil && hopsOf(ctx) == 0
}

// others returns clients of the other processes whose rooms this server answers for.
func (s *Server) others(ctx context.Context) func() (map[string]*client.Client, error) {
	return func() (map[string]*client.Client, error) {
		if s.cfg.Others == nil {
			return nil, nil
		}
		all, err := s.cfg.Others()
		if err != nil || s.cfg.Nodes == nil || hopsOf(ctx) > 0 {
			return all, err
		}
		nodes, err := s.cfg.Nodes()
		maps.Copy(all, nodes)
		return all, err
	}
}

// OtherProcesses returns clients of the processes of a data folder that listen, but for
// its server.
func OtherProcesses(data string) func() (map[string]*client.Client, error) {
	return func() (map[string]*client.Client, error) {
		sockets, err := local.Find(data)
		all := map[string]*client.Client{}
		for _, x := range sockets {
			if !x.Daemon() {
				all[x.Path] = client.Local("", x.Dial)
			}
		}
		return all, err
	}
}

// mayUse reports whether c may use the room.
func (c Caller) mayUse(room string) bool { return c.Room == "" || c.Room == room }

func (s *Server) answerItem(ctx context.Context, in *answerInput) (*commandOutput, error) {
	act, err := in.Body.Act(in.Item)
	if err != nil {
		return nil, err
	}
	c := CallerOf(ctx)
	actor, err := c.actor(in.Body.As)
	if err != nil {
		return nil, err
	}
	events, err := s.cfg.Host.Do(ctx, in.Room, moot.Command{Actor: actor, Via: c.Via, Do: act})
	if err != nil {
		return nil, err
	}
	done, err := api.DoneOf(events)
	return &commandOutput{done}, err
}

// watchInbox serves the stream of the inbox in the form that the reader wants.
func (s *Server) watchInbox(w http.ResponseWriter, r *http.Request) {
	if websocket.IsWebSocketUpgrade(r) {
		s.overWebSocket(w, r, s.streamInbox)
		return
	}
	s.streamInbox(r.Context(), newChosenWriter(w, r))
}

// streamInbox sends what waits and its changes. A slow reader delays only itself: it
// is sent what has changed since the last frame, and there is no queue.
func (s *Server) streamInbox(ctx context.Context, out frameWriter) {
	ctx, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	changes := make(chan inbox.Change)
	send := func(c inbox.Change) error {
		select {
		case changes <- c:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	group.Go(func() { s.end(stop, s.followOwn(ctx, send)) })
	if s.cfg.Others != nil {
		group.Go(func() { s.end(stop, client.FollowInboxes(ctx, s.others(ctx), send)) })
	}
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		var err error
		select {
		case c := <-changes:
			if CallerOf(ctx).mayUse(roomOf(c)) {
				err = sendJSON(out, c)
			}
		case <-ticker.C:
			err = out.alive()
		case <-ctx.Done():
			return
		}
		if err != nil {
			return // the reader has gone
		}
	}
}

// end ends a stream that cannot go on.
func (s *Server) end(stop func(), err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.cfg.Log.Warn("a stream of the inbox has ended", "error", err)
	}
	stop()
}

// followOwn sends what waits in the rooms of this process, and its changes.
func (s *Server) followOwn(ctx context.Context, send func(inbox.Change) error) error {
	follower := s.cfg.Host.Inbox().Follow(s.answersForAll(ctx))
	for {
		changes, err := follower.Changes(ctx)
		if err != nil {
			return err
		}
		for _, c := range changes {
			if err := send(c); err != nil {
				return err
			}
		}
		select {
		case <-follower.Changed():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// roomOf returns the room of a change.
func roomOf(c inbox.Change) string {
	id := ""
	switch {
	case c.Item != nil:
		id = c.Item.ID
	case c.Ended != nil:
		id = c.Ended.ID
	}
	in, _, _ := strings.Cut(id, "/")
	return in
}
