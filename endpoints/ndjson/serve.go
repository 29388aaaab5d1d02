package ndjson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/spawn"
	"github.com/folkmoot/moot/internal/strict"
)

// A Speaker answers prompts. Any endpoint is one.
type Speaker interface {
	Speak(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)
}

// Serve is the agent's side of the protocol. It reads requests from in and
// answers one after the other until in or ctx ends, or a write fails. Messages,
// acknowledgements, claims and calls that the agent raises in its turn are written as
// frames, and the room's answer is read. Live text is dropped. A line that is no
// request is an error.
func Serve(ctx context.Context, in io.Reader, out io.Writer, agent Speaker) error {
	floor := &frameFloor{in: spawn.NewLines(in, defaultMaxLine), out: out}
	for ctx.Err() == nil {
		b, err := floor.in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		p, err := promptOf(b)
		if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		reply, err := agent.Speak(ctx, p, floor)
		if err := write(out, responseTo(p, reply, err)); err != nil {
			return fmt.Errorf("writing a response: %w", err)
		}
	}
	return ctx.Err()
}

func write(out io.Writer, v any) error {
	b, err := encodeLine(v)
	if err != nil {
		return err
	}
	_, err = out.Write(b)
	return err
}

// requestKeys are the keys that a request has, as JSON pointers.
var requestKeys = []string{
	"/type", "/request_id", "/profile_id", "/session_id", "/turn_index", "/mode", "/objective", "/remote_message", "/history",
	"/constraints", "/remote_from", "/you", "/participants", "/room_constraints", "/history_summary", "/omitted", "/hints", "/inbox",
	"/host", "/trace", "/prompt", "/instructions",
}

// promptOf is the inverse of requestOf. The catch-up is the remote message only:
// the frame does not say where the catch-up began. Only the
// text says what is left out.
func promptOf(b []byte) (endpoint.Prompt, error) {
	if err := strict.Check(b, maxDepth, requestKeys); err != nil {
		return endpoint.Prompt{}, err
	}
	var q request
	if err := json.Unmarshal(b, &q); err != nil {
		return endpoint.Prompt{}, err
	}
	c := q.Constraints
	p := endpoint.Prompt{
		Text: q.Prompt, Kind: endpoint.Turn, Request: q.RequestID, Session: q.SessionID, Profile: q.ProfileID, Turn: q.TurnIndex, Mode: q.Mode,
		Instructions: q.Instructions, Objective: q.Objective, Constraints: q.RoomConstraints, Summary: q.HistorySummary, Hints: q.Hints,
		MaxOutputChars: c.MaxOutputChars, MaxHistoryTurns: c.MaxHistoryTurns, MaxHistoryChars: c.MaxHistoryChars,
		MaxToolRounds: c.MaxToolRounds, AllowToolUse: c.AllowToolUse,
		Timeout: time.Duration(c.LocalTurnTimeoutMS) * time.Millisecond,
	}
	switch q.Type {
	case typePrompt:
	case typeBid:
		p.Kind = endpoint.Bid
	default:
		return endpoint.Prompt{}, fmt.Errorf("no such request: %s", endpoint.Quote(q.Type))
	}
	if q.You != nil {
		p.You = endpoint.Seat(*q.You)
	}
	if q.Host != nil {
		p.Host = endpoint.Origin{Name: q.Host.Name, Device: q.Host.Device}
	}
	if t := q.Trace; t != nil {
		p.Trace = endpoint.Trace{ID: t.ID, Origin: t.Origin, Profile: t.Profile, Hops: t.Hops, Path: t.Path}
	}
	p.Mail = q.Inbox
	for _, s := range q.Participants {
		p.Seats = append(p.Seats, endpoint.Seat(s))
	}
	for _, e := range q.History {
		p.History = append(p.History, endpoint.Line{From: e.From, Own: e.Role == roleOwn || e.Claimed, Claimed: e.Claimed, Text: e.Text})
	}
	if q.RemoteMessage != "" || q.RemoteFrom != "" {
		p.CatchUp = []endpoint.Line{{From: q.RemoteFrom, Text: q.RemoteMessage}}
	}
	return p, nil
}

// responseTo is the inverse of replyTo.
func responseTo(p endpoint.Prompt, r endpoint.Reply, err error) response {
	f := response{Type: typeReply, RequestID: p.Request, Status: "ok", Draft: r.Text, Reason: r.Reason, Outcome: r.Outcome, Confidence: r.Confidence, ToolRounds: r.ToolRounds}
	if p.Kind == endpoint.Bid {
		f.Type, f.Bid, f.Outcome = typeBidReply, r.Bid, ""
		if f.Bid == nil {
			f.Bid = new(float64)
		}
	}
	f.Usage = usageOf(r.Usage)
	if h := r.Handoff; h != nil && p.Kind != endpoint.Bid {
		f.Handoff = &handoff{h.To, h.Reason}
	}
	if err != nil {
		f.Status, f.Reason, f.Draft, f.Outcome, f.Bid, f.Handoff = "error", err.Error(), "", "", nil, nil
	}
	return f
}
