package share

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// Take handles a request or its cancellation. Agents run in the background.
func (s *Share) Take(from identity.DeviceID, e envelope.Envelope) bool {
	switch e.Type {
	case envelope.MessageAnswer:
		s.answered(from, e)
		return true
	case envelope.Offers:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.offer(from, e)
		return true
	case envelope.TurnRequest, envelope.BidRequest, envelope.TurnCancel:
	default:
		return false
	}
	key := from.String() + " " + e.ID
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.running[key]
	switch {
	case s.ended:
	case e.Type == envelope.TurnCancel:
		if r != nil {
			r.cancel(errCancelled)
		}
	case r != nil && e.Epoch < r.env.Epoch:
		s.dispatcher.Send(from, wire.ResponseTo(e, wire.Body(wire.Refusal(wire.CodeStale))))
	case r != nil: // asked again: there will be one response
		r.env.Epoch, r.forgotten = e.Epoch, false
	case s.refusals.exceeded(from):
	case s.total >= maxRunning:
		s.dispatcher.Send(from, wire.ResponseTo(e, wire.Body(wire.Refusal(wire.CodeLimit))))
	default:
		s.start(key, from, e)
	}
	return true
}

// start serves a request in the background. The caller holds mu.
func (s *Share) start(key string, from identity.DeviceID, e envelope.Envelope) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	r := &request{from: from, env: e, cancel: cancel}
	s.running[key] = r
	s.total++
	s.wg.Go(func() {
		defer cancel(nil)
		stopHeartbeat := s.startHeartbeat(ctx, r)
		response := s.serve(ctx, from, e)
		stopHeartbeat()
		s.mu.Lock()
		delete(s.running, key)
		s.total--
		q := r.env
		s.mu.Unlock()
		s.dispatcher.Send(from, wire.ResponseTo(q, response))
	})
}

// A job is a request that was admitted.
type job struct {
	profile *sharedProfile
	audit   AuditEntry
	prompt  endpoint.Prompt
	from    identity.DeviceID
	env     envelope.Envelope
	begun   time.Time
	knows   string // the agent session that the prompt builds on
	typed   bool   // the room takes typed messages
}

// serve handles one request and returns the body of its response.
func (s *Share) serve(ctx context.Context, from identity.DeviceID, e envelope.Envelope) json.RawMessage {
	begun := time.Now()
	a := AuditEntry{Profile: e.Profile, Device: from, Kind: kindOf(e), Room: e.Room, Turn: e.Turn}
	var q wire.Request
	err := e.DecodeBody(&q)
	if err == nil {
		err = q.Check()
	}
	if err != nil {
		s.cfg.Log.Warn("a request cannot be read", "device", from.Short(), "error", err)
		return s.refuse(a, wire.Problem("AGENT-PROTOCOL", "the request cannot be read", "", endpoint.ErrProtocol))
	}
	a.Mode = cmp.Or(q.Mode, "manual")
	profile, trace, err := s.admit(from, e)
	if err != nil {
		return s.refuse(a, err)
	}
	known, kept, err := s.cfg.Journal.find(from, e.Room, e.ID, e.Epoch)
	switch {
	case err != nil:
		return s.refuse(a, err)
	case known:
		return s.repeat(a, from, e, kept)
	}
	leave, err := s.cfg.Quota.Enter(ctx, quota.Serving, profile.Profile, from, a.Kind)
	if err != nil {
		return s.refuse(a, err)
	}
	defer leave()
	name := profile.Profile.Name
	p := q.Prompt(name, func(text string) bool { return s.cfg.Journal.said(from, e.Room, digestOf(name, text)) })
	p.Kind, p.Request, p.Room, p.Profile, p.Epoch, p.Turn, p.Trace = a.Kind, e.ID, from.Short()+"/"+e.Room, name, e.Epoch, e.Turn, trace
	profile.Caps.apply(&p)
	p.Instructions = profile.Instructions
	p.Host, p.Boundary, p.Session = endpoint.Origin{Name: s.cfg.Name(from), Device: from.String()}, rand.Text(), p.Room
	return s.work(ctx, job{profile, a, endpoint.Rendered(p), from, e, begun, q.Knows, q.Messages})
}

// admit returns the profile that is asked for. An unknown profile and one that
// is not for the device look the same to the other side.
func (s *Share) admit(from identity.DeviceID, e envelope.Envelope) (*sharedProfile, endpoint.Trace, error) {
	s.mu.Lock()
	p := s.profiles[e.Profile]
	s.mu.Unlock()
	if p == nil {
		return nil, endpoint.Trace{}, quota.Denied("no profile "+endpoint.Quote(e.Profile)+" is shared", "")
	}
	t, err := p.Profile.Incoming(s.cfg.Self, from, e.Trace)
	return p, t, err
}

