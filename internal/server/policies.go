package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/room"
)

// Bounds of replays.
const (
	maxReplays   = 2 // at once; others wait
	maxReported  = 6 // policies of one report
	reportTime   = time.Minute
	progressTime = 200 * time.Millisecond // between two lines about the progress
)

func (s *Server) registerPolicies() {
	route(s, Control, huma.Operation{OperationID: "policies", Method: http.MethodGet, Path: "/api/policies", Summary: "List the policies that a new room can have, with the schemas of their settings"},
		func(ctx context.Context, _ *struct{}) (*policiesOutput, error) { return s.policies(ctx, "") })
	route(s, Control, huma.Operation{OperationID: "roomPolicies", Method: http.MethodGet, Path: "/api/rooms/{room}/policies", Summary: "List the policies that a room can have, the one that it has included"},
		func(ctx context.Context, in *roomInput) (*policiesOutput, error) { return s.policies(ctx, in.Room) })
	roomParam := &huma.Param{Name: "room", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
	s.rawAs(Control, huma.Operation{
		OperationID: "preview", Method: http.MethodPost, Path: "/api/rooms/{room}/preview", Summary: "Preview a policy: what it would have decided in the last rounds of a room",
		Description: "The answer is lines of JSON: how far the preview is, and at last its result. A caller that goes away ends it.",
		Parameters:  []*huma.Param{roomParam},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schemaOf[api.PolicyChoice](s)}}},
		Responses:   map[string]*huma.Response{"200": {Description: "Lines", Content: map[string]*huma.MediaType{typeLines: {Schema: schemaOf[api.PreviewUpdate](s)}}}},
	}, s.preview)
	s.rawAs(Control, huma.Operation{
		OperationID: "replay", Method: http.MethodGet, Path: "/api/rooms/{room}/replay", Summary: "Replay policies over a room, and report as a page",
		Parameters: []*huma.Param{
			roomParam,
			{Name: "policy", In: "query", Required: true, Description: "A PolicyChoice in JSON, once for each policy", Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "simulate", In: "query", Description: "Let each policy run the recorded agents", Schema: &huma.Schema{Type: huma.TypeBoolean}},
		},
		Responses: map[string]*huma.Response{"200": {Description: "A page that loads nothing", Content: map[string]*huma.MediaType{"text/html": {}}}},
	}, s.replay)
}

type (
	roomInput struct {
		Room string `path:"room" maxLength:"128"`
	}
	policiesOutput struct{ Body api.Policies }
)

// policies lists the policies that a room can have, "" for one that is still to be made.
func (s *Server) policies(ctx context.Context, id string) (*policiesOutput, error) {
	entries, err := s.cfg.Host.Policies(ctx, id)
	out := &policiesOutput{api.Policies{Policies: []api.Policy{}}}
	for _, e := range entries {
		m := e.Manifest
		schema, _ := m.ConfigSchema.(policy.JSON)
		out.Body.Policies = append(out.Body.Policies, api.Policy{
			Name: m.Name, Version: m.Version, Digest: m.SHA256, Origin: e.Origin, Description: m.Description, Author: m.Author,
			Schema: json.RawMessage(schema), Defaults: json.RawMessage(e.Defaults()),
		})
	}
	return out, err
}

