package relay

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// A job is a request that is served.
type job struct {
	desk   *desk
	asked  Asked
	prompt endpoint.Prompt
	from   identity.DeviceID
	ask    envelope.Envelope
	begun  time.Time
	knows  string // the memory that the prompt builds on
}

// work has the agent answer, once: it runs only when that it does is on
// stable storage.
func (s *Share) work(ctx context.Context, j job) json.RawMessage {
	d, a, p, from, e := j.desk, j.asked, j.prompt, j.from, j.ask
	p.Timeout = min(d.Timeout, time.Duration(orElse(int(p.Timeout), int(d.Timeout))))
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	if err := d.take(ctx); err != nil {
		return s.refuse(a, err)
	}
	defer d.give()
	if j.knows != "" && j.knows != d.memory(p.Room) {
		return s.refuse(a, errForgot)
	}
	granted := a
	granted.Status = "granted"
	if err := errors.Join(s.audit(granted), s.cfg.Journal.begin(from, e.Room, e.ID, e.Epoch)); err != nil {
		s.cfg.Log.Error("a request is refused, for it could not be written down", "error", err)
		return body(answer{Status: statusError, Code: "failed"})
	}
	reply, memory, err := d.speak(ctx, p, &outlet{share: s, desk: d, room: p.Room, to: from, ask: e})
	out := answerOf(reply)
	a.Took = time.Since(j.begun)
	switch {
	case err == nil && a.Kind == endpoint.Bid:
		a.Status = "bid"
	case err == nil && reply.Outcome == endpoint.Said:
		a.Status = "posted"
	case err == nil:
		a.Status = "passed"
	case context.Cause(ctx) == errCancelled:
		a.Status, out = "cancelled", answer{Status: statusError, Code: "cancelled"}
	case s.ctx.Err() != nil: // this device ends: asked again, it will say so
		a.Status, out = "interrupted", answer{Status: statusError, Code: "interrupted"}
	default:
		a.Status, a.Reason, out = "failed", reasonOf(err), answer{Status: statusError, Code: codeOf(err)}
		if d.Candid {
			out.Reason = endpoint.CleanLine(err.Error(), maxReason)
		}
		s.failed(a.Profile, err)
	}
	out.Memory = memory
	b := body(out)
	if err := s.cfg.Journal.end(from, e.Room, e.ID, b); err != nil {
		s.cfg.Log.Error("an answer is not kept", "error", err)
	}
	if err := s.audit(a); err != nil {
		s.cfg.Log.Error("the audit cannot be written", "error", err)
	}
	return b
}

// failed tells the agent's owner.
func (s *Share) failed(profile string, err error) {
	switch codeOf(err) {
	case codeRestarts:
		s.cfg.Log.Warn("a shared agent's process has ended", "profile", profile, "error", err, "fix", "see its last words; it is started anew for the next request")
	case "exited":
		s.cfg.Log.Error("a shared agent's process has ended, and its endpoint allows no other for this room", "profile", profile, "error", err,
			"fix", "see its last words; start share again, or leave restart: N out")
	default:
		s.cfg.Log.Warn("a shared agent failed", "profile", profile, "error", err)
	}
}
