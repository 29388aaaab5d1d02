package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/sessions"
	"github.com/folkmoot/moot/problem"
)

type (
	newSessionInput  struct{ Body api.NewSession }
	newSessionOutput struct{ Body api.SessionCreated }
	sessionID        struct {
		ID string `path:"id" maxLength:"300"`
	}
	sessionMessageInput struct {
		ID   string `path:"id" maxLength:"300"`
		Wait string `query:"wait" maxLength:"20" doc:"How long to wait until the session is idle, such as 30s"`
		Body api.SessionMessage
	}
	sessionMessageOutput struct{ Body api.SessionMessageSent }
	sessionStateInput    struct {
		ID   string `path:"id" maxLength:"300"`
		Wait string `query:"wait" maxLength:"20" doc:"How long to wait until the session is idle, such as 30s"`
	}
	sessionStateOutput struct{ Body api.SessionState }
)

// registerSessions registers the routes of the note on messages between sessions.
func (s *Server) registerSessions() {
	route(s, Talk, huma.Operation{OperationID: "newSession", Method: http.MethodPost, Path: "/api/sessions", Summary: "Create a session: an agent that works in a folder", DefaultStatus: http.StatusCreated}, s.newSession)
	route(s, Talk, huma.Operation{OperationID: "messageSession", Method: http.MethodPost, Path: "/api/sessions/{id}/messages", Summary: "Send a message to a session"}, s.messageSession)
	route(s, Read, huma.Operation{OperationID: "sessionState", Method: http.MethodGet, Path: "/api/sessions/{id}/state", Summary: "Show how a session stands"}, s.sessionState)
	route(s, Talk, huma.Operation{OperationID: "endSession", Method: http.MethodDelete, Path: "/api/sessions/{id}", Summary: "End a session", DefaultStatus: http.StatusNoContent}, s.endSession)
}

// sender returns the caller as the sender of messages.
func (s *Server) sender(ctx context.Context) (sessions.Sender, error) {
	if s.cfg.Sessions == nil {
		return sessions.Sender{}, &problem.Error{Code: "API-NOT-FOUND", What: "this process runs no sessions", Fix: "use the address of `moot serve`"}
	}
	c := CallerOf(ctx)
	return sessions.Sender{Name: c.Name, Room: c.Room, Seat: c.Seat, Control: c.Scope >= Control, Via: c.Via}, nil
}

func (s *Server) newSession(ctx context.Context, in *newSessionInput) (*newSessionOutput, error) {
	from, err := s.sender(ctx)
	if err != nil {
		return nil, err
	}
	b := in.Body
	id, err := s.cfg.Sessions.Create(ctx, from, sessions.New{Folder: b.Folder, Agent: b.Agent, Model: b.Model, Message: b.Message})
	return &newSessionOutput{api.SessionCreated{Session: id}}, err
}

func (s *Server) messageSession(ctx context.Context, in *sessionMessageInput) (*sessionMessageOutput, error) {
	from, err := s.sender(ctx)
	if err != nil {
		return nil, err
	}
	wait, err := parseWait(in.Wait)
	if err != nil {
		return nil, err
	}
	id, err := s.cfg.Sessions.Post(ctx, from, in.ID, sessions.Message{Text: in.Body.Message, Source: in.Body.Source})
	if err != nil {
		return nil, err
	}
	out := &sessionMessageOutput{api.SessionMessageSent{Message: id, Status: "dispatched"}}
	if wait > 0 {
		state, err := s.cfg.Sessions.State(ctx, from, in.ID, wait)
		if err != nil {
			return nil, err
		}
		out.Body.State = stateOf(state)
	}
	return out, nil
}

func (s *Server) sessionState(ctx context.Context, in *sessionStateInput) (*sessionStateOutput, error) {
	from, err := s.sender(ctx)
	if err != nil {
		return nil, err
	}
	wait, err := parseWait(in.Wait)
	if err != nil {
		return nil, err
	}
	state, err := s.cfg.Sessions.State(ctx, from, in.ID, wait)
	if err != nil {
		return nil, err
	}
	return &sessionStateOutput{*stateOf(state)}, nil
}

func (s *Server) endSession(ctx context.Context, in *sessionID) (*struct{}, error) {
	from, err := s.sender(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.cfg.Sessions.End(ctx, from, in.ID)
}

func stateOf(s sessions.State) *api.SessionState {
	out := &api.SessionState{Session: s.ID, Status: s.Status, Folder: s.Folder, Active: s.Loaded, Ended: s.Ended}
	if s.Last != nil {
		out.Last = &api.SessionLastMessage{Role: s.Last.Role, Content: s.Last.Text, Time: s.Last.Time}
	}
	return out
}

// maxWait is the longest time that a request waits for a session.
const maxWait = 10 * time.Minute

func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxWait {
		return 0, &problem.Error{Code: "API-REQUEST", What: "wait is no duration up to 10m", Fix: "write it as 30s"}
	}
	return d, nil
}