// policyChoice checks who names a policy, and its settings.
func policyChoice(ctx context.Context, name, digest string, settings json.RawMessage) (moot.PolicyChoice, error) {
	c := moot.PolicyChoice{Name: name, Digest: digest}
	if strings.ContainsAny(name, `/\`) && CallerOf(ctx).Scope < Admin {
		return c, &problem.Error{Code: "API-FORBIDDEN", What: "a policy in a file needs the scope admin", Fix: "name a built-in or installed policy: `moot policy ls` lists them"}
	}
	if len(settings) == 0 || string(settings) == "null" {
		return c, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, settings); err != nil || compact.Bytes()[0] != '{' {
		return c, &problem.Error{Code: "ROOM-SETTINGS", What: "the settings are not an object", Where: "settings", Fix: "send an object in JSON", Err: err}
	}
	c.Settings = compact.Bytes()
	return c, nil
}

// tried loads the policy that q names, to replay a room. The caller calls end.
func (s *Server) tried(ctx context.Context, id string, q api.PolicyChoice) (p drive.Policy, end func(), err error) {
	choice, err := policyChoice(ctx, q.Policy, q.Digest, q.Settings)
	if err != nil {
		return p, nil, err
	}
	loaded, ref, end, err := s.cfg.Host.TryPolicy(ctx, id, choice)
	return drive.Policy{Name: q.Policy + string(choice.Settings), Ref: ref, Proposer: loaded}, end, err
}

// replaying waits for the right to replay. The caller calls end.
func (s *Server) replaying(ctx context.Context) (end func(), err error) {
	select {
	case s.replays <- struct{}{}:
		return func() { <-s.replays }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// transcript returns the log of a room as far as it is stored now, the number of its
// last event, and how many decision points it has at most.
func (s *Server) transcript(ctx context.Context, id string) (t history.Transcript, tail int64, rounds int, err error) {
	v, err := s.cfg.Host.View(ctx, id, room.UserVisible)
	if err != nil {
		return t, 0, 0, err
	}
	rounds = v.Tally.Turns + v.Tally.Declined
	if v.Phase == room.PhaseCompleted {
		rounds++ // it may have ended by a decision
	}
	return history.Transcript{Name: id, Events: s.roomEvents(ctx, id, v.Seq)}, v.Seq, rounds, nil
}

// roomEvents yields the events of a room up to the one with the number tail.
func (s *Server) roomEvents(ctx context.Context, id string, tail int64) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		for e, err := range s.entries(ctx, id, 0, tail) {
			if !yield(e.Event, err) || err != nil {
				return
			}
		}
	}
}

// preview asks a policy at the last decision points of a room.
func (s *Server) preview(w http.ResponseWriter, r *http.Request) {
	ctx, id := r.Context(), r.PathValue("room")
	var q api.PolicyChoice
	err := readBody(w, r, &q)
	if err != nil {
		s.fail(w, err)
		return
	}
	t, tail, rounds, err := s.transcript(ctx, id)
	if err != nil {
		s.fail(w, err)
		return
	}
	p, end, err := s.tried(ctx, id, q)
	if err != nil {
		s.fail(w, err)
		return
	}
	defer end()
	out, stop := shareStream(w, r)
	defer stop()
	done, err := s.replaying(ctx)
	if err != nil {
		return // the caller has gone
	}
	defer done()
	said := progress{out: out}
	t.Events = said.reading(t.Events, tail)
	made, err := replay.MakePreview(ctx, replay.PreviewConfig{Policy: p, Rounds: rounds, Progress: func(made, of int) {
		said.now.Made, said.now.Of = made, of
		said.tell()
	}}, t)
	last := api.PreviewUpdate{Preview: made}
	if err != nil {
		last = api.PreviewUpdate{Problem: api.ProblemOf(0, err)}
	}
	_ = out.send(last) // the caller has gone, if not
}

// A progress tells the caller of a preview how far it is, now and then.
type progress struct {
	out  *sharedStream
	now  api.PreviewProgress
	told time.Time
}

func (p *progress) tell() {
	if time.Since(p.told) >= progressTime {
		p.told = time.Now()
		_ = p.out.send(api.PreviewUpdate{Progress: &p.now}) // the caller has gone, if not
	}
}

// reading yields events, and tells how many were read.
func (p *progress) reading(events iter.Seq2[room.Event, error], tail int64) iter.Seq2[room.Event, error] {
	p.now.Events = tail
	return func(yield func(room.Event, error) bool) {
		for e, err := range events {
			p.now.Read = e.Seq
			p.tell()
			if !yield(e, err) {
				return
			}
		}
	}
}

// replay reports what policies would have decided in a room.
func (s *Server) replay(w http.ResponseWriter, r *http.Request) {
	made, err := s.report(r.Context(), r)
	var page bytes.Buffer
	if err == nil {
		err = made.WriteHTML(&page)
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", report.ContentPolicy()+"; frame-ancestors 'none'")
	_, _ = (&deadlineWriter{w: w, conn: http.NewResponseController(w)}).Write(page.Bytes()) // the caller has gone, if not
}

func (s *Server) report(ctx context.Context, r *http.Request) (*report.Report, error) {
	c := replay.Config{Workers: 1}
	for name, values := range r.URL.Query() {
		switch {
		case name == "policy" && len(values) <= maxReported:
		case name == "simulate" && len(values) == 1 && (values[0] == "true" || values[0] == "false"):
			c.Simulate = values[0] == "true"
		default:
			return nil, badQuery(name, "there is no such parameter or value, or it is given too often")
		}
	}
	id := r.PathValue("room")
	t, _, _, err := s.transcript(ctx, id)
	if err != nil {
		return nil, err
	}
	end, err := s.replaying(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	timed, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	for _, text := range r.URL.Query()["policy"] {
		var q api.PolicyChoice
		if err := strict.Decode([]byte(text), maxDepth, &q); err != nil {
			return nil, badQuery("policy", "it is no choice of a policy in JSON")
		}
		p, end, err := s.tried(timed, id, q)
		if err != nil {
			return nil, err
		}
		defer end()
		c.Policies = append(c.Policies, named(p, c.Policies))
	}
	if len(c.Policies) == 0 {
		return nil, badQuery("policy", "no policy is named")
	}
	made, err := replay.Run(timed, c, func(yield func(history.Transcript, error) bool) { yield(t, nil) })
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, &problem.Error{Code: "REPLAY-LONG", What: "the replay takes longer than " + reportTime.String(), Where: "room " + id, Fix: "`moot replay " + id + " --policy NAME --html report.html` has no limit of time"}
	}
	return made, err
}

// named returns p with a name of its own among others.
func named(p drive.Policy, others []drive.Policy) drive.Policy {
	name := p.Name
	for n := 2; ; n++ {
		taken := false
		for _, x := range others {
			taken = taken || x.Name == p.Name
		}
		if !taken {
			return p
		}
		p.Name = fmt.Sprintf("%s #%d", name, n)
	}
}