// refuse answers a request without running the agent. The journal does not
// record it, so a repeated request is checked again.
func (s *Share) refuse(a AuditEntry, err error) json.RawMessage {
	code := wire.CodeOf(err)
	switch {
	case errors.Is(err, ErrStale):
		code = wire.CodeStale
	case errors.Is(err, errForgot):
		code = wire.CodeForgot
	}
	s.refusals.charge(a.Device)
	a.Status, a.Reason = "refused", reasonOf(err)
	if s.audit(a) != nil {
		code = wire.CodeFailed
	}
	s.cfg.Log.Warn("a request was refused", "device", a.Device.Short(), "profile", a.Profile, "reason", a.Reason)
	return wire.Body(wire.Refusal(code))
}

// repeat answers a request that was served before. kept is the response, nil if
// there is none.
func (s *Share) repeat(a AuditEntry, from identity.DeviceID, e envelope.Envelope, kept json.RawMessage) json.RawMessage {
	a.Status = "repeated"
	if kept == nil {
		a.Status = "interrupted"
	}
	if err := s.audit(a); err != nil {
		return wire.Body(wire.Refusal(wire.CodeFailed))
	}
	if kept == nil {
		kept = wire.Body(wire.Refusal(wire.CodeInterrupted))
		if err := s.cfg.Journal.end(from, e.Room, e.ID, kept); err != nil {
			s.cfg.Log.Error("an answer is not kept", "error", err)
		}
	}
	if err := s.cfg.Journal.begin(from, e.Room, e.ID, e.Epoch); err != nil {
		s.cfg.Log.Error("an epoch is not kept", "error", err)
	}
	return kept
}

// work runs the agent once the journal has the request on stable storage. A turn
// waits for the agent to be ready, off its clock; a bid has its time only.
func (s *Share) work(ctx context.Context, j job) json.RawMessage {
	profile, p, e := j.profile, j.prompt, j.env
	if p.Timeout <= 0 || p.Timeout > profile.Timeout {
		p.Timeout = profile.Timeout
	}
	waiting, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	if err := profile.acquire(waiting); err != nil {
		if s.removed(ctx, j.from) {
			return s.refuse(j.audit, quota.Denied("the device is not paired any more", "")) // it has not begun
		}
		if context.Cause(ctx) == errUnshared {
			return s.refuse(j.audit, quota.Denied("the profile is not shared any more", ""))
		}
		return s.refuse(j.audit, err)
	}
	defer profile.release()
	var err error
	if p.Timeout, err = s.timeout(profile, j.from, p.Timeout); err != nil {
		return s.refuse(j.audit, err)
	}
	if p.Kind == endpoint.Bid {
		ctx = waiting
	}
	if j.knows != "" && j.knows != profile.session(p.Room) {
		return s.refuse(j.audit, errForgot)
	}
	granted := j.audit
	granted.Status = "granted"
	if err := errors.Join(s.audit(granted), s.cfg.Journal.begin(j.from, e.Room, e.ID, e.Epoch)); err != nil {
		s.cfg.Log.Error("a request is refused because it cannot be recorded", "error", err)
		return wire.Body(wire.Refusal(wire.CodeFailed))
	}
	floor := &remoteFloor{share: s, profile: profile, room: p.Room, to: j.from, request: e, typed: j.typed}
	agent, err := profile.ready(ctx, p, floor)
	sessionID := profile.session(p.Room)
	var reply endpoint.Reply
	if err == nil {
		asked := time.Now()
		reply, err = profile.speak(ctx, agent, p, floor)
		s.charge(profile, j.from, asked)
	}
	j.audit.Took = time.Since(j.begun)
	response := s.respond(ctx, &j, reply, err)
	response.SessionID = sessionID
	b := wire.Body(response)
	if err := s.cfg.Journal.end(j.from, e.Room, e.ID, b, digestOf(p.Profile, response.Text)); err != nil {
		s.cfg.Log.Error("an answer is not kept", "error", err)
	}
	if err := s.audit(j.audit); err != nil {
		s.cfg.Log.Error("the audit cannot be written", "error", err)
	}
	return b
}

// respond returns the response for the result of an agent, and completes the
// audit entry of j.
func (s *Share) respond(ctx context.Context, j *job, reply endpoint.Reply, err error) wire.Response {
	a := &j.audit
	switch {
	case s.removed(ctx, j.from): // whatever the agent has answered, the device does not get it
		a.Status, a.Reason = "cancelled", "RELAY-PEER"
		return wire.Refusal(wire.CodeCancelled)
	case err == nil && a.Kind == endpoint.Bid:
		a.Status = "bid"
	case err == nil && reply.Outcome == endpoint.Said:
		a.Status = "posted"
	case err == nil:
		a.Status = "passed"
	case context.Cause(ctx) == errCancelled:
		a.Status = "cancelled"
		return wire.Refusal(wire.CodeCancelled)
	case s.ctx.Err() != nil, context.Cause(ctx) == errUnshared: // after a restart this device answers the same
		a.Status = "interrupted"
		return wire.Refusal(wire.CodeInterrupted)
	default:
		a.Status, a.Reason = "failed", reasonOf(err)
		s.logFailure(a.Profile, err)
		return wire.Failure(err, j.profile.Candid)
	}
	return wire.ResponseOf(reply)
}
